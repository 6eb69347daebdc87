#include "scene/export_npz_stacked.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "geometry/rigid_transform.h"
#include "scene/camera_matrices.h"

namespace pointmap {

namespace {

using Views = std::vector<const SceneView*>;

Views views_of(const Scene& scene) {
  Views views;
  for (const SceneView& view : scene.views) {
    if (view.status == "ok") views.push_back(&view);
  }
  return views;
}

// One array at a time is in memory beside the scene.
class Stack {
 public:
  Stack(NpzWriter& writer, const Views& views) : writer_(writer), views_(views) {}

  // values_of: the part of one view; shape: of that part.
  template <typename T, typename Function>
  void add(const char* name, DType dtype, const Shape& shape, const Function& values_of) {
    std::vector<T> all;
    all.reserve(views_.size() * static_cast<size_t>(shape.num_elements()));
    for (const SceneView* view : views_) {
      const auto& values = values_of(*view);
      POINTMAP_CHECK(
          static_cast<int64_t>(values.size()) == shape.num_elements(),
          "view '" + view->source + "': " + name + " has " + std::to_string(values.size()) + " elements, wanted " + shape.to_string());
      all.insert(all.end(), values.begin(), values.end());
    }
    std::vector<int64_t> dims = {static_cast<int64_t>(views_.size())};
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    writer_.add(name, TensorView(all.data(), dtype, Shape(dims)));
  }

 private:
  NpzWriter& writer_;
  const Views& views_;
};

// [3, H, W] in [0, 1]
std::vector<float> planes_of(const Image& image) {
  const size_t pixels = image.rgb.size() / 3;
  std::vector<float> planes(image.rgb.size());
  for (size_t i = 0; i < image.rgb.size(); ++i) planes[i % 3 * pixels + i / 3] = static_cast<float>(image.rgb[i]) / 255.0f;
  return planes;
}

std::vector<float> extrinsic_of(const Camera& camera) {
  const RigidTransform cam_from_world = inverse(camera.world_from_cam);
  std::vector<float> matrix;
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) matrix.push_back(static_cast<float>(cam_from_world.rotation[3 * row + column]));
    matrix.push_back(static_cast<float>(cam_from_world.translation[row]));
  }
  return matrix;
}

}  // namespace

bool is_stackable(const Scene& scene) {
  const Views views = views_of(scene);
  return !views.empty() && std::ranges::all_of(views, [](const SceneView* view) { return !view->pose_encoding.empty(); });
}

void add_stacked_arrays(NpzWriter& writer, const Scene& scene) {
  const Views views = views_of(scene);
  for (const SceneView* view : views) POINTMAP_CHECK(view->camera.has_value(), "view '" + view->source + "' has no camera");
  const int64_t height = views[0]->image.height, width = views[0]->image.width;
  Stack stack(writer, views);
  stack.add<float>("images", DType::kF32, {3, height, width}, [](const SceneView& v) { return planes_of(v.image); });
  stack.add<float>(
      "depth", DType::kF32, {height, width, 1}, [](const SceneView& v) -> const auto& { return v.depth; });
  stack.add<float>(
      "depth_conf", DType::kF32, {height, width}, [](const SceneView& v) -> const auto& { return v.depth_confidence; });
  stack.add<float>(
      "world_points", DType::kF32, {height, width, 3}, [](const SceneView& v) -> const auto& { return v.points; });
  stack.add<float>(
      "world_points_conf", DType::kF32, {height, width}, [](const SceneView& v) -> const auto& { return v.confidence; });
  stack.add<float>(
      "pose_enc", DType::kF32, {9}, [](const SceneView& v) -> const auto& { return v.pose_encoding; });
  stack.add<float>("extrinsic", DType::kF32, {3, 4}, [](const SceneView& v) { return extrinsic_of(*v.camera); });
  stack.add<float>("intrinsic", DType::kF32, {3, 3}, [](const SceneView& v) {
    const std::array<double, 9> k = matrix3(v.camera->network);
    return std::vector<float>(k.begin(), k.end());
  });
  stack.add<double>("original_intrinsic", DType::kF64, {3, 3}, [](const SceneView& v) { return matrix3(v.camera->original); });
  if (std::ranges::none_of(views, [](const SceneView* view) { return !view->mask.empty(); })) return;
  stack.add<uint8_t>("masks", DType::kU8, {height, width},
                     [](const SceneView& v) { return v.mask.empty() ? std::vector<uint8_t>(v.confidence.size(), 1) : v.mask; });
}

}  // namespace pointmap
