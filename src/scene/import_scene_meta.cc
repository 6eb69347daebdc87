#include "scene/import_scene_meta.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace pointmap {
namespace {

using nlohmann::json;

constexpr size_t kMaxViews = 10'000;
constexpr int kMaxPhotoSide = 1'000'000;

std::string text_field(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The numbers of one JSON object, all of which must be there.
class Numbers {
 public:
  Numbers(const json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object.is_object()) throw Error{kCorruptData, what_ + " is no object"};
  }
  // least to most, both within.
  double number(const char* name, double least, double most) const {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_number()) throw Error{kCorruptData, what_ + " without the number '" + name + "'"};
    const auto value = found->get<double>();
    if (!(value >= least && value <= most)) refuse(name, value, least, most);
    return value;
  }
  int whole(const char* name, int least, int most) const {
    const double value = number(name, least, most);
    if (value != std::floor(value)) refuse(name, value, least, most);
    return static_cast<int>(value);
  }

 private:
  [[noreturn]] void refuse(const char* name, double value, double least, double most) const {
    throw Error{kCorruptData, what_ + " with " + name + " " + std::to_string(value) + ", wanted " + std::to_string(least) + " to " +
                                  std::to_string(most)};
  }

  const json& object_;
  std::string what_;
};

ViewTransform transform_of(const json& object, const std::string& what) {
  const Numbers numbers(object, what);
  constexpr double kMaxScale = kMaxPhotoSide, kMinScale = 1.0 / kMaxPhotoSide;
  return {.exif_orientation = numbers.whole("exif_orientation", 1, 8),
          .stored_width = numbers.whole("stored_width", 1, kMaxPhotoSide),
          .stored_height = numbers.whole("stored_height", 1, kMaxPhotoSide),
          .scale_x = numbers.number("scale_x", kMinScale, kMaxScale),
          .scale_y = numbers.number("scale_y", kMinScale, kMaxScale),
          .offset_x = numbers.number("offset_x", -kMaxPhotoSide, kMaxPhotoSide),
          .offset_y = numbers.number("offset_y", -kMaxPhotoSide, kMaxPhotoSide),
          .network_width = numbers.whole("network_width", 1, kMaxPhotoSide),
          .network_height = numbers.whole("network_height", 1, kMaxPhotoSide)};
}

SceneView view_of(const json& object, const std::string& what) {
  if (!object.is_object()) throw Error{kCorruptData, what + " is no object"};
  SceneView view;
  view.source = text_field(object, "source");
  view.status = text_field(object, "status");
  view.reason = text_field(object, "reason");
  if (view.status != "ok" && view.status != "skipped")
    throw Error{kCorruptData, what + " has the status '" + view.status.substr(0, 64) + "'"};
  // Of a view that was skipped there is nothing to know.
  if (view.status == "ok" && object.contains("transform")) view.transform = transform_of(object["transform"], what + ": transform");
  return view;
}

}  // namespace

Scene import_scene_meta(std::string_view text, const std::string& what) {
  const json meta = json::parse(text, nullptr, false);
  if (!meta.is_object() || text_field(meta, "format") != "pointmap scene")
    throw Error{kCorruptData, what + " is not JSON of a pointmap scene"};
  Scene scene;
  scene.model = text_field(meta, "model");
  scene.model_hash = text_field(meta, "model_hash");
  if (const auto scale = meta.find("scale"); scale != meta.end() && scale->is_object()) {
    scene.scale.is_metric = scale->contains("metric") && (*scale)["metric"] == true;
    scene.scale.source = text_field(*scale, "source");
  }
  const auto views = meta.find("views");
  if (views == meta.end() || !views->is_array() || views->empty() || views->size() > kMaxViews) {
    throw Error{kCorruptData, what + " has no list of views, or not 1 to " + std::to_string(kMaxViews)};
  }
  for (const json& view : *views) scene.views.push_back(view_of(view, what + ": view " + std::to_string(scene.views.size() + 1)));
  return scene;
}

}  // namespace pointmap
