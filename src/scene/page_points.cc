#include "scene/page_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/check.h"
#include "scene/confidence_filter.h"

namespace pointmap {
namespace {

constexpr size_t kMaxClass = kNumPageClasses - 1;

// The least confidence that the filter keeps at each percentile. `confidences` is not empty.
std::array<float, kNumPageClasses> class_limits(std::vector<float> confidences) {
  std::ranges::sort(confidences);
  std::array<float, kNumPageClasses> limits = {};
  for (size_t p = 0; p < limits.size(); ++p) limits[p] = confidences[rank_of_percentile(static_cast<double>(p), confidences.size())];
  return limits;
}

// Leaves at most max_points of them, evenly spread.
void thin(PointSelection& selection, size_t max_points) {
  if (selection.num_kept <= max_points) return;
  const uint64_t total = selection.num_kept;
  uint64_t index = 0;
  for (std::vector<uint32_t>& pixels : selection.pixels) {
    std::erase_if(pixels, [&](uint32_t) {
      const uint64_t before = index * max_points / total;
      ++index;
      return index * max_points / total == before;
    });
  }
  selection.num_kept = max_points;
}

// The view's pixels in the page's order; fills `kept`.
std::vector<uint32_t> ordered(const SceneView& view, const std::vector<uint32_t>& pixels, const std::array<float, kNumPageClasses>& limits,
                              PagePoints& page) {
  const auto class_of = [&](uint32_t pixel) {
    return static_cast<size_t>(std::ranges::upper_bound(limits, view.confidence[pixel]) - limits.begin()) - 1;
  };
  for (const uint32_t pixel : pixels) ++page.kept[class_of(pixel)];
  for (size_t p = kMaxClass; p-- > 0;) page.kept[p] += page.kept[p + 1];
  std::array<uint32_t, kNumPageClasses> next = {};  // place of the next point of the class
  std::copy(page.kept.begin() + 1, page.kept.end(), next.begin());
  std::vector<uint32_t> result(pixels.size());
  for (const uint32_t pixel : pixels) result[next[class_of(pixel)]++] = pixel;
  return result;
}

// Appends the box and the steps of the points of one class.
void add_class(const SceneView& view, std::span<const uint32_t> pixels, PagePoints& page) {
  std::array<double, 3> least, most;
  least.fill(std::numeric_limits<double>::infinity());
  most.fill(-std::numeric_limits<double>::infinity());
  for (const uint32_t pixel : pixels) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const double x = view.points[3 * pixel + axis];
      least[axis] = std::min(least[axis], x);
      most[axis] = std::max(most[axis], x);
    }
  }
  std::array<float, 6> box = {};
  for (size_t axis = 0; axis < 3 && !pixels.empty(); ++axis) {
    box[axis] = static_cast<float>(least[axis]);
    box[3 + axis] = static_cast<float>((most[axis] - least[axis]) / 65535);
  }
  page.boxes.insert(page.boxes.end(), box.begin(), box.end());
  for (const uint32_t pixel : pixels) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const double side = box[3 + axis];
      const double step = side > 0 ? (view.points[3 * pixel + axis] - least[axis]) / side : 0;
      page.steps.push_back(static_cast<uint16_t>(std::clamp(std::round(step), 0.0, 65535.0)));
    }
  }
}

PagePoints page_points(const SceneView& view, const std::vector<uint32_t>& pixels, const std::array<float, kNumPageClasses>& limits) {
  PagePoints page;
  const std::vector<uint32_t> order = ordered(view, pixels, limits, page);
  page.steps.reserve(3 * order.size());
  page.colors.reserve(3 * order.size());
  size_t begin = 0;
  for (size_t p = kNumPageClasses; p-- > 0;) {
    add_class(view, std::span(order).subspan(begin, page.kept[p] - begin), page);
    begin = page.kept[p];
  }
  for (const size_t pixel : order) page.colors.insert(page.colors.end(), &view.image.rgb[3 * pixel], &view.image.rgb[3 * pixel] + 3);
  return page;
}

}  // namespace

PageScene page_scene(const Scene& scene, size_t max_points) {
  PointSelection selection = select_points(scene, {.percentile = 0});
  PageScene page{.views = {}, .num_points = 0, .num_finite = selection.num_kept, .num_total = selection.num_total};
  POINTMAP_CHECK(selection.num_kept > 0, "no point to show: of " + std::to_string(selection.num_total) + " valid pixels none is finite");
  const std::array<float, kNumPageClasses> limits = class_limits(confidences_of(scene, selection));
  thin(selection, max_points);
  page.num_points = selection.num_kept;
  for (size_t i = 0; i < scene.views.size(); ++i) page.views.push_back(page_points(scene.views[i], selection.pixels[i], limits));
  return page;
}

std::array<float, 3> page_position(const PagePoints& points, size_t i) {
  size_t p = kMaxClass;
  while (i >= points.kept[p]) --p;
  const float* box = &points.boxes[6 * (kMaxClass - p)];
  std::array<float, 3> position;
  for (size_t axis = 0; axis < 3; ++axis) position[axis] = box[axis] + box[3 + axis] * static_cast<float>(points.steps[3 * i + axis]);
  return position;
}

}  // namespace pointmap
