// Whole evaluations with the truth, or a known distance from it, in the place of a network.
#include "eval/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "eval/truth_testing.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// Points are float, so nothing is nearer than a few of its steps.
constexpr double kFloatEps = 8 * std::numeric_limits<float>::epsilon();

class EvaluateTest : public testing::Test {
 protected:
  EvaluateTest() : folder_(fs::temp_directory_path() / ("pointmap-evaluate-" + std::to_string(::getpid()))) {}
  ~EvaluateTest() override { fs::remove_all(folder_); }

  // A network that knows the corner, `change`d.
  template <typename Change>
  static RunPair oracle(const Corner& corner, double factor, const Change& change) {
    return [=](const std::vector<Photo>&, const ReconstructOptions&) {
      Reconstruction run = perfect_run(corner, factor);
      change(run);
      return run;
    };
  }
  static RunPair oracle(const Corner& corner, double factor = 1) {
    return oracle(corner, factor, [](Reconstruction&) {});
  }
  EvalMetrics errors_of(const RunPair& run) const { return evaluate_scenes(run, folder_, {.baselines = false}).scenes.at(0).errors.model; }

  fs::path folder_;
};

void expect_no_errors(const EvalMetrics& errors) {
  EXPECT_LE(errors.abs_rel, kFloatEps);
  EXPECT_LE(errors.median_dz, kFloatEps);
  EXPECT_EQ(errors.within_103, 1);
  EXPECT_EQ(errors.within_125, 1);
  EXPECT_LE(errors.point_error_1, kFloatEps);
  EXPECT_LE(errors.point_error_2, kFloatEps);
  EXPECT_LE(errors.rotation_deg, 1e-6);  // double, through two products of rotations
  EXPECT_LE(errors.translation_deg, 1e-6);
  EXPECT_LE(errors.focal_error, 1e-12);
}

TEST_F(EvaluateTest, ThePerfectNetworkHasNoErrorsAtAnyScale) {
  const Corner corner = corner_of(25);
  write_corner(folder_, corner);
  for (const double factor : {1.0, 0.37, 20.0}) {
    const EvalResult result = evaluate_scenes(oracle(corner, factor), folder_, {.baselines = false});
    ASSERT_EQ(result.scenes.size(), 1u);
    expect_no_errors(result.scenes[0].errors.model);
    expect_no_errors(result.median.model);
    expect_no_errors(result.mean.model);
    EXPECT_NEAR(result.scenes[0].scale, 1 / factor, kFloatEps / factor);
    EXPECT_EQ(result.scenes[0].num_pixels[1], 32u * 24u);
    EXPECT_EQ(result.model, "oracle");
  }
}

TEST_F(EvaluateTest, KnownErrorsComeOutAsTheyWentIn) {
  const Corner corner = corner_of(25);
  write_corner(folder_, corner);
  const EvalMetrics rotated = errors_of(oracle(corner, 1, [](Reconstruction& run) {
    RigidTransform& pose = run.scene.views[1].camera->world_from_cam;
    const std::array<double, 3> place = pose.translation;
    pose = compose(pose, turned(-7));
    pose.translation = place;
    run.scene.views[1].camera->original.fx *= 1.1;
  }));
  EXPECT_NEAR(rotated.rotation_deg, 7, 1e-6);
  EXPECT_LE(rotated.translation_deg, 1e-6);
  EXPECT_NEAR(rotated.focal_error, 0.05, 1e-12);
  EXPECT_LE(rotated.point_error_2, kFloatEps);

  // Three rows in eight of view 1 a tenth too far: the median scale stays 1.
  const EvalMetrics far = errors_of(oracle(corner, 1, [](Reconstruction& run) {
    std::vector<float>& points = run.scene.views[0].points;
    for (size_t i = 0; i < points.size() * 3 / 8; ++i) points[i] *= 1.1F;
  }));
  EXPECT_NEAR(far.abs_rel, 0.1 * 3 / 8, kFloatEps);
  EXPECT_NEAR(far.point_error_1, 0.1 * 3 / 8, kFloatEps);
  EXPECT_EQ(far.within_103, 5.0 / 8);
  EXPECT_EQ(far.within_125, 1);
  EXPECT_LE(far.median_dz, kFloatEps);
  EXPECT_LE(far.point_error_2, kFloatEps);
}

