#include "io/colmap/colmap_model.h"

#include <limits>

#include "base/check.h"

namespace pointmap {

void check_colmap_model(const ColmapModel& model) {
  const size_t num_points = model.num_points();
  POINTMAP_CHECK(model.positions.size() == 3 * num_points && model.colors.size() == 3 * num_points && model.pixels.size() == 2 * num_points,
                 "COLMAP model of " + std::to_string(num_points) + " points with " + std::to_string(model.positions.size()) +
                     " coordinates, " + std::to_string(model.colors.size()) + " colours and " + std::to_string(model.pixels.size()) +
                     " pixel coordinates");
  size_t num_seen = 0;
  for (const ColmapImage& image : model.images) {
    const std::string who = "COLMAP image '" + image.name + "': ";
    POINTMAP_CHECK(!image.name.empty() && image.name.find('\0') == std::string::npos, who + "not a name");
    POINTMAP_CHECK(image.camera < model.cameras.size(),
                   who + "camera " + std::to_string(image.camera) + " of " + std::to_string(model.cameras.size()));
    POINTMAP_CHECK(image.num_points <= std::numeric_limits<uint32_t>::max(), who + "more points than an index holds");
    num_seen = checked_add(num_seen, image.num_points);
  }
  POINTMAP_CHECK(num_seen == num_points, "COLMAP images see " + std::to_string(num_seen) + " points of " + std::to_string(num_points));
}

}  // namespace pointmap
