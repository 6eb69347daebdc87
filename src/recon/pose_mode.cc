// The names of the pose modes.
#include <array>

#include "base/names.h"
#include "pointmap/pointmap.h"

namespace pointmap {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"raw", "reprojected", "upstream", "aligned"};

}  // namespace

std::string_view pose_mode_name(PoseMode mode) {
  return kNames[static_cast<size_t>(mode)];
}

PoseMode parse_pose_mode(std::string_view name) {
  return static_cast<PoseMode>(index_of_name(kNames, name, "pose mode"));
}

PoseMode default_pose_mode(const ModelInfo& model) {
  return model.name == "demo" ? PoseMode::kAligned : PoseMode::kRaw;
}

}  // namespace pointmap
