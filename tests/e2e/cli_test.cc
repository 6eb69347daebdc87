// The program, from the outside: files, exit codes, messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "io/npz/npz_file.h"
#include "program.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// The linear head: the program is what is tested here, and the convolutions of the other head take minutes under the sanitizers.
constexpr const char* kTiny = "-m synthetic:dust3r-tiny-linear --preset dust3r224 ";

class Cli : public testing::Test {
 protected:
  Cli() {
    write_test_photo(folder_.path() / "left.png", 64, 48, 0);
    write_test_photo(folder_.path() / "right.png", 64, 48, 1);
  }
  // "LEFT RIGHT -o FOLDER/name " and the tiny model
  std::string pair_to(const std::string& name) {
    return "reconstruct " + (folder_ / "left.png") + " " + (folder_ / "right.png") + " -o " + (folder_ / name) + " " + kTiny;
  }
  std::vector<std::string> files_in(const std::string& name) {
    std::vector<std::string> names;
    if (!fs::exists(folder_ / name)) return names;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) names.push_back(entry.path().filename().string());
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(Cli, WritesEveryFileAndAReportWhoseStagesAddUp) {
  const ProgramResult result =
      run_program(pair_to("out") +
                  "--formats npz,ply,glb,depth,picture,colmap,nerfstudio,tum --depth-formats png16,npy --raw --json "
                  "--conf-percentile 50");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(files_in("out"), UnorderedElementsAre("scene.npz", "scene.ply", "scene.glb", "depth_1.png", "depth_2.png", "depth_1.npy",
                                                    "depth_2.npy", "conf_1.png", "conf_2.png", "depth.json", "cloud.png", "colmap",
                                                    "transforms.json", "trajectory.txt", "report.json"));
  const nlohmann::json report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report, nlohmann::json::parse(read_file(folder_ / "out/report.json")));
  for (const auto& file : report.at("files")) {
    EXPECT_EQ(file.at("bytes"), fs::file_size(file.at("path").get<std::string>()));
    if (file.at("format") == "colmap" || file.at("format") == "tum") {
      EXPECT_THAT(file.at("convention"), HasSubstr("scale unknown"));
    }
  }
  double sum = 0;
  for (const auto& stage : report.at("stages")) sum += stage.at("ms").get<double>();
  EXPECT_NEAR(sum, report.at("total_ms").get<double>(), 1e-6 * sum);
  EXPECT_TRUE(report.at("versions").contains("pointmap"));
  EXPECT_EQ(report.at("views").size(), 2u);
  EXPECT_EQ(report.at("views")[0].at("status"), "ok");
  EXPECT_EQ(report.at("model").at("name"), "synthetic:dust3r-tiny-linear");
  EXPECT_GT(report.at("memory").at("peak_resident_bytes").get<double>(), 0);

  const NpzFile scene = NpzFile::read(folder_ / "out/scene.npz");
  EXPECT_EQ(scene.array("pts3d_1").shape, (Shape{224, 224, 3}));
  EXPECT_EQ(scene.array("conf_2").shape, (Shape{224, 224}));
  EXPECT_EQ(scene.array("raw_1").shape, (Shape{4, 224, 224}));
  const nlohmann::json meta = nlohmann::json::parse(scene.array("meta").text());
  EXPECT_TRUE(meta.is_object());
}

TEST_F(Cli, CamerasThatNobodyLookedForAreNotExported) {
  const ProgramResult named = run_program(pair_to("named") + "--no-pose --formats npz,tum");
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_THAT(named.err, HasSubstr("--formats tum needs cameras, which --no-pose leaves out"));
  EXPECT_TRUE(files_in("named").empty());
  const ProgramResult all = run_program(pair_to("all") + "--no-pose --formats all");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.err, HasSubstr("not exported: colmap: view 1"));
  EXPECT_THAT(files_in("all"), testing::IsSupersetOf({"scene.npz", "cloud.png", "report.json"}));
  EXPECT_THAT(files_in("all"), testing::Not(testing::Contains("trajectory.txt")));
}

