#include "scene/surface_mesh.h"

#include <array>
#include <limits>

#include "base/check.h"
#include "scene/pixel_steps.h"

namespace pointmap {
namespace {

using Triangle = std::array<uint32_t, 3>;

// Triangles of one view, over flat pixel indices.
class ViewTriangles {
 public:
  ViewTriangles(const SceneView& view, const std::vector<uint32_t>& pixels)
      : view_(view),
        width_(static_cast<uint32_t>(view.image.width)),
        usual_(view, pixels, pixel_steps(view)),
        is_kept_(view.confidence.size()) {
    for (const uint32_t pixel : pixels) is_kept_[pixel] = 1;
  }

  std::vector<Triangle> find() {
    const auto height = static_cast<uint32_t>(view_.image.height);
    for (uint32_t v = 0; v + 1 < height; ++v) {
      for (uint32_t u = 0; u + 1 < width_; ++u) add_square(v * width_ + u);
    }
    return std::move(triangles_);
  }

 private:
  // a b
  // c d, counter-clockwise: down the left side first.
  void add_square(uint32_t a) {
    const uint32_t b = a + 1, c = a + width_, d = c + 1;
    switch (is_kept_[a] + is_kept_[b] + is_kept_[c] + is_kept_[d]) {
      case 4:
        if (distance(b, c) <= distance(a, d)) {
          add(a, c, b);
          add(b, c, d);
        } else {
          add(a, c, d);
          add(a, d, b);
        }
        return;
      case 3:
        if (!is_kept_[a]) add(b, c, d);
        if (!is_kept_[b]) add(a, c, d);
        if (!is_kept_[c]) add(a, d, b);
        if (!is_kept_[d]) add(a, c, b);
        return;
      default:
        return;
    }
  }

  void add(uint32_t p, uint32_t q, uint32_t r) {
    if (is_joined(p, q) && is_joined(q, r) && is_joined(r, p)) triangles_.push_back({p, q, r});
  }
  bool is_joined(uint32_t p, uint32_t q) const {
    const float side = distance(p, q);
    return usual_.can_span(side, point(p)) && usual_.can_span(side, point(q));
  }
  float distance(uint32_t p, uint32_t q) const {
    const float *from = point(p), *to = point(q);
    return length({to[0] - from[0], to[1] - from[1], to[2] - from[2]});
  }
  const float* point(uint32_t pixel) const { return &view_.points[3 * size_t{pixel}]; }

  const SceneView& view_;
  uint32_t width_;
  UsualSpacing usual_;
  std::vector<uint8_t> is_kept_;
  std::vector<Triangle> triangles_;
};

constexpr uint32_t kNoVertex = std::numeric_limits<uint32_t>::max();

// Adds a view's sheet, and to `used` the pixels that it needs.
void add_view(const SceneView& view, const std::vector<uint32_t>& pixels, std::vector<uint32_t>& triangles, PointSelection& used) {
  const std::vector<Triangle> sheet = ViewTriangles(view, pixels).find();
  std::vector<uint32_t> vertex_of(view.confidence.size(), kNoVertex);
  for (const Triangle& triangle : sheet) {
    for (const uint32_t pixel : triangle) vertex_of[pixel] = 0;
  }
  for (const uint32_t pixel : pixels) {
    if (vertex_of[pixel] == kNoVertex) continue;
    if (used.num_kept == kNoVertex - 1) throw Error{kLimitExceeded, "mesh of more points than 32-bit indices can count"};
    vertex_of[pixel] = static_cast<uint32_t>(used.num_kept++);
    used.pixels.back().push_back(pixel);
  }
  for (const Triangle& triangle : sheet) {
    for (const uint32_t pixel : triangle) triangles.push_back(vertex_of[pixel]);
  }
}

}  // namespace

SurfaceMesh surface_mesh(const Scene& scene, const PointSelection& selection) {
  SurfaceMesh mesh;
  PointSelection used;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    used.pixels.emplace_back();
    if (!selection.pixels[i].empty()) add_view(scene.views[i], selection.pixels[i], mesh.triangles, used);
  }
  POINTMAP_CHECK(!mesh.triangles.empty(), "no surface to export: of " + std::to_string(selection.num_kept) + " kept points (of " +
                                              std::to_string(selection.num_total) +
                                              ") no three are neighbours; keep more of them, or export points instead of a mesh");
  mesh.vertices = gather_points(scene, used);
  return mesh;
}

}  // namespace pointmap
