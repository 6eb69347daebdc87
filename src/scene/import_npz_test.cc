// scene.npz read back: what was exported comes back, and what others wrote is refused in words.
#include "scene/import_npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "io/npz/npz_writer.h"
#include "scene/export_npz.h"
#include "scene/scene_testing.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// Turned by 90 degrees about y, at (1, 2, 3).
Camera sample_camera() {
  return {.world_from_cam = {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {1, 2, 3}},
          .network = {.fx = 4, .fy = 5, .cx = 1, .cy = 0.5},
          .original = {.fx = 8, .fy = 10, .cx = 2.5, .cy = 1.5}};
}

Scene pair_scene() {
  Scene scene = counting_scene();
  scene.model_hash = "abc";
  scene.scale = {.is_metric = true, .source = "baseline of 2 m"};
  scene.views[0].camera = sample_camera();
  scene.views[0].depth.assign(8, 1.5f);
  scene.views[0].raw.assign(32, -2.0f);
  scene.views[0].transform = {.exif_orientation = 6,
                              .stored_width = 30,
                              .stored_height = 44,
                              .scale_x = 11,
                              .scale_y = 15,
                              .offset_x = -2.5,
                              .offset_y = 0.25,
                              .network_width = 4,
                              .network_height = 2};
  scene.views[1].mask = {1, 1, 0, 1, 1, 1, 1, 1};
  scene.views[1].points[4] = NAN;
  return scene;
}

Scene stacked_scene() {
  Scene scene = counting_scene();
  scene.world = WorldFrame::kNetwork;
  for (SceneView& view : scene.views) {
    view.camera = sample_camera();
    view.depth.assign(8, 2.0f);
    view.depth_confidence.assign(8, 3.0f);
    view.pose_encoding = {1, 2, 3, 0, 0, 0, 1, 0.5f, 0.6f};
  }
  scene.views[1].depth[3] = 7;
  scene.views.insert(scene.views.begin() + 1, skipped_view());
  return scene;
}

class ImportNpz : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  NpzFile exported(const Scene& scene) {
    export_npz(scene, path_);
    return NpzFile::read(path_);
  }
  // What was exported with one array replaced, or left out when `replacement` is empty.
  NpzFile changed(const Scene& scene, const std::string& name, const std::function<void(NpzWriter&)>& replacement = {}) {
    const NpzFile whole = exported(scene);
    NpzWriter writer(path_);
    for (const std::string& other : whole.names()) {
      if (other != name) writer.add(other, whole.array(other).view());
    }
    if (replacement) replacement(writer);
    writer.finish();
    return NpzFile::read(path_);
  }
  void expect_refused(const NpzFile& file, const testing::Matcher<std::string>& message) {
    try {
      (void)import_npz(file);
      ADD_FAILURE() << "was read";
    } catch (const Error& error) {
      EXPECT_THAT(std::string(error.what()), AllOf(HasSubstr(path_.filename().string()), message));
    }
  }
  const fs::path path_ = fs::path(testing::TempDir()) / ("pointmap_import_" + std::to_string(::getpid()) + ".npz");
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void expect_same(const SceneView& got, const SceneView& wanted) {
  EXPECT_EQ(got.source, wanted.source);
  EXPECT_EQ(got.status, wanted.status);
  EXPECT_EQ(got.image.width, wanted.image.width);
  EXPECT_EQ(got.image.rgb, wanted.image.rgb);
  EXPECT_EQ(got.mask, wanted.mask);
  for (const auto member : {&SceneView::points, &SceneView::confidence, &SceneView::depth, &SceneView::depth_confidence, &SceneView::raw,
                            &SceneView::pose_encoding}) {
    EXPECT_TRUE(same_bits(got.*member, wanted.*member));
  }
  ASSERT_EQ(got.camera.has_value(), wanted.camera.has_value());
  if (!got.camera) return;
  EXPECT_EQ(got.camera->world_from_cam.rotation, wanted.camera->world_from_cam.rotation);
  EXPECT_EQ(got.camera->world_from_cam.translation, wanted.camera->world_from_cam.translation);
  const auto numbers = [](const Intrinsics& k) { return std::array{k.fx, k.fy, k.cx, k.cy}; };
  EXPECT_EQ(numbers(got.camera->network), numbers(wanted.camera->network));
  EXPECT_EQ(numbers(got.camera->original), numbers(wanted.camera->original));
}

