#include "scene/export_tum.h"

#include <array>
#include <charconv>

#include "base/atomic_file.h"
#include "geometry/quaternion.h"
#include "scene/scene_meta.h"

namespace pointmap {

namespace {

// The shortest digits that read back as the same double, whatever the locale.
std::string digits_of(double number) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr};
}

}  // namespace

std::string tum_convention(const Scene& scene) {
  return "timestamp is the number of the view, from 1; tx ty tz qx qy qz qw take points from the camera (x right, y down, z forward, for "
         "the photo as a person sees it, EXIF orientation applied) to the world, which is " +
         world_description(scene) + ", " + scale_description(scene);
}

void export_tum(const Scene& scene, const std::string& generator, const std::filesystem::path& path) {
  std::string text;
  for (const std::string& comment : {"generator: " + generator, "model: " + scene.model, tum_convention(scene)}) {
    text.append("# ").append(on_one_line(comment)).append("\n");
  }
  text += "# timestamp tx ty tz qx qy qz qw\n";
  for (size_t i = 0; i < scene.views.size(); ++i) {
    if (scene.views[i].status != "ok") continue;
    const RigidTransform& pose = scene.views[i].camera->world_from_cam;
    const Quaternion q = quaternion_from_rotation(pose.rotation);
    text += std::to_string(i + 1);
    for (const double number : {pose.translation[0], pose.translation[1], pose.translation[2], q.x, q.y, q.z, q.w}) {
      text.append(" ").append(digits_of(number));
    }
    text += "\n";
  }
  write_file(path, text);
}

}  // namespace pointmap
