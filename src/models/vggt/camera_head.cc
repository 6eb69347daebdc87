#include "models/vggt/camera_head.h"

#include <limits>

#include "nn/constant_row.h"

namespace pointmap {
namespace {

constexpr int64_t kPoseSize = 9;  // translation, quaternion, two fields of view

// What is shown of a pose: the fields of view are not negative. What is fed back keeps its sign.
Tensor activated(Ops& ops, TensorView pose) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  return ops.at_least(pose, constant_row(ops, {kNone, kNone, kNone, kNone, kNone, kNone, kNone, 0, 0}));
}

}  // namespace

CameraHead::CameraHead(const WeightScope& w, const VggtConfig& config)
    : config_(config),
      token_norm(w["token_norm"], 2 * config.embed_dim, config.norm_eps),
      empty_pose_tokens(w.tensor("empty_pose_tokens", {1, 1, kPoseSize})),
      embed_pose(w["embed_pose"], kPoseSize, 2 * config.embed_dim),
      poseLN_modulation(w["poseLN_modulation.1"], 2 * config.embed_dim, 6 * config.embed_dim),
      trunk_norm(w["trunk_norm"], 2 * config.embed_dim, config.norm_eps),
      pose_branch_fc1(w["pose_branch.fc1"], 2 * config.embed_dim, config.embed_dim),
      pose_branch_fc2(w["pose_branch.fc2"], config.embed_dim, kPoseSize) {
  trunk.reserve(static_cast<size_t>(config.camera_depth));
  for (int64_t i = 0; i < config.camera_depth; ++i) trunk.emplace_back(w["trunk"][i], config.camera_block());
}

// gate (normalized (1 + scale) + shift) + tokens, [S, 2C], where shift, scale and gate follow from the pose [S, 9].
Tensor CameraHead::modulated(Ops& ops, TensorView tokens, TensorView normalized, TensorView pose) const {
  const int64_t dim = 2 * config_.embed_dim;
  const Tensor embedded = embed_pose.forward(ops, pose, {.activation = Activation::kSilu});
  const Tensor modulation = poseLN_modulation.forward(ops, embedded);  // [S, 3 * 2C]
  const TensorView shift = modulation.view().slice_last(0, dim);
  const TensorView scale = modulation.view().slice_last(dim, 2 * dim);
  const TensorView gate = modulation.view().slice_last(2 * dim, 3 * dim);
  const Tensor x = ops.add(ops.multiply_add(normalized, scale, shift), normalized);
  return ops.multiply_add(x, gate, tokens);
}

Tensor CameraHead::forward(Ops& ops, TensorView tokens, const Progress& progress) const {
  const int64_t num_frames = tokens.shape()[0], dim = 2 * config_.embed_dim;
  const Tensor normed = token_norm.forward(ops, tokens);  // [S, 2C], the same in every iteration
  const Tensor ones = constant_row(ops, std::vector<float>(static_cast<size_t>(dim), 1.0f));
  const Tensor zeros = constant_row(ops, std::vector<float>(static_cast<size_t>(dim), 0.0f));
  const Tensor normalized = ops.layer_norm(normed, ones, zeros, config_.camera_adaptive_norm_eps);

  const TensorView start = empty_pose_tokens.view().reshape({1, kPoseSize});
  Tensor pose = ops.concat_first(std::vector<TensorView>(static_cast<size_t>(num_frames), start));  // [S, 9]
  for (int64_t i = 0; i < config_.camera_iterations; ++i) {
    progress.step("camera head", static_cast<int>(i), static_cast<int>(config_.camera_iterations));
    Tensor x = modulated(ops, normed, normalized, pose).reshaped({1, num_frames, dim});
    for (const TransformerBlock& block : trunk) x = block.forward(ops, x, nullptr);
    const Tensor hidden = pose_branch_fc1.forward(ops, trunk_norm.forward(ops, x), {.activation = Activation::kGelu});
    Tensor delta = pose_branch_fc2.forward(ops, hidden).reshaped({num_frames, kPoseSize});
    pose = i == 0 ? std::move(delta) : ops.add(pose, delta);  // the start is not part of the sum
    ops.probe(activated(ops, pose), "pose_enc.", i);
  }
  return activated(ops, pose);
}

}  // namespace pointmap
