#include "scene/scene_splats.h"

#include "scene/pixel_steps.h"

namespace pointmap {

PointSplats splats_of(const Scene& scene, const PointSelection& selection) {
  PointSplats splats;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    if (selection.pixels[i].empty()) continue;
    const std::vector<PixelSteps> steps = pixel_steps(view);
    const UsualSpacing usual(view, selection.pixels[i], steps);
    for (const size_t pixel : selection.pixels[i]) {
      const float* point = &view.points[3 * pixel];
      const auto& [right, down] = steps[pixel];
      if (!usual.can_span(steps[pixel].spacing(), point)) continue;
      splats.positions.insert(splats.positions.end(), point, point + 3);
      splats.tangents_u.insert(splats.tangents_u.end(), right.begin(), right.end());
      splats.tangents_v.insert(splats.tangents_v.end(), down.begin(), down.end());
      splats.colors.insert(splats.colors.end(), &view.image.rgb[3 * pixel], &view.image.rgb[3 * pixel] + 3);
    }
  }
  return splats;
}

}  // namespace pointmap