TEST_F(ImportNpz, PairsComeBackAsTheyWere) {
  const Scene wanted = pair_scene();
  const Scene got = import_npz(exported(wanted));
  EXPECT_EQ(got.model, "tiny");
  EXPECT_EQ(got.model_hash, "abc");
  EXPECT_EQ(got.world, WorldFrame::kFirstCamera);
  EXPECT_TRUE(got.scale.is_metric);
  EXPECT_EQ(got.scale.source, "baseline of 2 m");
  ASSERT_EQ(got.views.size(), 2u);
  for (size_t i = 0; i < 2; ++i) expect_same(got.views[i], wanted.views[i]);
  const ViewTransform& t = got.views[0].transform;
  EXPECT_EQ(t.exif_orientation, 6);
  EXPECT_EQ(t.oriented_width(), 44);
  EXPECT_EQ(t.scale_x, 11);
  EXPECT_EQ(t.scale_y, 15);
  EXPECT_EQ(t.offset_x, -2.5);
  EXPECT_EQ(t.offset_y, 0.25);
}

TEST_F(ImportNpz, StacksComeBackAsTheyWere) {
  Scene wanted = stacked_scene();
  wanted.views[0].mask = {1, 1, 0, 1, 1, 1, 1, 1};
  wanted.views[2].mask.assign(8, 1);
  const Scene got = import_npz(exported(wanted));
  EXPECT_EQ(got.world, WorldFrame::kNetwork);
  EXPECT_FALSE(got.scale.is_metric);
  ASSERT_EQ(got.views.size(), 3u);
  for (const size_t i : {0u, 2u}) expect_same(got.views[i], wanted.views[i]);
  EXPECT_EQ(got.views[1].source, "bad.jpg");
  EXPECT_EQ(got.views[1].status, "skipped");
  EXPECT_EQ(got.views[1].reason, "no picture");
  EXPECT_TRUE(got.views[1].points.empty());
}

// Exporting what was read gives the file again: nothing was lost on the way.
TEST_F(ImportNpz, ExportOfImportIsTheSameFile) {
  for (const Scene& scene : {pair_scene(), stacked_scene()}) {
    const NpzFile first = exported(scene), second = exported(import_npz(first));
    ASSERT_EQ(first.names(), second.names());
    for (const std::string& name : first.names()) EXPECT_EQ(first.array(name).bytes, second.array(name).bytes) << name;
  }
}

TEST_F(ImportNpz, DoesWithoutMetaAndPictures) {
  Scene got = import_npz(changed(pair_scene(), "meta"));
  ASSERT_EQ(got.views.size(), 2u);
  EXPECT_EQ(got.views[1].source, "view 2");
  EXPECT_EQ(got.views[0].transform.stored_width, 4);
  Scene scene = counting_scene();
  got = import_npz(changed(scene, "image_1"));
  ASSERT_EQ(got.views[0].image.rgb.size(), 24u) << "colours of depth";
  EXPECT_NE(got.views[0].image.rgb, scene.views[0].image.rgb);
  scene = stacked_scene();
  scene.views.erase(scene.views.begin() + 1);
  got = import_npz(changed(scene, "meta"));
  ASSERT_EQ(got.views.size(), 2u);
  EXPECT_EQ(got.views[1].depth[3], 7);
}

TEST_F(ImportNpz, NamesTheArrayThatIsMissing) {
  expect_refused(changed(counting_scene(), "conf_2"), HasSubstr("no array 'conf_2'"));
  expect_refused(changed(counting_scene(), "pts3d_2"), HasSubstr("no array 'pts3d_2'"));
  expect_refused(changed(pair_scene(), "intrinsics_1"), HasSubstr("no array 'intrinsics_1'"));
  expect_refused(changed(stacked_scene(), "extrinsic"), HasSubstr("no array 'extrinsic'"));
  expect_refused(changed(stacked_scene(), "depth_conf"), HasSubstr("no array 'depth_conf'"));
  NpzWriter writer(path_);
  writer.add_text("something", "else");
  writer.finish();
  expect_refused(NpzFile::read(path_), AllOf(HasSubstr("no array 'pts3d_1'"), HasSubstr("'something'")));
}

