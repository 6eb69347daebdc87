// Scenes without cameras: the formats that are about cameras say so before any file appears.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "exact_scene.h"
#include "scene/export_scene.h"

namespace pointmap {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<ExportFormat> refused(const Scene& scene) {
  std::vector<ExportFormat> formats;
  for (const RefusedFormat& format : refused_formats(scene)) formats.push_back(format.format);
  return formats;
}

TEST(ExportRefusals, NameTheViewWithoutACamera) {
  const TemporaryFolder out("refusals");
  Scene scene = exact_scene();
  scene.views[1].camera.reset();
  for (const char* name : {"colmap", "nerfstudio", "tum", "all"}) {
    try {
      export_scene(scene, out.path(), {.formats = parse_formats(name)});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kInvalidArgument);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("view 2 ('photos/right.png') has no camera"), HasSubstr("--pose")));
    }
    EXPECT_FALSE(std::filesystem::exists(out.path())) << name;
  }
  EXPECT_THAT(refused(scene), ElementsAre(ExportFormat::kColmap, ExportFormat::kNerfstudio, ExportFormat::kTum));
}

TEST(ExportRefusals, TakeWholeScenes) {
  Scene scene = exact_scene();
  EXPECT_THAT(refused(scene), ElementsAre());
  // A view that was skipped has no camera, and needs none.
  scene.views[0].camera.reset();
  scene.views[0].status = "skipped";
  EXPECT_THAT(refused(scene), ElementsAre());
  scene.views[1].status = "skipped";
  EXPECT_THAT(refused(scene), ElementsAre(ExportFormat::kColmap, ExportFormat::kNerfstudio, ExportFormat::kTum)) << "nothing is left";
}

TEST(ExportRefusals, NameCamerasThatAreNone) {
  const auto refuses = [](auto spoil) {
    Scene scene = exact_scene();
    spoil(*scene.views[0].camera);
    EXPECT_EQ(refused(scene).size(), 3u);
    EXPECT_THAT(refused_formats(scene).at(0).reason, HasSubstr("view 1 ('photos/left.png')"));
  };
  refuses([](Camera& camera) { camera.original.fx = 0; });
  refuses([](Camera& camera) { camera.original.fy = INFINITY; });
  refuses([](Camera& camera) { camera.original.cx = NAN; });
  refuses([](Camera& camera) { camera.world_from_cam.translation[1] = NAN; });
  refuses([](Camera& camera) { camera.world_from_cam.rotation[8] = NAN; });
}

}  // namespace
}  // namespace pointmap
