#include "apps/server/predict_response.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "apps/server/median.h"
#include "pointmap/encode.h"

namespace pointmap::server {

namespace {

using nlohmann::ordered_json;

constexpr int kDeflateLevel = 1;  // float maps shrink by about a tenth, whatever the level

std::vector<int64_t> map_shape(const SceneView& view) {
  return {view.image.height, view.image.width};
}

std::vector<NpzItem> dust3r_items(const Scene& scene) {
  std::vector<NpzItem> items;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    const std::string number = std::to_string(i + 1);
    std::vector<int64_t> shape = map_shape(view);
    items.push_back({"conf_" + number, shape, {view.confidence}, NpzType::kFloat16});
    shape.push_back(3);
    items.push_back({"pts3d_" + number, shape, {view.points}, NpzType::kFloat32});
  }
  return items;
}

// camera from world, [3, 4]
std::array<float, 12> extrinsic_of(const Camera& camera) {
  const RigidTransform cam_from_world = inverse(camera.world_from_cam);
  std::array<float, 12> matrix{};
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) matrix[4 * row + column] = static_cast<float>(cam_from_world.rotation[3 * row + column]);
    matrix[4 * row + 3] = static_cast<float>(cam_from_world.translation[row]);
  }
  return matrix;
}

std::array<float, 9> intrinsic_of(const Camera& camera) {
  const Intrinsics& k = camera.network;
  return {static_cast<float>(k.fx), 0, static_cast<float>(k.cx), 0, static_cast<float>(k.fy), static_cast<float>(k.cy), 0, 0, 1};
}

// What a scene does not hold as floats.
struct CameraMatrices {
  std::vector<std::array<float, 12>> extrinsics;
  std::vector<std::array<float, 9>> intrinsics;
};

std::vector<NpzItem> vggt_items(const Scene& scene, CameraMatrices& matrices) {
  const auto num_views = static_cast<int64_t>(scene.views.size());
  std::vector<std::span<const float>> points, points_conf, depth, depth_conf, encodings, extrinsics, intrinsics;
  for (const SceneView& view : scene.views) {
    points.push_back(view.points);
    points_conf.push_back(view.confidence);
    depth.push_back(view.depth);
    depth_conf.push_back(view.depth_confidence);
    encodings.push_back(view.pose_encoding);
    matrices.extrinsics.push_back(extrinsic_of(view.camera.value()));
    matrices.intrinsics.push_back(intrinsic_of(view.camera.value()));
  }
  for (const auto& matrix : matrices.extrinsics) extrinsics.push_back(matrix);
  for (const auto& matrix : matrices.intrinsics) intrinsics.push_back(matrix);
  const int64_t height = scene.views[0].image.height, width = scene.views[0].image.width;
  return {{"depth", {num_views, height, width, 1}, depth, NpzType::kFloat16},
          {"depth_conf", {num_views, height, width}, depth_conf, NpzType::kFloat16},
          {"extrinsic", {num_views, 3, 4}, extrinsics},
          {"intrinsic", {num_views, 3, 3}, intrinsics},
          {"pose_enc", {num_views, 9}, encodings},
          {"world_points", {num_views, height, width, 3}, points, NpzType::kFloat16},
          {"world_points_conf", {num_views, height, width}, points_conf, NpzType::kFloat16}};
}

std::vector<NpzItem> items_of(const Scene& scene, const ServedModel& model, CameraMatrices& matrices) {
  return model.is_vggt() ? vggt_items(scene, matrices) : dust3r_items(scene);
}

std::vector<float> z_of(const SceneView& view) {
  std::vector<float> z(view.points.size() / 3);
  for (size_t i = 0; i < z.size(); ++i) z[i] = view.points[3 * i + 2];
  return z;
}

// What is shown as depth.
std::vector<float> depth_of(const SceneView& view, bool is_vggt) {
  return is_vggt ? view.depth : z_of(view);
}

NamedPng grey_png(std::string name, const std::vector<float>& values, const SceneView& view) {
  constexpr float kMaxGrey = 65535;
  float highest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) highest = std::max(highest, value);
  }
  const float step = highest > 0 ? highest / kMaxGrey : 1;
  std::vector<uint16_t> grey(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const float steps = std::isfinite(values[i]) ? values[i] / step + 0.5F : 0;
    grey[i] = static_cast<uint16_t>(std::clamp(steps, 0.0F, kMaxGrey));
  }
  return {std::move(name), encode_png_grey16(grey, view.image.width, view.image.height), step};
}

ordered_json median(const std::vector<float>& values) {
  const std::optional<double> middle = median_of_finite(values);
  return middle ? ordered_json(seven_digits(*middle)) : ordered_json(nullptr);
}

ordered_json mean(const std::vector<float>& values) {
  if (values.empty()) return nullptr;
  const double sum = std::transform_reduce(values.begin(), values.end(), 0.0, std::plus<>(), [](float value) { return double{value}; });
  return seven_digits(sum / static_cast<double>(values.size()));
}

ordered_json summary_of(const SceneView& view, bool is_vggt) {
  return {{"shape", {view.image.height, view.image.width, 3}},
          {"z_median", is_vggt ? median(view.depth) : median(z_of(view))},
          {"conf_mean", mean(view.confidence)}};
}

