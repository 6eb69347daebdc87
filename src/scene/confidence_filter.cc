#include "scene/confidence_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/check.h"
#include "geometry/view_transform.h"

namespace pointmap {

namespace {

void check_view(const SceneView& view, size_t index) {
  const std::string who = "view " + std::to_string(index + 1) + " ('" + view.source + "'): ";
  const int width = view.transform.network_width, height = view.transform.network_height;
  POINTMAP_CHECK(width > 0 && height > 0 && view.image.width == width && view.image.height == height,
                 who + "image of " + std::to_string(view.image.width) + "x" + std::to_string(view.image.height) + ", transform to " +
                     std::to_string(width) + "x" + std::to_string(height));
  const size_t pixels = checked_mul(static_cast<size_t>(width), static_cast<size_t>(height));
  POINTMAP_CHECK(pixels <= std::numeric_limits<uint32_t>::max(), who + std::to_string(pixels) + " pixels, at most 2^32 - 1");
  const auto check_size = [&](const char* what, size_t got, size_t wanted) {
    POINTMAP_CHECK(got == wanted, who + what + " has " + std::to_string(got) + " elements, wanted " + std::to_string(wanted));
  };
  check_size("image", view.image.rgb.size(), 3 * pixels);
  check_size("points", view.points.size(), 3 * pixels);
  check_size("confidence", view.confidence.size(), pixels);
  if (!view.mask.empty()) check_size("mask", view.mask.size(), pixels);
  if (!view.raw.empty()) check_size("raw", view.raw.size(), 4 * pixels);
  if (!view.depth.empty()) check_size("depth", view.depth.size(), pixels);
  if (!view.depth_confidence.empty()) check_size("depth confidence", view.depth_confidence.size(), pixels);
}

// Adds the view's finite valid pixels to the selection.
void add_candidates(const SceneView& view, PointSelection& selection) {
  std::vector<uint32_t>& pixels = selection.pixels.emplace_back();
  if (view.status != "ok") return;
  const std::vector<uint8_t> is_valid = valid_mask(view);
  for (uint32_t pixel = 0; pixel < is_valid.size(); ++pixel) {
    if (is_valid[pixel] == 0) {
      ++selection.num_invalid;
      continue;
    }
    ++selection.num_total;
    if (is_finite_point(view, pixel)) {
      pixels.push_back(pixel);
    } else {
      ++selection.num_nonfinite;
    }
  }
}

}  // namespace

bool is_finite_point(const SceneView& view, size_t pixel) {
  const float* p = &view.points[3 * pixel];
  return std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]) && std::isfinite(view.confidence[pixel]);
}

std::vector<uint8_t> valid_mask(const SceneView& view) {
  std::vector<uint8_t> mask = photo_mask(view.transform);
  for (size_t i = 0; i < view.mask.size(); ++i) mask[i] = static_cast<uint8_t>(mask[i] != 0 && view.mask[i] != 0);
  return mask;
}

size_t num_valid_pixels(const Scene& scene) {
  size_t count = 0;
  for (const SceneView& view : scene.views) {
    if (view.status == "ok") count += static_cast<size_t>(std::ranges::count(valid_mask(view), uint8_t{1}));
  }
  return count;
}

void check_scene(const Scene& scene) {
  POINTMAP_CHECK(!scene.views.empty(), "scene without views");
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    if (view.status == "ok" || !view.points.empty()) check_view(view, i);
  }
}

std::string kept_description(const PointSelection& selection) {
  std::array<char, 32> limit;
  std::snprintf(limit.data(), limit.size(), "%g", static_cast<double>(selection.min_confidence));
  return "kept " + std::to_string(selection.num_kept) + " of " + std::to_string(selection.num_total) + " pixels: finite, of confidence " +
         limit.data() + " or more";
}

size_t rank_of_percentile(double percentile, size_t count) {
  return std::min(static_cast<size_t>(percentile / 100 * static_cast<double>(count)), count - 1);
}

std::vector<float> confidences_of(const Scene& scene, const PointSelection& selection) {
  std::vector<float> confidences;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    for (const uint32_t pixel : selection.pixels[i]) confidences.push_back(scene.views[i].confidence[pixel]);
  }
  return confidences;
}

PointSelection select_points(const Scene& scene, const ConfidenceFilter& filter) {
  POINTMAP_CHECK(filter.percentile >= 0 && filter.percentile <= 100,
                 "confidence percentile " + std::to_string(filter.percentile) + ", wanted 0 to 100");
  check_scene(scene);
  PointSelection selection;
  for (const SceneView& view : scene.views) add_candidates(view, selection);

  std::vector<float> confidences = confidences_of(scene, selection);
  if (confidences.empty()) return selection;
  const auto place = confidences.begin() + static_cast<std::ptrdiff_t>(rank_of_percentile(filter.percentile, confidences.size()));
  std::nth_element(confidences.begin(), place, confidences.end());
  const float limit = *place;
  selection.min_confidence = limit;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    std::erase_if(selection.pixels[i], [&](uint32_t pixel) { return scene.views[i].confidence[pixel] < limit; });
    selection.num_kept += selection.pixels[i].size();
  }
  return selection;
}

}  // namespace pointmap