TEST_F(Cli, SaysHowManyPointsOfHowManyAndTakesWordsForTheClouds) {
  const ProgramResult result = run_program(pair_to("out") + "--formats ply,glb --normals --glb-mesh --conf-percentile 75");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("scene.ply  25088 of 100352 points\n"));  // a quarter of two photos of 224 x 224
  EXPECT_THAT(read_file(folder_ / "out/scene.ply"), HasSubstr("property float nx\n"));
  EXPECT_THAT(read_file(folder_ / "out/scene.glb"), HasSubstr("\"name\":\"mesh\""));
  const nlohmann::json files = nlohmann::json::parse(read_file(folder_ / "out/report.json")).at("files");
  EXPECT_EQ(files[0].at("points"), 25088);
  EXPECT_EQ(files[0].at("pixels"), 100352);
}

TEST_F(Cli, CompareTellsDifferentScenesApart) {
  ASSERT_EQ(run_program(pair_to("a") + "--formats npz").exit_code, 0);
  ASSERT_EQ(run_program("reconstruct " + (folder_ / "right.png") + " " + (folder_ / "left.png") + " -o " + (folder_ / "b") + " " + kTiny +
                        "--formats npz")
                .exit_code,
            0);
  EXPECT_EQ(run_program("compare " + (folder_ / "a/scene.npz") + " " + (folder_ / "b/scene.npz")).exit_code, 1);
  const ProgramResult json = run_program("compare --json " + (folder_ / "a/scene.npz") + " " + (folder_ / "a/scene.npz"));
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_TRUE(nlohmann::json::parse(json.out).at("within").get<bool>());
}

TEST_F(Cli, SaysWhatRunsWhenNoModelIsNamed) {
  const std::string program = std::string("'") + POINTMAP_PROGRAM + "' ";
  const ProgramResult result = run_program("HF_HUB_CACHE='" + (folder_ / "empty") + "' " + program + "reconstruct " +
                                               (folder_ / "left.png") + " " + (folder_ / "right.png") + " --json -o " + (folder_ / "out"),
                                           "env");
  EXPECT_THAT(result.err, HasSubstr("no model named: using demo"));
  EXPECT_THAT(result.err, HasSubstr("pointmap fetch dust3r"));
  if (result.exit_code != 0) {
    EXPECT_THAT(result.err, HasSubstr("not part of this build"));
    GTEST_SKIP() << "this build has no model 'demo': models/demo was not there";
  }
  const nlohmann::json report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report.at("model").at("name"), "demo");
  EXPECT_EQ(report.at("model").at("license"), "Apache-2.0");
  EXPECT_EQ(report.at("pose").at("mode"), "aligned");
  const auto& transform = report.at("views")[0].at("transform");
  EXPECT_EQ(transform.at("network_width"), 192);
  EXPECT_EQ(transform.at("network_height"), 144);
}

TEST_F(Cli, PresetsDecideTheNetworksInput) {
  write_test_photo(folder_.path() / "left.png", 64, 64, 0);
  struct Row {
    const char* preset;
    Shape shape;
  };
  for (const Row& row : {Row{"keep", {512, 512}}, Row{"dust3r", {384, 512}}, Row{"dust3r224", {224, 224}}, Row{"pad512", {512, 512}}}) {
    const ProgramResult result = run_program("reconstruct " + (folder_ / "left.png") + " " + (folder_ / "right.png") + " -o " +
                                             (folder_ / "out") + " -m synthetic:dust3r-tiny-linear --formats npz --preset " + row.preset);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(NpzFile::read(folder_ / "out/scene.npz").array("conf_1").shape, row.shape) << row.preset;
  }
}

TEST_F(Cli, AnswersUsageErrorsWithTwo) {
  const std::vector<std::string> wrong = {"",
                                          "nonsense",
                                          "reconstruct",
                                          "reconstruct a b -o c -m d --preset huge",
                                          "reconstruct -o " + (folder_ / "out") + " " + kTiny,
                                          pair_to("out") + "--formats obj",
                                          pair_to("out") + "--depth-formats tiff",
                                          pair_to("out") + "--threads -1",
                                          pair_to("out") + "--precision int3",
                                          pair_to("out") + "--conf-percentile 101",
                                          "compare onlyone.npz"};
  for (const std::string& arguments : wrong) {
    EXPECT_EQ(run_program(arguments).exit_code, 2) << arguments;
  }
  EXPECT_TRUE(files_in("out").empty());
  EXPECT_EQ(run_program("--help").exit_code, 0);
  EXPECT_THAT(run_program("--version").out, HasSubstr("pointmap 0."));
}

