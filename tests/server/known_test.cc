// What a client knows about its photos, handed to a real server: the same bits as through the library, and errors that name the field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "io/npz/zip_directory.h"
#include "pointmap/encode.h"
#include "pointmap/export.h"
#include "pointmap/pointmap.h"
#include "server_process.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr int kWidth = 96, kHeight = 64;

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// White from the column `first` on, black left of it.
std::string mask_png(int first, int width = kWidth, int height = kHeight) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (int i = 0; i < width * height * 3; ++i) image.rgb.push_back(i / 3 % width < first ? 0 : 255);
  return encode_png(image);
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class KnownTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new ServerProcess({.arguments = {"-m", "demo", "-m", "synthetic:vggt-tiny=many"}});  // NOLINT: GoogleTest's way
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  KnownTest() : folder_(fs::path(testing::TempDir()) / ("pointmap_known_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    photos_ = {{"images", test_png(kWidth, kHeight, 1), "left.png", "image/png"},
               {"images", test_png(kWidth, kHeight, 2), "right.png", "image/png"}};
  }
  ~KnownTest() override { fs::remove_all(folder_); }

  httplib::Result post(const json& options, const std::vector<std::string>& masks = {}) {
    httplib::MultipartFormDataItems items = photos_;
    for (const std::string& mask : masks) items.push_back({"masks", mask, "", "image/png"});
    items.push_back({"options", options.dump(), "", "application/json"});
    return client_.Post("/v1/reconstruct", items);
  }
  std::string artifact(const json& options, const std::vector<std::string>& masks, const std::string& name) {
    const httplib::Result result = post(options, masks);
    EXPECT_EQ(result->status, 200) << result->body;
    return client_.Get(result->get_header_value("Location") + "/artifacts/" + name)->body;
  }
  // "422 options.distance"
  std::string refusal(const json& options, const std::vector<std::string>& masks = {}) {
    const httplib::Result result = post(options, masks);
    const json error = json::parse(result->body)["error"];
    return std::to_string(result->status) + " " +
           (error.is_object() && error["field"].is_string() ? error["field"].get<std::string>() : "");
  }
  // scene.npz and the others, as the library makes them in this process.
  void reconstruct_here(const KnownInputs& known, const std::string& formats) {
    std::vector<Photo> photos;
    for (const auto& item : photos_) photos.push_back({.name = item.filename, .bytes = bytes_of(item.content)});
    const Reconstruction run = Reconstructor::open("demo").reconstruct(photos, {.pose = true, .known = known});
    export_scene(run.scene, folder_, {.formats = parse_formats(formats), .generator = generator_name()});
  }
  void expect_same_bits(const json& options, const std::vector<std::string>& masks, const KnownInputs& known) {
    reconstruct_here(known, "npz");
    const std::string npz = artifact(options, masks, "scene.npz");
    EXPECT_TRUE(npz == content_of(folder_ / "scene.npz"));
    EXPECT_FALSE(npz == artifact({{"formats", "npz"}}, {}, "scene.npz")) << "what is known makes no difference";
  }

  httplib::MultipartFormDataItems photos_;
  fs::path folder_;
  httplib::Client client_ = server_->client();
  static ServerProcess* server_;
};
ServerProcess* KnownTest::server_ = nullptr;

TEST_F(KnownTest, OneLensForAllPhotos) {
  expect_same_bits({{"formats", "npz"}, {"intrinsics", {90.5, 91, 47.5, 31.5}}}, {}, {.intrinsics = {{90.5, 91, 47.5, 31.5}}});
}

TEST_F(KnownTest, ALensForEachPhoto) {
  expect_same_bits({{"formats", "npz"}, {"intrinsics", {{90.5, 91, 47.5, 31.5}, {80, 80, 40, 30}}}}, {},
                   {.intrinsics = {{90.5, 91, 47.5, 31.5}, {80, 80, 40, 30}}});
}

TEST_F(KnownTest, ASharedLens) {
  expect_same_bits({{"formats", "npz"}, {"shared_intrinsics", true}}, {}, {.shared_intrinsics = true});
}

TEST_F(KnownTest, Poses) {
  const json first = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  const json second = {{0, 0, 1, 0.5}, {0, 1, 0, 0.25}, {-1, 0, 0, -2}};
  expect_same_bits({{"formats", "npz"}, {"poses", {first, second}}}, {},
                   {.poses = {.world_from_cam = {{}, {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {0.5, 0.25, -2}}},
                              .source = "the request"}});
}

TEST_F(KnownTest, ABaseline) {
  expect_same_bits({{"formats", "npz"}, {"baseline_metres", 1.25}}, {}, {.baseline_metres = 1.25});
}

TEST_F(KnownTest, ADistance) {
  const json distance = {{"from", {{"photo", 0}, {"x", 10}, {"y", 12.5}}}, {"to", {{"photo", 1}, {"x", 80}, {"y", 50}}}, {"metres", 3}};
  expect_same_bits({{"formats", "npz"}, {"distance", distance}}, {},
                   {.distance = KnownDistance{.from = {0, {10, 12.5}}, .to = {1, {80, 50}}, .metres = 3}});
}

