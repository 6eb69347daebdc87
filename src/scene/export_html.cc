#include "scene/export_html.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/base64.h"
#include "geometry/focal.h"
#include "geometry/rigid_transform.h"
#include "io/image/resize.h"
#include "scene/page_points.h"
#include "scene/point_cloud.h"
#include "scene/scene_meta.h"
#include "viewer_page/viewer_page.h"

namespace pointmap {
namespace {

using nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "the page's numbers are little-endian");

constexpr int kThumbnailLongSide = 128;
// Stray points, mostly of low confidence, do not decide where the page looks.
constexpr double kExtentPercentile = 25;

// In the middle of a script element nothing may look like its end; without non-ASCII characters there is no U+2028 either.
std::string json_in_html(const ordered_json& json) {
  const std::string text = json.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {  // these stand in strings only, where JSON may write them as it likes
    if (c == '<') {
      safe += "\\u003c";
    } else if (c == '>') {
      safe += "\\u003e";
    } else if (c == '&') {
      safe += "\\u0026";
    } else {
      safe += c;
    }
  }
  return safe;
}

bool is_drawable(const Camera& camera) {
  return is_finite(camera.world_from_cam) && is_usable_lens(camera.original);
}

// The photo's camera, as a person sees the photo.
ordered_json camera_json(const SceneView& view) {
  const Intrinsics& k = view.camera->original;
  return {{"rotation", view.camera->world_from_cam.rotation},
          {"position", view.camera->world_from_cam.translation},
          {"fx", k.fx},
          {"fy", k.fy},
          {"cx", k.cx},
          {"cy", k.cy},
          {"width", view.transform.oriented_width()},
          {"height", view.transform.oriented_height()}};
}

// The part of what the network saw that shows the photo, small.
Image thumbnail(const SceneView& view) {
  const ViewTransform& t = view.transform;
  const auto first = [](double offset, double scale) { return std::max(0, static_cast<int>(std::ceil(-offset / scale - 1e-6))); };
  const int left = std::min(first(t.offset_x, t.scale_x), view.image.width - 1);
  const int top = std::min(first(t.offset_y, t.scale_y), view.image.height - 1);
  Image photo{.width = std::max(1, view.image.width - 2 * left), .height = std::max(1, view.image.height - 2 * top), .rgb = {}};
  for (int y = 0; y < photo.height; ++y) {
    const uint8_t* row = view.image.pixel(left, top + y);
    photo.rgb.insert(photo.rgb.end(), row, row + 3 * static_cast<ptrdiff_t>(photo.width));
  }
  const double scale = std::min(1.0, static_cast<double>(kThumbnailLongSide) / std::max(photo.width, photo.height));
  const auto side = [&](int length) { return std::max(1, static_cast<int>(std::lround(scale * length))); };
  return resize_image(photo, side(photo.width), side(photo.height), ResizeFilter::kBicubic);
}

ordered_json view_json(const SceneView& view, const PagePoints& points, const Image& picture) {
  ordered_json json = {{"source", view.source}, {"status", view.status}, {"reason", view.reason}};
  if (view.status != "ok") return json;
  const bool has_camera = view.camera && is_drawable(*view.camera);
  const double focal =
      has_camera && is_usable_focal(view.camera->network.fx) ? view.camera->network.fx : default_focal(view.image.width, view.image.height);
  json["kept"] = points.kept;
  json["pixel_angle"] = 1 / focal;
  json["thumbnail"] = {{"width", picture.width}, {"height", picture.height}};
  if (has_camera) json["camera"] = camera_json(view);
  return json;
}

ordered_json scene_json(const Scene& scene, const Scene& shown, const PageScene& page, const HtmlExportOptions& options) {
  CloudExtent extent = extent_of(gather_points(shown, select_points(shown, {.percentile = kExtentPercentile})));
  if (!(extent.diagonal > 0 && std::isfinite(extent.diagonal))) extent.diagonal = 1;
  return {{"format", "pointmap page"},
          {"format_version", 1},
          {"generator", options.generator},
          {"model", scene.model},
          {"convention", "x right, y down, z forward in " + world_description(scene)},
          {"scale", scale_description(scene)},
          {"points_from", options.points == PointSource::kDepth ? "depth and cameras" : "the network's point head"},
          {"percentile", std::min(99L, std::lround(options.percentile))},
          {"num_points", page.num_points},
          {"num_finite", page.num_finite},
          {"num_total", page.num_total},
          {"center", extent.center},
          {"size", extent.diagonal},
          {"views", ordered_json::array()}};
}

template <typename T>
void append(std::vector<std::byte>& bytes, const std::vector<T>& values) {
  const auto part = std::as_bytes(std::span(values));
  bytes.insert(bytes.end(), part.begin(), part.end());
}

std::string data_element(size_t index, const PagePoints& points, const Image& picture) {
  std::vector<std::byte> bytes;
  bytes.reserve(4 * points.boxes.size() + 2 * points.steps.size() + points.colors.size() + picture.rgb.size());
  append(bytes, points.boxes);
  append(bytes, points.steps);
  append(bytes, points.colors);
  append(bytes, picture.rgb);
  return "<script type=\"text/plain\" class=\"view-data\" id=\"view-" + std::to_string(index + 1) + "\">" + base64(bytes) + "</script>\n";
}

}  // namespace

HtmlFile export_html(const Scene& scene, const Scene& shown, const std::filesystem::path& path, const HtmlExportOptions& options) {
  const PageScene page = page_scene(shown, options.max_points);
  const ViewerPage viewer = viewer_page();
  ordered_json json = scene_json(scene, shown, page, options);
  AtomicFile file(path);
  file.write(viewer.before_scene);
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    const Image picture = view.status == "ok" ? thumbnail(view) : Image{};
    json["views"].push_back(view_json(view, page.views[i], picture));
    if (view.status == "ok") file.write(data_element(i, page.views[i], picture));
  }
  file.write("<script type=\"application/json\" id=\"scene\">" + json_in_html(json) + "</script>");
  file.write(viewer.after_scene);
  file.commit();
  return {.num_points = page.num_points, .num_total = page.num_total};
}

}  // namespace pointmap