// Photo to network: x_network = x_photo * scale + pad, for positions from the left edge (half-pixel centres).
ordered_json preprocess_of(const ViewTransform& t) {
  return {{"orig_w", t.oriented_width()},
          {"orig_h", t.oriented_height()},
          {"resized_w", static_cast<int>(std::lround(t.oriented_width() / t.scale_x))},
          {"resized_h", static_cast<int>(std::lround(t.oriented_height() / t.scale_y))},
          {"scale_x", seven_digits(1 / t.scale_x)},
          {"scale_y", seven_digits(1 / t.scale_y)},
          {"pad_left", seven_digits(0 - t.offset_x / t.scale_x)},
          {"pad_top", seven_digits(0 - t.offset_y / t.scale_y)}};
}

template <size_t kColumns>
ordered_json rows_of(std::span<const float> values) {
  ordered_json rows = ordered_json::array();
  for (size_t i = 0; i < values.size(); i += kColumns) {
    rows.push_back(ordered_json::array());
    for (const float value : values.subspan(i, kColumns)) rows.back().push_back(seven_digits(value));
  }
  return rows;
}

// Degrees between two cameras.
double rotation_between(const Camera& first, const Camera& second) {
  return rotation_angle_deg(compose(inverse(first.world_from_cam), second.world_from_cam));
}

ordered_json pose_of(const Reconstruction& run) {
  ordered_json pose;
  const std::vector<SceneView>& views = run.scene.views;
  const bool is_pair = views.size() >= 2;
  pose["rotation_angle_deg"] = nullptr;
  if (is_pair) pose["rotation_angle_deg"] = seven_digits(rotation_between(*views[0].camera, *views[1].camera));
  pose["extrinsic"] = pose["intrinsic"] = ordered_json::array();
  for (const SceneView& view : views) {
    pose["extrinsic"].push_back(rows_of<4>(extrinsic_of(*view.camera)));
    pose["intrinsic"].push_back(rows_of<3>(intrinsic_of(*view.camera)));
  }
  pose["f1"] = seven_digits(views[0].camera->network.fx);
  pose["f2"] = nullptr;
  if (is_pair) pose["f2"] = seven_digits(views[1].camera->network.fx);
  if (const auto& report = run.report.pose) {
    pose["mode"] = pose_mode_name(report->mode);
    pose["status"] = report->status;
    pose["reason"] = report->reason;
    pose["num_inliers"] = report->num_inliers;
  }
  return pose;
}

}  // namespace

double seven_digits(double x) {
  if (!std::isfinite(x)) return x;
  char text[32];
  std::snprintf(text, sizeof(text), "%.7g", x);
  return std::strtod(text, nullptr);
}

std::string predict_npz(const Scene& scene, const ServedModel& model, bool compress) {
  CameraMatrices matrices;
  return encode_npz(items_of(scene, model, matrices), compress ? kDeflateLevel : 0);
}

NpzPieces predict_npz_in_pieces(const Scene& scene, const ServedModel& model) {
  const auto matrices = std::make_shared<CameraMatrices>();
  NpzPieces pieces = encode_npz_in_pieces(items_of(scene, model, *matrices));
  pieces.memory.push_back(matrices);
  return pieces;
}

std::vector<NamedPng> predict_pngs(const Scene& scene, const ServedModel& model) {
  std::vector<std::future<NamedPng>> encoding;
  const bool is_vggt = model.is_vggt();
  // A view at a time: two pictures each for however many views must not become that many threads.
  std::vector<NamedPng> pngs;
  constexpr size_t kAtATime = 4;
  for (size_t i = 0; i < 2 * scene.views.size(); ++i) {
    encoding.push_back(std::async(std::launch::async, [&view = scene.views[i / 2], i, is_vggt] {
      const std::string number = std::to_string(i / 2 + 1);
      if (i % 2 == 0) return grey_png("depth" + number, depth_of(view, is_vggt), view);
      return grey_png("conf" + number, is_vggt ? view.depth_confidence : view.confidence, view);
    }));
    if (encoding.size() == kAtATime || i + 1 == 2 * scene.views.size()) {
      for (std::future<NamedPng>& png : encoding) pngs.push_back(png.get());
      encoding.clear();
    }
  }
  return pngs;
}

ordered_json predict_facts(const Reconstruction& run, const ServedModel& model, bool with_pose) {
  ordered_json views = ordered_json::array(), preprocess = ordered_json::array();
  const bool is_vggt = model.is_vggt();
  // Every second view on a thread of its own: the summaries read all of the maps.
  for (size_t i = 0; i < run.scene.views.size(); i += 2) {
    const SceneView& view = run.scene.views[i];
    std::future<ordered_json> next;
    if (i + 1 < run.scene.views.size()) {
      next = std::async(std::launch::async, [&other = run.scene.views[i + 1], is_vggt] { return summary_of(other, is_vggt); });
    }
    views.push_back(summary_of(view, is_vggt));
    if (next.valid()) views.push_back(next.get());
  }
  for (const SceneView& view : run.scene.views) preprocess.push_back(preprocess_of(view.transform));
  ordered_json facts = {{"model", model.name}, {"summary", {{"views", std::move(views)}}}, {"preprocess", std::move(preprocess)}};
  if (with_pose) facts["pose"] = pose_of(run);
  if (!run.report.notes.empty()) facts["notes"] = run.report.notes;
  return facts;
}

ordered_json predict_timing(const std::vector<StageTime>& stages, double decode_ms) {
  double preprocess_ms = 0, forward_ms = 0;
  for (const StageTime& stage : stages) {
    (stage.stage == "decode" ? decode_ms : stage.stage == "prepare" ? preprocess_ms : forward_ms) += stage.ms;
  }
  return {{"decode", seven_digits(decode_ms)}, {"preprocess", seven_digits(preprocess_ms)}, {"forward", seven_digits(forward_ms)}};
}

}  // namespace pointmap::server
