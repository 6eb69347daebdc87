#include "scene/export_depth.h"

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/check.h"
#include "io/exr/exr_encode.h"
#include "io/image/png_encode.h"
#include "io/npz/npy_encode.h"
#include "io/pfm/pfm_encode.h"
#include "scene/camera_matrices.h"
#include "scene/confidence_filter.h"
#include "scene/scene_meta.h"
#include "scene/view_maps.h"

namespace pointmap {
namespace {

using nlohmann::ordered_json;

constexpr const char* kMeaning =
    "depth = value * scale, value 0 = no depth; the unit of length is that of the scene. confidence = value * scale, value 0 = none: not "
    "the photo, outside its mask, or not a number; the network's own, above 1. All maps have the network's pixels: see views for the way "
    "to "
    "the photo's";
constexpr const char* kFrames =
    "of each depth file: 'own camera' is z in the camera frame of the view; 'world' is z in the world's, which for views after the first "
    "is not the distance from their own camera";

const char* frame_of(const SceneView& view) {
  return view.depth.empty() ? "world" : "own camera";
}

// Writes the files of one view, and remembers what each holds.
class ViewWriter {
 public:
  ViewWriter(const Scene& scene, const std::filesystem::path& folder, const DepthExportOptions& options)
      : scene_(scene), folder_(folder), options_(options) {}

  void write_view(size_t index) {
    const SceneView& view = scene_.views[index];
    const ViewMap depth = depth_map(view);
    for (const DepthFormat format : options_.formats) write_depth(index, depth, format);
    const ViewMap confidence = confidence_map(view);
    const Map16 steps = quantized(confidence);
    const std::string name = view_array_name("conf", index) + ".png";
    write_file(folder_ / name, encode_png16(steps.values, view.image.width, view.image.height));
    remember(name, 0, confidence);
    entries_.push_back(entry(name, "png16", index));
    entries_.back().update({{"holds", "confidence"}, {"scale", steps.scale}});
    add_counts(confidence);
    views_.push_back(view_json(index));
  }

  std::vector<DepthFile> finish() {
    const ordered_json document = {{"meaning", kMeaning},
                                   {"frame", kFrames},
                                   {"convention", point_convention(scene_)},
                                   {"camera_convention", camera_convention(scene_)},
                                   {"transform_convention", kTransformConvention},
                                   {"scale", scale_description(scene_)},
                                   {"generator", options_.generator},
                                   {"model", scene_.model},
                                   {"files", entries_},
                                   {"views", views_}};
    const std::filesystem::path path = folder_ / "depth.json";
    write_file(path, document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
    files_.push_back({.path = path});
    return std::move(files_);
  }

 private:
  void write_depth(size_t index, const ViewMap& depth, DepthFormat format) {
    const SceneView& view = scene_.views[index];
    const int width = view.image.width, height = view.image.height;
    const std::string stem = view_array_name("depth", index);
    std::string name;
    double scale = 1;
    switch (format) {
      case DepthFormat::kPng16: {
        const Map16 steps = quantized(depth);
        scale = steps.scale;
        name = stem + ".png";
        write_file(folder_ / name, encode_png16(steps.values, width, height));
        break;
      }
      case DepthFormat::kPfm:
        name = stem + ".pfm";
        write_file(folder_ / name, encode_pfm(depth.values, width, height));
        break;
      case DepthFormat::kExr:
        name = stem + ".exr";
        write_file(folder_ / name, encode_exr_depth(depth.values, width, height, exr_attributes(index)));
        break;
      case DepthFormat::kNpy:
        name = stem + ".npy";
        write_file(folder_ / name, encode_npy(DType::kF32, Shape{height, width}, std::as_bytes(std::span(depth.values))));
        break;
    }
    remember(name, scale, depth);
    entries_.push_back(entry(name, depth_format_name(format), index));
    entries_.back().update({{"holds", "depth"}, {"frame", frame_of(view)}, {"scale", scale}});
    add_counts(depth);
  }

  void remember(const std::string& name, double depth_scale, const ViewMap& map) {
    files_.push_back({folder_ / name, depth_scale, map.num_valid, map.num_total});
  }

  ordered_json entry(const std::string& name, std::string_view format, size_t index) const {
    return {{"file", name}, {"format", format}, {"view", index + 1}, {"source", scene_.views[index].source}};
  }

  void add_counts(const ViewMap& map) { entries_.back().update({{"valid_pixels", map.num_valid}, {"photo_pixels", map.num_total}}); }

  ordered_json view_json(size_t index) const {
    const SceneView& view = scene_.views[index];
    ordered_json json = {{"view", index + 1},
                         {"source", view.source},
                         {"width", view.image.width},
                         {"height", view.image.height},
                         {"original_width", view.transform.oriented_width()},
                         {"original_height", view.transform.oriented_height()},
                         {"camera", nullptr},
                         {"transform", ordered_json::parse(transform_json(view.transform))}};
    if (view.camera) json["camera"] = ordered_json::parse(camera_json(*view.camera, view.transform));
    return json;
  }

  // What the sidecar says of the view, inside the file itself.
  std::vector<ExrAttribute> exr_attributes(size_t index) const {
    const SceneView& view = scene_.views[index];
    std::vector<ExrAttribute> attributes = {
        {"comments", "depth in the scene's unit of length, 0 = no depth; z in the frame of " +
                         (view.depth.empty() ? "the world, which is " + world_description(scene_) : std::string("the view's own camera")) +
                         "; matrices are row-major, for column vectors"},
        {"frame", frame_of(view)},
        {"scale", scale_description(scene_)},
        {"source", view.source},
        {"view", static_cast<double>(index + 1)},
        {"generator", options_.generator},
        {"model", scene_.model},
        {"convention", point_convention(scene_)},
        {"transform", transform_json(view.transform)},
        {"transform_convention", std::string(kTransformConvention)}};
    if (!view.camera) return attributes;
    attributes.insert(attributes.end(), {{"camera_convention", camera_convention(scene_)},
                                         {"world_from_cam", matrix4(view.camera->world_from_cam)},
                                         {"intrinsics", matrix3(view.camera->network)},
                                         {"original_intrinsics", matrix3(view.camera->original)}});
    return attributes;
  }

  const Scene& scene_;
  const std::filesystem::path& folder_;
  const DepthExportOptions& options_;
  std::vector<DepthFile> files_;
  ordered_json entries_ = ordered_json::array();
  ordered_json views_ = ordered_json::array();
};

}  // namespace

std::vector<DepthFile> export_depth(const Scene& scene, const std::filesystem::path& folder, const DepthExportOptions& options) {
  check_scene(scene);
  POINTMAP_CHECK(!options.formats.empty(), "depth maps in no format");
  ViewWriter writer(scene, folder, options);
  for (size_t i = 0; i < scene.views.size(); ++i) {
    if (scene.views[i].status == "ok") writer.write_view(i);
  }
  return writer.finish();
}

}  // namespace pointmap
