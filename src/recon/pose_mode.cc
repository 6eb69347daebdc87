// The names of the pose modes.
#include <array>
#include <string>

#include "base/error.h"
#include "pointmap/pointmap.h"

namespace pointmap {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"raw", "reprojected", "upstream", "aligned"};

}  // namespace

std::string_view pose_mode_name(PoseMode mode) {
  return kNames[static_cast<size_t>(mode)];
}

PoseMode parse_pose_mode(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<PoseMode>(i);
  }
  throw Error{kInvalidArgument, "pose mode '" + std::string(name) + "' is none of raw, reprojected, upstream, aligned"};
}

PoseMode default_pose_mode(const ModelInfo& model) {
  return model.name == "demo" ? PoseMode::kAligned : PoseMode::kRaw;
}

}  // namespace pointmap
