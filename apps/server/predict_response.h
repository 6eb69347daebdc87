// What POST /predict and /predict_npz answer with: arrays, pictures and the facts beside them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/server/model_set.h"
#include "pointmap/encode.h"
#include "pointmap/pointmap.h"

namespace pointmap::server {

// DUSt3R: pts3d_1, pts3d_2 [H, W, 3] float32 and conf_1, conf_2 [H, W] float16. VGGT, S views stacked under upstream's names:
// world_points [S, H, W, 3], world_points_conf [S, H, W], depth [S, H, W, 1], depth_conf [S, H, W] float16, pose_enc [S, 9],
// extrinsic [S, 3, 4] (camera from world), intrinsic [S, 3, 3] (network pixels) float32.
std::string predict_npz(const Scene& scene, const ServedModel& model, bool compress);
// The same stored archive, whose pieces refer to the scene.
NpzPieces predict_npz_in_pieces(const Scene& scene, const ServedModel& model);

struct NamedPng {
  std::string name;  // "depth1"
  std::string png;   // 16-bit grey
  double scale = 0;  // value * scale is the depth or the confidence; value 0 of a depth: none
};
// depth1, conf1, depth2, ... of all views, encoded at the same time. Depth: of DUSt3R the z of pts3d, of VGGT its depth.
std::vector<NamedPng> predict_pngs(const Scene& scene, const ServedModel& model);

// summary, preprocess and, when asked for, pose: see docs/serving.md.
nlohmann::ordered_json predict_facts(const Reconstruction& run, const ServedModel& model, bool with_pose);

// decode, preprocess and forward of a run's stages, in ms; `decode_ms` is what the server spent before.
nlohmann::ordered_json predict_timing(const std::vector<StageTime>& stages, double decode_ms);

// x to seven digits, which is what a float holds: shorter to send.
double seven_digits(double x);

}  // namespace pointmap::server