TEST_F(Cli, NamesTheFileThatIsWrongAndWritesNothing) {
  AtomicFile text(folder_.path() / "text.jpg");
  text.write("this is not a picture");
  text.commit();
  fs::create_directories(folder_.path() / "nothing");
  struct Row {
    std::string arguments;
    std::string message;
  };
  const std::string to_out = " -o " + (folder_ / "out") + " ";
  const std::string left = folder_ / "left.png";
  const std::vector<Row> rows = {
      {"reconstruct " + left + to_out + kTiny, "takes 2 photos, got 1"},
      {"reconstruct " + left + " " + (folder_ / "absent.png") + to_out + kTiny, "absent.png"},
      {"reconstruct " + left + " " + left + to_out + "-m synthetic:dust3r-tiny-linear --preset pad518", "want one of keep, dust3r"},
      {"reconstruct " + left + " " + (folder_ / "text.jpg") + to_out + kTiny, "text.jpg"},
      {"reconstruct " + left + " " + (folder_ / "nothing") + to_out + kTiny, (folder_ / "nothing") + "' has no photos"},
      {"reconstruct " + left + " '" + (folder_ / "none*.png") + "'" + to_out + kTiny, "none*.png"},
      {"reconstruct " + left + " " + left + to_out + kTiny + "--first 3", "no number from 1 to 2"},
      {"reconstruct " + left + " " + left + to_out + "-m synthetic:nonsense", "synthetic:dust3r-tiny"},
      {"reconstruct " + left + " " + left + to_out + "-m " + (folder_ / "absent.safetensors"), "absent.safetensors"},
      {"reconstruct " + left + " " + left + to_out + "-m " + (folder_ / "text.jpg"), "text.jpg"},
      {pair_to("out") + "--memory-limit 1M", "bytes of memory"},
      {"compare " + (folder_ / "absent.npz") + " " + (folder_ / "absent.npz"), "absent.npz"},
      {"inspect " + (folder_ / "absent.safetensors"), "absent.safetensors"},
  };
  for (const Row& row : rows) {
    const ProgramResult result = run_program(row.arguments);
    EXPECT_EQ(result.exit_code, 1) << row.arguments;
    EXPECT_THAT(result.err, HasSubstr(row.message));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_TRUE(files_in("out").empty());
}

TEST_F(Cli, StopsWhenInterrupted) {
  // The full model is still running, or loading, when the signal comes; on a busy machine the program may need a second to start.
  // --foreground, or timeout would signal its whole group as well, and a second Ctrl-C ends the program at once.
  const std::string command = "--foreground -s INT 3 '" POINTMAP_PROGRAM "' reconstruct " + (folder_ / "left.png") + " " +
                              (folder_ / "right.png") + " -o " + (folder_ / "out") + " -m synthetic:dust3r-512-dpt";
  const ProgramResult result = run_program(command, "timeout");
  EXPECT_THAT(result.err, HasSubstr("cancelled"));
  EXPECT_TRUE(files_in("out").empty());
}

TEST_F(Cli, InspectShowsWhatAModelIs) {
  const ProgramResult text = run_program("inspect synthetic:dust3r-512-dpt");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("568810120"));
  const ProgramResult json = run_program("inspect --json synthetic:dust3r-tiny");
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(json.out).at("model").at("family"), "dust3r");
}

TEST_F(Cli, TheExampleRuns) {
  const ProgramResult result =
      run_program("synthetic:dust3r-tiny-linear " + (folder_ / "left.png") + " " + (folder_ / "right.png"), POINTMAP_EXAMPLE_PAIR);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  // The confident half of two views of 512x384, a line each.
  EXPECT_GE(std::count(result.out.begin(), result.out.end(), '\n'), 512 * 384);
}

}  // namespace
}  // namespace pointmap
