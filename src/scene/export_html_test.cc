// The viewer's page, read back by hand: its bytes are a contract with web/viewer/points.js (web/viewer/README.md).
#include "scene/export_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "scene/confidence_filter.h"
#include "scene/page_points.h"
#include "scene/scene_testing.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ExportHtml : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  std::string page(const Scene& scene, const HtmlExportOptions& options = {}) {
    file_ = export_html(scene, scene, path_, options);
    std::ifstream in(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  const fs::path path_ = fs::path(testing::TempDir()) / ("pointmap_page_" + std::to_string(::getpid()) + ".html");
  HtmlFile file_;
};

// The text of the script element with this id.
std::string element(const std::string& page, const std::string& id) {
  const size_t name = page.find("id=\"" + id + "\">");
  EXPECT_NE(name, std::string::npos) << id;
  const size_t begin = page.find('>', name) + 1;
  return page.substr(begin, page.find("</script>", begin) - begin);
}

json scene_of(const std::string& page) {
  return json::parse(element(page, "scene"));
}

std::vector<uint8_t> bytes_of_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int num_bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    num_bits += 6;
    if (num_bits >= 8) bytes.push_back(static_cast<uint8_t>(bits >> (num_bits -= 8)));
  }
  return bytes;
}

struct Point {
  std::array<float, 3> position;
  std::array<uint8_t, 3> color;
};

// A view's points as points.js reads them.
std::vector<Point> points_of(const std::string& page, int view) {
  const std::vector<uint32_t> kept = scene_of(page)["views"][static_cast<size_t>(view - 1)]["kept"];
  const std::vector<uint8_t> bytes = bytes_of_base64(element(page, "view-" + std::to_string(view)));
  const size_t count = kept[0], boxes_bytes = 101 * 6 * sizeof(float);
  std::vector<Point> points(count);
  for (size_t i = 0, percentile = 100; i < count; ++i) {
    while (i >= kept[percentile]) --percentile;
    for (size_t axis = 0; axis < 3; ++axis) {
      float corner = 0, side = 0;
      uint16_t step = 0;
      std::memcpy(&corner, &bytes[((100 - percentile) * 6 + axis) * sizeof(float)], sizeof(float));
      std::memcpy(&side, &bytes[((100 - percentile) * 6 + 3 + axis) * sizeof(float)], sizeof(float));
      std::memcpy(&step, &bytes[boxes_bytes + (3 * i + axis) * sizeof(uint16_t)], sizeof(uint16_t));
      points[i].position[axis] = corner + side * static_cast<float>(step);
      points[i].color[axis] = bytes[boxes_bytes + 3 * count * sizeof(uint16_t) + 3 * i + axis];
    }
  }
  return points;
}

TEST_F(ExportHtml, HoldsEveryPointTheMostConfidentFirst) {
  const std::string page_text = page(counting_scene());
  EXPECT_EQ(file_.num_points, 16u);
  EXPECT_EQ(file_.num_total, 16u);
  const json scene = scene_of(page_text);
  EXPECT_EQ(scene["num_points"], 16);
  EXPECT_EQ(scene["model"], "tiny");
  EXPECT_EQ(scene["scale"], "scale unknown");
  ASSERT_EQ(scene["views"].size(), 2u);
  const std::vector<Point> points = points_of(page_text, 1);
  ASSERT_EQ(points.size(), 8u);
  for (size_t i = 0; i < 8; ++i) {  // each has a class of its own: 16 points, 101 percentiles
    const auto value = static_cast<float>(7 - i);
    EXPECT_THAT(points[i].position, ElementsAre(value, -value, value + 1));
    EXPECT_THAT(points[i].color, ElementsAre(7 - i, 2 * (7 - i), 3 * (7 - i)));
  }
}

TEST_F(ExportHtml, ThresholdsCountAsTheFilterDoes) {
  Scene scene = counting_scene();
  for (size_t i = 0; i < 8; ++i) scene.views[0].confidence[i] = static_cast<float>(1 + i * i % 5);  // ties
  scene.views[1].confidence[3] = NAN;
  pad_sides(scene.views[1]);
  const json views = scene_of(page(scene))["views"];
  for (size_t p = 0; p <= 100; ++p) {
    const PointSelection selection = select_points(scene, {.percentile = static_cast<double>(p)});
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(views[i]["kept"][p], selection.pixels[i].size()) << "view " << i << ", percentile " << p;
  }
}

TEST(PageScene, PositionsAreWithinHalfAStepOfTheBoxOfTheirClass) {
  constexpr int kWidth = 160, kHeight = 120;
  Scene scene;
  SceneView& view = scene.views.emplace_back(counting_view(kWidth, kHeight, 1));
  uint32_t state = 1;
  const auto next = [&] { return static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / 16777216.0f; };
  for (float& x : view.points) x = 10 * next() - 5;
  for (float& x : view.confidence) x = 1 + next();
  // An outlier of the lowest confidence costs its own class alone.
  view.points[0] = 1e6f;
  view.confidence[0] = 0;
  const PageScene page = page_scene(scene, SIZE_MAX);
  const PagePoints& points = page.views[0];
  ASSERT_EQ(points.kept[0], static_cast<uint32_t>(kWidth * kHeight));
  std::vector<uint32_t> order(points.kept[0]);  // pixels by class, then by place
  std::iota(order.begin(), order.end(), 0u);
  std::vector<size_t> class_of(order.size());
  for (size_t p = 0; p <= 100; ++p) {
    const PointSelection selection = select_points(scene, {.percentile = static_cast<double>(p)});
    for (const uint32_t pixel : selection.pixels[0]) class_of[pixel] = p;
  }
  std::ranges::stable_sort(order, std::greater(), [&](uint32_t pixel) { return class_of[pixel]; });
  for (size_t i = 0; i < points.kept[1]; ++i) {
    const std::array<float, 3> got = page_position(points, i);
    for (size_t axis = 0; axis < 3; ++axis) {
      // Half a step of a box at most 10 wide, one rounding of the corner's sum, and 65535 steps that are rounded themselves.
      EXPECT_NEAR(got[axis], view.points[3 * order[i] + axis], 0.5 * 10 / 65535 + 2 * 10 * 6e-8);
    }
    EXPECT_EQ(points.colors[3 * i], view.image.rgb[3 * order[i]]);
  }
}

