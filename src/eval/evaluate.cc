#include "eval/evaluate.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "eval/mean_pointmap.h"
#include "eval/pair_errors.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

// What must be remembered of a scene for the baseline that needs all of them: its truth can be made again.
struct EvaluatedScene {
  SceneFolder folder;
  std::array<ViewTransform, 2> views;
};

RigidTransform cam1_from_cam2(const std::vector<ViewTruth>& truth) {
  return compose(inverse(truth[0].world_from_cam), truth[1].world_from_cam);
}

TruthMaps truth_maps(const std::vector<ViewTruth>& truth, const std::array<ViewTransform, 2>& views) {
  return {.in_cam1 = {true_points(truth[0], views[0], {}), true_points(truth[1], views[1], cam1_from_cam2(truth))},
          .second_in_cam2 = true_points(truth[1], views[1], {})};
}

PairCameras true_cameras(const std::vector<ViewTruth>& truth) {
  return {.cam1_from_cam2 = cam1_from_cam2(truth), .focal_px = {truth[0].intrinsics.fx, truth[1].intrinsics.fx}};
}

void add_errors_of_run(EvalMetrics& errors, const Scene& scene, const PairCameras& truth) {
  const std::optional<Camera>& first = scene.views[0].camera;
  const std::optional<Camera>& second = scene.views[1].camera;
  if (!first || !second) return;
  add_camera_errors(errors,
                    {.cam1_from_cam2 = compose(inverse(first->world_from_cam), second->world_from_cam),
                     .focal_px = {first->original.fx, second->original.fx}},
                    truth);
}

PairGrids predicted_grids(const Scene& scene) {
  return {predicted_points(scene.views[0]), predicted_points(scene.views[1])};
}

size_t count_points(const PointGrid& grid) {
  size_t count = 0;
  for (size_t i = 0; i < grid.num_pixels(); ++i) count += grid.has(i) ? 1 : 0;
  return count;
}

class Evaluation {
 public:
  Evaluation(const RunPair& run_pair, const EvalOptions& options) : run_pair_(run_pair), options_(options) {}

  void add_scene(const SceneFolder& folder, const std::string& name);
  // After the last scene.
  void add_mean_pointmap();
  EvalResult take_result();

 private:
  Reconstruction run(const fs::path& first, const fs::path& second) const;
  void add_same_view(EvalScene& scene, const SceneFolder& folder, const TruthMaps& truth, const PairCameras& cameras) const;

  const RunPair& run_pair_;
  const EvalOptions& options_;
  EvalResult result_;
  std::vector<EvaluatedScene> evaluated_;
  MeanPointmap mean_pointmap_;
};

Reconstruction Evaluation::run(const fs::path& first, const fs::path& second) const {
  const std::vector<Photo> photos = {{.name = first.string(), .bytes = {}}, {.name = second.string(), .bytes = {}}};
  Reconstruction run = run_pair_(photos, {.preset = options_.preset,
                                          .pose = true,
                                          .pose_mode = options_.pose_mode,
                                          .progress = {.on_step = {}, .cancel = options_.progress.cancel}});
  POINTMAP_CHECK(run.scene.views.size() == 2, "a pair became " + std::to_string(run.scene.views.size()) + " views");
  return run;
}

