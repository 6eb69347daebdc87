// The trajectory as evo and the benchmark's own tools read it: comments with '#', then eight numbers a line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "colmap_reader.h"
#include "exact_scene.h"
#include "scene/export_scene.h"

namespace pointmap {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

std::vector<std::vector<double>> rows_of(const std::string& text, std::string& comments) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) {
      comments += line + "\n";
      continue;
    }
    std::istringstream words(line);
    rows.emplace_back();
    for (double number; words >> number;) rows.back().push_back(number);
    EXPECT_TRUE(words.eof()) << line;
  }
  return rows;
}

TEST(TumExport, ACameraWithAQuarterTurnComesBack) {
  const TemporaryFolder out("tum");
  Scene scene = exact_scene();
  scene.model = "a model\nwith a line break";
  SceneView skipped;
  skipped.status = "skipped";
  scene.views.insert(scene.views.begin() + 1, skipped);
  const auto files = export_scene(scene, out.path(), {.formats = {ExportFormat::kTum}, .generator = "pointmap 9.9"});
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path.filename(), "trajectory.txt");
  std::string comments;
  const auto rows = rows_of(content_of(files[0].path), comments);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0], ElementsAre(1, 0, 0, 0, 0, 0, 0, 1)) << "the identity, scalar last";
  ASSERT_EQ(rows[1].size(), 8u);
  EXPECT_EQ(rows[1][0], 3) << "the number of the view, although the second was skipped";
  EXPECT_THAT(std::vector(rows[1].begin() + 1, rows[1].begin() + 4), ElementsAre(1, 2, 3)) << "where the camera is";
  const std::array<double, 4> q = {rows[1][7], rows[1][4], rows[1][5], rows[1][6]};
  EXPECT_THAT(rotated(q, {0, 0, 1}), Pointwise(DoubleNear(1e-15), {1.0, 0.0, 0.0})) << "it looks along the world's x";
  EXPECT_THAT(rotated(q, {0, 1, 0}), Pointwise(DoubleNear(1e-15), {0.0, 1.0, 0.0}));
  for (const std::string& fact : {std::string("pointmap 9.9"), std::string("a model with a line break"), files[0].convention}) {
    EXPECT_THAT(comments, HasSubstr(fact));
  }
}

TEST(TumExport, KeepsEveryBit) {
  const TemporaryFolder out("tum_bits");
  Scene scene = exact_scene();
  scene.views[1].camera->world_from_cam.translation = {1.0 / 3, -1e-300, 123456789.123456789};
  export_scene(scene, out.path(), {.formats = {ExportFormat::kTum}});
  std::string comments;
  const auto rows = rows_of(content_of(out.path() / "trajectory.txt"), comments);
  EXPECT_THAT(std::vector(rows[1].begin() + 1, rows[1].begin() + 4), ElementsAre(1.0 / 3, -1e-300, 123456789.123456789));
}

TEST(TumExport, TheSceneTellsTheScale) {
  const TemporaryFolder out("tum_scale");
  Scene scene = exact_scene();
  scene.scale = {.is_metric = true, .source = "a baseline of 2 m"};
  export_scene(scene, out.path(), {.formats = {ExportFormat::kTum}});
  EXPECT_THAT(content_of(out.path() / "trajectory.txt"), HasSubstr("in metres (a baseline of 2 m)"));
}

}  // namespace
}  // namespace pointmap