TEST(PageScene, ThinsEvenly) {
  Scene scene;
  scene.views = {counting_view(100, 10, 1), counting_view(100, 10, 5000)};
  const PageScene page = page_scene(scene, 500);
  EXPECT_EQ(page.num_points, 500u);
  EXPECT_EQ(page.num_finite, 2000u);
  EXPECT_EQ(page.views[0].kept[0], 250u);
  EXPECT_EQ(page.views[1].kept[0], 250u);
  EXPECT_EQ(page_scene(scene, 2000).num_points, 2000u);
  EXPECT_EQ(page_scene(scene, 1).num_points, 1u);
}

TEST_F(ExportHtml, NamesCannotLeaveTheScript) {
  Scene scene = counting_scene();
  const std::string hostile = "</script><img src=x onerror=alert(1)><!--\xE2\x80\xA8\"\\&amp;";
  scene.model = hostile;
  scene.views[0].source = hostile;
  scene.views[1].source = "\xFF\xFE broken UTF-8 ]]>";
  const std::string plain = page(counting_scene()), text = page(scene, {.generator = hostile});
  const auto count = [](const std::string& where, const std::string& what) {
    size_t n = 0;
    for (size_t at = where.find(what); at != std::string::npos; at = where.find(what, at + 1)) ++n;
    return n;
  };
  for (const char* what : {"</script", "<img", "<!--", "\xE2\x80\xA8", "]]>"}) EXPECT_EQ(count(text, what), count(plain, what)) << what;
  EXPECT_THAT(element(text, "scene"), Not(testing::ContainsRegex("[<>&]")));
  const json json_scene = scene_of(text);
  EXPECT_EQ(json_scene["model"], hostile);
  EXPECT_EQ(json_scene["generator"], hostile);
  EXPECT_EQ(json_scene["views"][0]["source"], hostile);
  EXPECT_THAT(json_scene["views"][1]["source"], HasSubstr("broken UTF-8"));
}

TEST_F(ExportHtml, NeedsNothingFromOutsideAndIsTheSameTwice) {
  const std::string text = page(counting_scene());
  for (const char* what : {"http:", "https:", "src=", "href=", "@import", "url(", "import ", "fetch("})
    EXPECT_THAT(text, Not(HasSubstr(what)));
  EXPECT_THAT(text, HasSubstr("default-src 'none'"));
  EXPECT_THAT(text, Not(HasSubstr("/*[script]*/")));
  EXPECT_EQ(text, page(counting_scene()));
}

TEST_F(ExportHtml, HasTheCamerasThatCanBeDrawn) {
  Scene scene = counting_scene();
  const Camera camera = {.world_from_cam = {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {1, 2, 3}},
                         .network = {.fx = 4, .fy = 5, .cx = 1, .cy = 0},
                         .original = {.fx = 8, .fy = 10, .cx = 2.5, .cy = 0.5}};
  for (SceneView& view : scene.views) view.camera = camera;
  scene.views[1].camera->world_from_cam.translation[2] = NAN;
  const json views = scene_of(page(scene))["views"];
  EXPECT_EQ(views[0]["camera"]["rotation"], camera.world_from_cam.rotation);
  EXPECT_EQ(views[0]["camera"]["position"], camera.world_from_cam.translation);
  EXPECT_EQ(views[0]["camera"]["fx"], 8);
  EXPECT_EQ(views[0]["camera"]["cy"], 0.5);
  EXPECT_EQ(views[0]["camera"]["width"], 4);
  EXPECT_EQ(views[0]["pixel_angle"], 0.25);
  EXPECT_FALSE(views[1].contains("camera"));
}

TEST_F(ExportHtml, ThumbnailsAreWithoutPadding) {
  Scene scene = counting_scene();
  pad_sides(scene.views[0]);
  const std::string text = page(scene);
  const json thumbnail = scene_of(text)["views"][0]["thumbnail"];
  EXPECT_EQ(thumbnail["width"], 2);
  EXPECT_EQ(thumbnail["height"], 2);
  const std::vector<uint8_t> bytes = bytes_of_base64(element(text, "view-1"));
  const std::vector<uint8_t> end(bytes.end() - 12, bytes.end());
  EXPECT_THAT(end, ElementsAre(1, 2, 3, 2, 4, 6, 5, 10, 15, 6, 12, 18)) << "columns 1 and 2 of 4";
}

TEST_F(ExportHtml, SkippedViewsAreNamedOnly) {
  Scene scene = counting_scene();
  scene.views[0] = skipped_view();
  const std::string text = page(scene);
  const json view = scene_of(text)["views"][0];
  EXPECT_EQ(view, (json{{"source", "bad.jpg"}, {"status", "skipped"}, {"reason", "no picture"}}));
  EXPECT_THAT(text, Not(HasSubstr("id=\"view-1\"")));
}

TEST_F(ExportHtml, RefusesASceneWithoutAPoint) {
  Scene scene = counting_scene();
  for (SceneView& view : scene.views) view.points.assign(view.points.size(), INFINITY);
  EXPECT_THROW(page(scene), Error);
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace pointmap