TEST_F(EvaluateTest, BaselinesSayWhatIsEasy) {
  const Corner corner = corner_of(25);
  Corner larger = corner;
  larger.unit = 2;  // the same pair in another unit
  for (double& c : larger.cam1_from_cam2.translation) c *= 2;
  write_corner(folder_ / "a", corner);
  write_corner(folder_ / "b", larger);
  int same_photo_runs = 0;
  const RunPair run = [&](const std::vector<Photo>& photos, const ReconstructOptions& options) {
    EXPECT_TRUE(options.pose);
    Reconstruction result = perfect_run(corner, 1);
    if (photos[0].name == photos[1].name) {
      ++same_photo_runs;
      result.scene.views[1].points = result.scene.views[0].points;
      result.scene.views[1].camera = result.scene.views[0].camera;
    }
    return result;
  };
  const EvalResult result = evaluate_scenes(run, folder_, {});
  EXPECT_EQ(same_photo_runs, 2);
  ASSERT_EQ(result.scenes.size(), 2u);
  for (const EvalScene& scene : result.scenes) {
    EXPECT_NEAR(scene.errors.identity_pose.rotation_deg, 25, 1e-6);
    EXPECT_TRUE(std::isnan(scene.errors.identity_pose.abs_rel));
    // Given photo 1 twice, this network says that the second camera is the first and sees the same.
    EXPECT_NEAR(scene.errors.same_view.rotation_deg, 25, 1e-6);
    EXPECT_EQ(scene.errors.same_view.translation_deg, 90);
    EXPECT_GT(scene.errors.same_view.point_error_2, 0.05);
    // The other scene is this one, but for the unit: its mean is perfect, and PnP and the focal search find its cameras.
    EXPECT_LE(scene.errors.mean_pointmap.abs_rel, kFloatEps);
    EXPECT_LE(scene.errors.mean_pointmap.point_error_2, kFloatEps);
    EXPECT_LE(scene.errors.mean_pointmap.rotation_deg, 0.05);
    EXPECT_LE(scene.errors.mean_pointmap.focal_error, 1e-3);
  }
  // Alone, a scene has no others to take the mean of.
  EXPECT_TRUE(std::isnan(evaluate_scenes(run, folder_ / "a", {}).scenes[0].errors.mean_pointmap.abs_rel));
}

TEST_F(EvaluateTest, WithoutCamerasOnlyPointsAreJudged) {
  const Corner corner = corner_of(10);
  write_corner(folder_, corner);
  const EvalMetrics errors = errors_of(oracle(corner, 1, [](Reconstruction& run) { run.scene.views[1].camera.reset(); }));
  EXPECT_LE(errors.abs_rel, kFloatEps);
  EXPECT_TRUE(std::isnan(errors.rotation_deg));
}

TEST_F(EvaluateTest, GoesThroughFoldersInOrderAndStopsAtTheLimit) {
  const Corner corner = corner_of(10);
  for (const char* name : {"c/deep/er", "a", "b"}) write_corner(folder_ / name, corner);
  const EvalResult all = evaluate_scenes(oracle(corner), folder_, {.baselines = false});
  std::vector<std::string> names;
  for (const EvalScene& scene : all.scenes) names.push_back(scene.folder);
  EXPECT_THAT(names, ElementsAre("a", "b", "c/deep/er"));
  std::vector<int> steps;
  const Progress progress{.on_step = [&](std::string_view, int done, int) { steps.push_back(done); }};
  EXPECT_EQ(evaluate_scenes(oracle(corner), folder_, {.limit = 2, .baselines = false, .progress = progress}).scenes.size(), 2u);
  EXPECT_THAT(steps, ElementsAre(0, 1, 2));
  CancelFlag cancel;
  cancel.request();
  EXPECT_THROW((void)evaluate_scenes(oracle(corner), folder_, {.progress = {.on_step = {}, .cancel = &cancel}}), Error);
}

TEST_F(EvaluateTest, ABrokenSceneIsFoundBeforeTheFirstIsRun) {
  const Corner corner = corner_of(10);
  write_corner(folder_ / "a", corner);
  write_corner(folder_ / "b", corner);
  std::ofstream(folder_ / "b/scene.json") << "{";
  int runs = 0;
  const RunPair run = [&](const std::vector<Photo>&, const ReconstructOptions&) {
    ++runs;
    return perfect_run(corner, 1);
  };
  EXPECT_THROW((void)evaluate_scenes(run, folder_, {}), Error);
  EXPECT_EQ(runs, 0);
}

TEST_F(EvaluateTest, TruthOfAnotherSizeThanThePhotoIsRefused) {
  Corner corner = corner_of(10);
  write_corner(folder_, corner);
  corner.width = 99;
  try {
    (void)evaluate_scenes(oracle(corner), folder_, {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCorruptData);
    EXPECT_THAT(error.what(), HasSubstr("depth_1 is 96x72"));
    EXPECT_THAT(error.what(), HasSubstr("99x72"));
  }
}

TEST_F(EvaluateTest, TableAndJsonSayTheSame) {
  const Corner corner = corner_of(25);
  write_corner(folder_ / "one", corner);
  const EvalResult result = evaluate_scenes(oracle(corner), folder_, {});
  const std::string table = to_table(result);
  EXPECT_THAT(table, HasSubstr("AbsRel 1"));
  EXPECT_THAT(table, HasSubstr("median of 1 scene "));
  EXPECT_THAT(table, HasSubstr("photo 1 twice"));
  EXPECT_THAT(table, testing::Not(HasSubstr("mean pointmap")));  // undefined for one scene
  EXPECT_THAT(table, HasSubstr("25.00"));                        // the identity pose
  const nlohmann::json json = nlohmann::json::parse(to_json(result));
  EXPECT_EQ(json.at("format"), "pointmap-eval");
  EXPECT_EQ(json.at("num_scenes"), 1);
  EXPECT_NEAR(json.at("median").at("identity_pose").at("rotation_deg").get<double>(), 25, 1e-6);
  EXPECT_TRUE(json.at("median").at("mean_pointmap").at("abs_rel").is_null());
  EXPECT_EQ(json.at("scenes")[0].at("folder"), "one");
  EXPECT_EQ(json.at("scenes")[0].at("errors").at("model").at("within_1.25"), 1);
}

}  // namespace
}  // namespace pointmap