void Evaluation::add_scene(const SceneFolder& folder, const std::string& name) {
  const std::vector<ViewTruth> truth = read_truth(folder, 2);
  const Reconstruction run = this->run(folder.photos[0], folder.photos[1]);
  const std::array<ViewTransform, 2> views = {run.scene.views[0].transform, run.scene.views[1].transform};
  for (size_t v = 0; v < 2; ++v) {
    if (truth[v].width == views[v].oriented_width() && truth[v].height == views[v].oriented_height()) continue;
    throw Error{kCorruptData, "'" + folder.truth.string() + "': depth_" + std::to_string(v + 1) + " is " + std::to_string(truth[v].width) +
                                  "x" + std::to_string(truth[v].height) + ", the photo '" + folder.photos[v].string() + "' " +
                                  std::to_string(views[v].oriented_width()) + "x" + std::to_string(views[v].oriented_height())};
  }
  const TruthMaps maps = truth_maps(truth, views);
  EvalScene scene;
  scene.folder = name;
  scene.run_ms = run.report.total_ms();
  for (size_t v = 0; v < 2; ++v) {
    scene.num_pixels[v] = count_points(maps.in_cam1[v]);
    if (scene.num_pixels[v] > 0) continue;
    throw Error{kCorruptData, "'" + folder.truth.string() + "': depth_" + std::to_string(v + 1) + " is nowhere above 0 in the picture"};
  }
  const PairGrids prediction = predicted_grids(run.scene);
  const PairCameras cameras = true_cameras(truth);
  scene.scale = scale_of(prediction, maps.in_cam1);
  scene.pose_status = run.report.pose ? run.report.pose->status : "";
  scene.errors.model = point_errors(prediction, maps.in_cam1, scene.scale);
  add_errors_of_run(scene.errors.model, run.scene, cameras);
  if (options_.baselines) {
    scene.errors.identity_pose.rotation_deg = rotation_angle_deg(cameras.cam1_from_cam2);
    add_same_view(scene, folder, maps, cameras);
    mean_pointmap_.add(maps);
    evaluated_.push_back({.folder = folder, .views = views});
  }
  result_.model = run.scene.model;
  result_.model_hash = run.scene.model_hash;
  result_.scenes.push_back(std::move(scene));
}

void Evaluation::add_same_view(EvalScene& scene, const SceneFolder& folder, const TruthMaps& truth, const PairCameras& cameras) const {
  const Reconstruction run = this->run(folder.photos[0], folder.photos[0]);
  const PairGrids prediction = predicted_grids(run.scene);
  EvalMetrics& errors = scene.errors.same_view;
  errors = point_errors(prediction, truth.in_cam1, scale_of(prediction, truth.in_cam1));
  add_errors_of_run(errors, run.scene, cameras);
}

void Evaluation::add_mean_pointmap() {
  for (size_t i = 0; i < evaluated_.size(); ++i) {
    if (options_.progress.cancel != nullptr) options_.progress.cancel->throw_if_requested();
    const auto& [folder, views] = evaluated_[i];
    const std::vector<ViewTruth> truth = read_truth(folder, 2);
    const TruthMaps own = truth_maps(truth, views);
    const std::optional<TruthMaps> mean = mean_pointmap_.without(own);
    if (!mean) continue;
    EvalMetrics& errors = result_.scenes[i].errors.mean_pointmap;
    errors = point_errors(mean->in_cam1, own.in_cam1, scale_of(mean->in_cam1, own.in_cam1));
    PairCameras cameras = cameras_of(*mean);
    for (size_t v = 0; v < 2; ++v) cameras.focal_px[v] *= views[v].scale_x;  // network pixels to the photo's
    add_camera_errors(errors, cameras, true_cameras(truth));
  }
}

EvalResult Evaluation::take_result() {
  result_.preset = options_.preset;
  result_.median = median_rows(result_.scenes);
  result_.mean = mean_rows(result_.scenes);
  return std::move(result_);
}

}  // namespace

EvalResult evaluate_scenes(const RunPair& run_pair, const fs::path& folder, const EvalOptions& options) {
  std::vector<fs::path> paths = find_scene_folders(folder);
  if (options.limit > 0 && paths.size() > options.limit) paths.resize(options.limit);
  std::vector<SceneFolder> scenes;  // all are looked at before the first is run: what is wrong shows at once
  scenes.reserve(paths.size());
  for (const fs::path& path : paths) scenes.push_back(read_scene_folder(path));
  Evaluation evaluation(run_pair, options);
  const int total = static_cast<int>(scenes.size());
  for (size_t i = 0; i < scenes.size(); ++i) {
    options.progress.step("scene", static_cast<int>(i), total);
    evaluation.add_scene(scenes[i], scenes[i].folder.lexically_relative(folder).string());
  }
  if (options.baselines) evaluation.add_mean_pointmap();
  options.progress.step("scene", total, total);
  return evaluation.take_result();
}

}  // namespace pointmap
