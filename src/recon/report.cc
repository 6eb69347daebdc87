#include "pointmap/report.h"

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "geometry/view_transform.h"
#include "scene/scene_meta.h"

namespace pointmap {
namespace {

using nlohmann::ordered_json;

ordered_json model_json(const ModelInfo& model) {
  return {{"name", model.name},
          {"family", model.family},
          {"path", model.path},
          {"hash", model.fingerprint},
          {"dtype", model.dtype},
          {"license", model.license},
          {"parameters", model.num_parameters},
          {"tensors", model.num_tensors}};
}

ordered_json pose_json(const std::optional<PoseReport>& pose) {
  if (!pose) return nullptr;
  return {{"mode", pose_mode_name(pose->mode)},
          {"status", pose->status},
          {"reason", pose->reason},
          {"rotation_deg", pose->rotation_deg},
          {"points", pose->num_points},
          {"inliers", pose->num_inliers},
          {"focal_px", pose->focal_px},
          {"from_exchanged_views", pose->from_exchanged_views},
          {"notes", pose->notes}};
}

ordered_json known_json(const KnownReport& known) {
  return {{"intrinsics", known.num_intrinsics}, {"shared_intrinsics", known.shared_intrinsics},
          {"masks", known.num_masks},           {"poses", known.num_poses},
          {"scale_from", known.scale_from},     {"scale_status", known.scale_status},
          {"scale_reason", known.scale_reason}, {"scale_factor", known.scale_factor}};
}

ordered_json stages_json(const RunReport& report) {
  ordered_json stages = ordered_json::array();
  for (const StageTime& stage : report.stages) stages.push_back({{"stage", stage.stage}, {"ms", stage.ms}});
  return stages;
}

ordered_json views_json(const Scene& scene) {
  ordered_json views = ordered_json::array();
  for (const SceneView& view : scene.views) {
    views.push_back({{"source", view.source}, {"status", view.status}});
    if (!view.reason.empty()) views.back()["reason"] = view.reason;
    if (view.image.rgb.empty()) continue;  // skipped
    views.back()["transform"] = ordered_json::parse(transform_json(view.transform));
    if (view.camera) views.back()["camera"] = ordered_json::parse(camera_json(*view.camera, view.transform));
  }
  return views;
}

ordered_json files_json(const std::vector<ExportedFile>& files) {
  ordered_json list = ordered_json::array();
  for (const ExportedFile& file : files) {
    ordered_json entry = {{"path", file.path.string()}, {"format", export_format_name(file.format)}, {"bytes", file.bytes}};
    if (file.num_total > 0) {
      entry["points"] = file.num_kept;
      entry["pixels"] = file.num_total;
    }
    if (file.points != PointSource::kAuto) entry["points_from"] = file.points == PointSource::kDepth ? "depth" : "head";
    if (!file.convention.empty()) entry["convention"] = file.convention;
    if (file.depth_scale > 0) entry["depth_scale"] = file.depth_scale;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::string report_json(const ModelInfo& model, const Reconstruction& run, const std::vector<ExportedFile>& files) {
  const RunReport& report = run.report;
  const ordered_json json = {
      {"versions", {{"pointmap", version()}, {"compiler", compiler()}, {"report_format", 2}}},
      {"model", model_json(model)},
      {"settings", {{"preset", report.preset}, {"precision", report.precision}, {"threads", report.num_threads}}},
      {"device", {{"kernels", report.device}, {"cpu", report.cpu}}},
      {"stages", stages_json(report)},
      {"total_ms", report.total_ms()},
      {"encoded_views", report.num_encoded},
      {"memory",
       {{"predicted_bytes", report.predicted_bytes},
        {"weights_bytes", report.weights_bytes},
        {"activations_bytes", report.activations_bytes},
        {"peak_resident_bytes", report.peak_resident_bytes}}},
      {"views", views_json(run.scene)},
      {"pose", pose_json(report.pose)},
      {"known", known_json(report.known)},
      {"frame", world_description(run.scene) + "; x right, y down, z forward; " + scale_description(run.scene)},
      {"scale", {{"metric", run.scene.scale.is_metric}, {"source", run.scene.scale.source}}},
      {"camera_convention", camera_convention(run.scene)},
      {"files", files_json(files)},
      {"notes", report.notes},
  };
  // File names are bytes and may be no UTF-8: such bytes are replaced rather than losing the report.
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_report(const std::string& json, const std::filesystem::path& folder) {
  write_file(folder / "report.json", json + "\n");
}

}  // namespace pointmap
