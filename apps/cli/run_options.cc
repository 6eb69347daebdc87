#include "run_options.h"

#include <iostream>

#include "pointmap/models.h"

namespace pointmap::cli {

void add_model_option(CLI::App& command, std::string& model) {
  command.add_option("-m,--model", model,
                     "A file or folder, hf:ORG/NAME[@REV], a short name (dust3r), demo (small, in this program), or synthetic:NAME; "
                     "default: dust3r when it was fetched, else demo");
}

std::string model_or_default(const std::string& model, bool quiet) {
  if (!model.empty()) return model;
  const DefaultModel chosen = default_model();
  if (!quiet) std::cerr << chosen.notice << "\n";
  return chosen.name;
}

void add_preset_option(CLI::App& command, std::string& preset) {
  command.add_option("--preset", preset, "How photos become the network's input; keep follows the size the model was trained on")
      ->check(CLI::IsMember({"keep", "dust3r", "dust3r224", "pad512", "vggt_crop", "vggt_pad", "pad518"}))
      ->capture_default_str();
}

void add_pose_mode_option(CLI::App& command, std::string& pose_mode) {
  command
      .add_option("--pose-mode", pose_mode,
                  "raw: points as the network gave them; reprojected: on the rays of the cameras; "
                  "upstream: as upstream's pair viewer, the more confident direction (a fourth head); "
                  "aligned: from points instead of rays, for rough models (a fourth head); auto: aligned for demo, else raw")
      ->check(CLI::IsMember({"auto", "raw", "reprojected", "upstream", "aligned"}))
      ->capture_default_str();
}

std::optional<PoseMode> pose_mode_or_default(const std::string& pose_mode) {
  return pose_mode == "auto" ? std::nullopt : std::optional(parse_pose_mode(pose_mode));
}

void add_threads_option(CLI::App& command, int& num_threads) {
  command.add_option("--threads", num_threads, "Threads; 0 is all cores. Results do not depend on it")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

void add_percentile_option(CLI::App& command, double& percentile) {
  command
      .add_option("--conf-percentile", percentile,
                  "Leave out points below this percentile of confidence (ply, glb, picture, colmap; html starts with it)")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
}

void add_points_option(CLI::App& command, std::string& points) {
  command
      .add_option("--points", points,
                  "Points of ply, glb, picture, colmap and html. head: as the network's head for points gave them; depth: from depth and "
                  "camera, as upstream VGGT "
                  "shows them; auto: depth for VGGT, head for DUSt3R")
      ->check(CLI::IsMember({"auto", "head", "depth"}))
      ->capture_default_str();
}

}  // namespace pointmap::cli