TEST_F(ImportNpz, NamesTheArrayOfAnotherTypeOrShape) {
  const std::vector<float> zeros(64, 0.0f);
  const auto floats = [&](const char* name, const Shape& shape) {
    return [&zeros, name, shape](NpzWriter& writer) { writer.add(name, TensorView(zeros.data(), DType::kF32, shape)); };
  };
  expect_refused(changed(counting_scene(), "conf_1", floats("conf_1", {2, 3})), HasSubstr("'conf_1' is F32 [2, 3], wanted F32 [2, 4]"));
  expect_refused(changed(counting_scene(), "pts3d_1", floats("pts3d_1", {2, 4, 4})), HasSubstr("'pts3d_1' is F32 [2, 4, 4]"));
  expect_refused(changed(counting_scene(), "pts3d_1", floats("pts3d_1", {12})), HasSubstr("'pts3d_1' is [12]"));
  expect_refused(changed(counting_scene(), "pts3d_1", floats("pts3d_1", {0, 4, 3})), HasSubstr("'pts3d_1' is [0, 4, 3]"));
  expect_refused(changed(counting_scene(), "pts3d_1", floats("pts3d_1", {2, 5, 3})), HasSubstr("is 4x2, its arrays 5x2"));
  expect_refused(changed(counting_scene(), "image_1", floats("image_1", {2, 4, 3})), HasSubstr("'image_1' is F32"));
  expect_refused(changed(counting_scene(), "meta", floats("meta", {2})), HasSubstr("'meta' is F32"));
  expect_refused(changed(pair_scene(), "world_from_cam_1", floats("world_from_cam_1", {4, 4})), HasSubstr("wanted F64 [4, 4]"));
  expect_refused(changed(stacked_scene(), "images", floats("images", {1, 3, 2, 4})), HasSubstr("wanted F32 [2, 3, 2, 4]"));
  expect_refused(changed(stacked_scene(), "world_points", floats("world_points", {0, 2, 4, 3})), HasSubstr("has 0 views"));
}

TEST_F(ImportNpz, RefusesWhatIsNoRotation) {
  const auto with = [&](double scale) {
    const std::vector<double> matrix = {scale, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    return changed(pair_scene(), "world_from_cam_1", [&](NpzWriter& writer) {
      writer.add("world_from_cam_1", TensorView(matrix.data(), DType::kF64, {4, 4}));
    });
  };
  EXPECT_NO_THROW((void)import_npz(with(1)));
  EXPECT_NO_THROW((void)import_npz(with(NAN))) << "a network may say so";
  expect_refused(with(2), AllOf(HasSubstr("world_from_cam_1"), HasSubstr("rotation")));
  expect_refused(with(-1), HasSubstr("rotation"));
}

TEST_F(ImportNpz, RefusesMetaThatCannotBe) {
  const auto with_meta = [&](const std::string& text) {
    return changed(counting_scene(), "meta", [&](NpzWriter& writer) { writer.add_text("meta", text); });
  };
  const auto with_views = [&](const std::string& views) { return with_meta(R"({"format": "pointmap scene", "views": )" + views + "}"); };
  const auto with_transform = [&](const std::string& from, const std::string& to) {
    std::string transform = R"({"exif_orientation": 1, "stored_width": 4, "stored_height": 2, "scale_x": 1, "scale_y": 1, "offset_x": 0,)"
                            R"( "offset_y": 0, "network_width": 4, "network_height": 2})";
    transform.replace(transform.find(from), from.size(), to);
    return with_views(R"([{"status": "ok", "transform": )" + transform + "}]");
  };
  EXPECT_EQ(import_npz(with_transform("4", "4")).views.size(), 1u);
  for (const char* text : {"", "x", "[]", "{}", R"({"format": "other", "views": []})", R"({"format": 3})"}) {
    expect_refused(with_meta(text), HasSubstr("'meta' is not JSON of a pointmap scene"));
  }
  expect_refused(with_meta(std::string(100'000, '[')), HasSubstr("meta"));
  for (const char* views : {"[]", "{}", "3"}) expect_refused(with_views(views), HasSubstr("list of views"));
  expect_refused(with_views("[3]"), HasSubstr("view 1 is no object"));
  expect_refused(with_views(R"([{"status": "perhaps"}])"), HasSubstr("status 'perhaps'"));
  expect_refused(with_views(R"([{"status": "skipped"}])"), HasSubstr("no view is ok"));
  expect_refused(with_views(R"([{"status": "ok", "transform": 3}])"), HasSubstr("transform is no object"));
  expect_refused(with_transform("\"exif_orientation\": 1", "\"exif_orientation\": 9"), HasSubstr("exif_orientation"));
  expect_refused(with_transform("\"stored_width\": 4", "\"stored_width\": 1.5"), HasSubstr("stored_width"));
  expect_refused(with_transform("\"stored_width\": 4", "\"stored_width\": 1e300"), HasSubstr("stored_width"));
  expect_refused(with_transform("\"scale_x\": 1", "\"scale_x\": 0"), HasSubstr("scale_x"));
  expect_refused(with_transform("\"scale_y\": 1", "\"scale_y\": \"1\""), HasSubstr("without the number 'scale_y'"));
  expect_refused(with_transform("\"network_width\": 4", "\"network_width\": 5"), HasSubstr("5x2"));
}

}  // namespace
}  // namespace pointmap