TEST_F(KnownTest, MasksOfSomePhotos) {
  const std::string mask = mask_png(30);
  expect_same_bits({{"formats", "npz"}}, {"", mask}, {.masks = {{}, {.name = "mask", .bytes = bytes_of(mask)}}});
}

// The archive holds what the library writes into a folder, and every file calls the photos what the client calls them.
TEST_F(KnownTest, ModelsForOtherProgramsComeInOneFile) {
  reconstruct_here({}, "colmap");
  const std::string zip = artifact({{"formats", "colmap,nerfstudio"}}, {}, "colmap.zip");
  const auto members = read_zip_directory(std::as_bytes(std::span(zip)), "colmap.zip");
  std::vector<std::string> names;
  for (const ZipMember& member : members) {
    names.push_back(member.name);
    const std::vector<std::byte> content = unpack_zip_member(member, "colmap.zip");
    EXPECT_TRUE(content == bytes_of(content_of(folder_ / member.name))) << member.name;
  }
  std::vector<std::string> wanted;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.is_regular_file()) wanted.push_back(entry.path().lexically_relative(folder_).string());
  }
  EXPECT_EQ(wanted.size(), 7u);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(wanted));
  EXPECT_THAT(content_of(folder_ / "colmap/sparse_text/0/images.txt"), HasSubstr(" left.png\n"));

  const json transforms = json::parse(artifact({{"formats", "nerfstudio"}}, {}, "transforms.json"));
  EXPECT_EQ(transforms["frames"][0]["file_path"], "left.png") << "a way from here to the server's folders is nobody's business";
  EXPECT_EQ(transforms["frames"][1]["file_path"], "right.png");
}

TEST_F(KnownTest, AllIsAllThatCanBeWritten) {
  const httplib::Result result = post({{"formats", "all"}, {"pose", false}});
  ASSERT_EQ(result->status, 200) << result->body;
  const json job = json::parse(result->body);
  EXPECT_THAT(job["notes"].dump(), HasSubstr("not exported: colmap"));
  EXPECT_THAT(job["artifacts"].dump(), testing::AllOf(HasSubstr("scene.ply"), HasSubstr("scene.html"), HasSubstr("depth.json")));
  EXPECT_THAT(json::parse(post({{"formats", "all"}})->body)["artifacts"].dump(), HasSubstr("colmap.zip"));
}

TEST_F(KnownTest, NamesTheFieldThatWillNotDo) {
  const json lens = {90, 90, 47.5, 31.5};
  // Before there is a job.
  EXPECT_EQ(refusal({{"intrinsics", {90, 90}}}), "422 options.intrinsics");
  EXPECT_EQ(refusal({{"intrinsics", {lens, lens, lens}}}), "422 options.intrinsics");
  EXPECT_EQ(refusal({{"baseline_metres", -1}}), "422 options.baseline_metres");
  EXPECT_EQ(refusal({{"intrinsics", lens}, {"shared_intrinsics", true}}), "422 options");
  EXPECT_EQ(refusal(json::object(), {mask_png(5)}), "422 masks");
  // Once the photos are read.
  EXPECT_EQ(refusal(json::object(), {"", mask_png(5, 64, 64)}), "422 masks[1]");
  EXPECT_EQ(refusal(json::object(), {mask_png(kWidth), ""}), "422 masks[0]");
  EXPECT_EQ(refusal(json::object(), {"", "no picture"}), "415 masks[1]");
  EXPECT_EQ(refusal(json::object(), {mask_png(5).substr(0, 100), ""}), "422 masks[0]");
  EXPECT_EQ(refusal({{"intrinsics", lens}, {"pose", false}}), "422 options.pose");
  const auto distance_to = [](double x) {
    return json{{"distance", {{"from", {{"photo", 0}, {"x", 5}, {"y", 5}}}, {"to", {{"photo", 1}, {"x", x}, {"y", 50}}}, {"metres", 1}}}};
  };
  EXPECT_EQ(refusal(distance_to(kWidth)), "422 options.distance");
  EXPECT_EQ(refusal(distance_to(10), {"", mask_png(30)}), "422 options.distance");
  photos_[1].content = test_png(64, 64, 2);
  EXPECT_EQ(refusal({{"intrinsics", lens}}), "422 options.intrinsics");
  EXPECT_EQ(refusal({{"shared_intrinsics", true}}), "422 options.shared_intrinsics");
}

TEST_F(KnownTest, NamesTheFieldThatASkippedPhotoSpoils) {
  photos_[1].content = "no picture";
  const json eye = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  const json distance = {{"from", {{"photo", 0}, {"x", 5}, {"y", 5}}}, {"to", {{"photo", 1}, {"x", 5}, {"y", 5}}}, {"metres", 1}};
  EXPECT_EQ(refusal({{"model", "many"}, {"skip_bad", true}, {"baseline_metres", 1}}), "422 options.baseline_metres");
  EXPECT_EQ(refusal({{"model", "many"}, {"skip_bad", true}, {"distance", distance}}), "422 options.distance");
  EXPECT_EQ(refusal({{"model", "many"}, {"skip_bad", true}, {"poses", {eye, eye}}}), "422 options.poses");
}

}  // namespace
}  // namespace pointmap
