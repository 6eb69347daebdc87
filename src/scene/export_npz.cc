#include "scene/export_npz.h"

#include "io/npz/npz_writer.h"
#include "scene/camera_matrices.h"
#include "scene/confidence_filter.h"
#include "scene/export_npz_stacked.h"
#include "scene/scene_meta.h"

namespace pointmap {

namespace {

void add_camera(NpzWriter& writer, const Camera& camera, size_t index) {
  const auto add = [&](const char* stem, const auto& values, const Shape& shape) {
    writer.add(view_array_name(stem, index), TensorView(values.data(), DType::kF64, shape));
  };
  add("world_from_cam", matrix4(camera.world_from_cam), Shape{4, 4});
  add("intrinsics", matrix3(camera.network), Shape{3, 3});
  add("original_intrinsics", matrix3(camera.original), Shape{3, 3});
}

// Each view's arrays by themselves.
void add_view_arrays(NpzWriter& writer, const Scene& scene) {
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    const int64_t height = view.image.height, width = view.image.width;
    const auto add = [&](const char* stem, const std::vector<float>& values, const Shape& shape) {
      if (!values.empty()) writer.add(view_array_name(stem, i), TensorView(values.data(), DType::kF32, shape));
    };
    add("pts3d", view.points, Shape{height, width, 3});
    add("conf", view.confidence, Shape{height, width});
    add("raw", view.raw, Shape{4, height, width});
    add("depth", view.depth, Shape{height, width});
    if (!view.image.rgb.empty()) {
      writer.add(view_array_name("image", i), TensorView(view.image.rgb.data(), DType::kU8, {height, width, 3}));
    }
    if (!view.mask.empty()) writer.add(view_array_name("mask", i), TensorView(view.mask.data(), DType::kU8, {height, width}));
    if (view.camera) add_camera(writer, *view.camera, i);
  }
}

}  // namespace

void export_npz(const Scene& scene, const std::filesystem::path& path, const NpzExportOptions& options) {
  check_scene(scene);
  NpzWriter writer(path, {.deflate_level = options.deflate_level});
  if (is_stackable(scene)) {
    add_stacked_arrays(writer, scene);
  } else {
    add_view_arrays(writer, scene);
  }
  writer.add_text("meta", scene_meta_json(scene, options.generator));
  writer.finish();
}

}  // namespace pointmap
