#include "scene/export_npz.h"

#include "io/npz/npz_writer.h"
#include "scene/confidence_filter.h"
#include "scene/scene_meta.h"

namespace pointmap {

void export_npz(const Scene& scene, const std::filesystem::path& path, const NpzExportOptions& options) {
  check_scene(scene);
  NpzWriter writer(path, {.deflate_level = options.deflate_level});
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    const int64_t height = view.image.height, width = view.image.width;
    const auto add = [&](const char* stem, const std::vector<float>& values, const Shape& shape) {
      if (!values.empty()) writer.add(view_array_name(stem, i), TensorView(values.data(), DType::kF32, shape));
    };
    add("pts3d", view.points, Shape{height, width, 3});
    add("conf", view.confidence, Shape{height, width});
    add("raw", view.raw, Shape{4, height, width});
  }
  writer.add_text("meta", scene_meta_json(scene, options.generator));
  writer.finish();
}

}  // namespace pointmap
