#include "models/vggt/aggregator.h"

#include <algorithm>
#include <utility>

#include "models/vggt/frame_order.h"
#include "nn/constant_row.h"

namespace pointmap {
namespace {

// Of ImageNet's pixels in [0, 1]: (x - mean) / std as x * (1 / std) - mean / std. Not in checkpoints.
Tensor imagenet_normalized(Ops& ops, TensorView image) {
  const Tensor scale = constant_row(ops, {1 / 0.229, 1 / 0.224, 1 / 0.225});
  const Tensor shift = constant_row(ops, {-0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225});
  return ops.multiply_add(image, scale, shift);
}

void check_images(std::span<const TensorView> images) {
  POINTMAP_CHECK(!images.empty(), "aggregator: no images");
  for (const TensorView& image : images) {
    const Shape& shape = image.shape();
    POINTMAP_CHECK(shape.rank() == 4 && shape[0] == 1 && shape[3] == 3 && shape == images[0].shape(),
                   "aggregator: got images " + images[0].shape().to_string() + " and " + shape.to_string() +
                       ", want [1, H, W, 3] and all of one size");
  }
}

}  // namespace

Tensor Aggregated::tokens(Ops& ops, size_t level, int64_t frame, int64_t begin, int64_t end) const {
  const int64_t place = places.at(static_cast<size_t>(frame));
  const auto rows = [&](const Tensor& half) {
    return half.view().slice_first(place, place + 1).reshape({half.shape()[1], half.shape()[2]}).slice_first(begin, end);
  };
  return ops.concat_last(rows(levels.at(level).frame), rows(levels.at(level).global));
}

Tensor Aggregated::patch_tokens(Ops& ops, size_t level, int64_t frame) const {
  return tokens(ops, level, frame, num_special_tokens, num_special_tokens + grid.num_patches());
}

Tensor Aggregated::camera_token(Ops& ops, int64_t frame) const {
  return tokens(ops, levels.size() - 1, frame, 0, 1);
}

Aggregator::Aggregator(const WeightScope& w, const VggtConfig& config)
    : config_(config),
      camera_token(w.tensor("camera_token", {1, 2, 1, config.embed_dim})),
      register_token(w.tensor("register_token", {1, 2, config.num_register_tokens, config.embed_dim})),
      patch_embed(w["patch_embed"], config) {
  frame_blocks.reserve(static_cast<size_t>(config.depth));
  global_blocks.reserve(static_cast<size_t>(config.depth));
  for (int64_t i = 0; i < config.depth; ++i) frame_blocks.emplace_back(w["frame_blocks"][i], config.aggregator_block());
  for (int64_t i = 0; i < config.depth; ++i) global_blocks.emplace_back(w["global_blocks"][i], config.aggregator_block());
}

Tensor Aggregator::tokens(Ops& ops, std::span<const TensorView> images, const Progress& progress) const {
  const int64_t dim = config_.embed_dim, num_registers = config_.num_register_tokens;
  const PatchGrid grid = patch_embed.grid_of(images[0]);
  const Dino::Embedding embedding = patch_embed.embedding(ops, grid);
  std::vector<Tensor> patches;
  std::vector<TensorView> parts;
  patches.reserve(images.size());
  parts.reserve(3 * images.size());
  for (size_t s = 0; s < images.size(); ++s) {
    patches.push_back(
        patch_embed.forward(ops, imagenet_normalized(ops, images[s]), embedding, progress, {.index = s, .count = images.size()}));
    ops.probe(patches.back(), "patch_tokens");
    const int64_t kind = s == 0 ? 0 : 1;  // the frame of reference, or any other
    parts.push_back(camera_token.view().reshape({2, dim}).slice_first(kind, kind + 1));
    parts.push_back(register_token.view().reshape({2 * num_registers, dim}).slice_first(kind * num_registers, (kind + 1) * num_registers));
    parts.push_back(patches.back());
  }
  const auto num_frames = static_cast<int64_t>(images.size());
  return ops.concat_first(parts).reshaped({num_frames, config_.num_special_tokens() + grid.num_patches(), dim});
}

Aggregated Aggregator::forward(Ops& ops, std::span<const TensorView> images, const Progress& progress) const {
  check_images(images);
  const std::vector<size_t> order = frame_order(ops, images);
  std::vector<TensorView> ordered;
  ordered.reserve(order.size());
  for (const size_t frame : order) ordered.push_back(images[frame]);
  Aggregated result{.grid = patch_embed.grid_of(images[0]),
                    .num_frames = static_cast<int64_t>(images.size()),
                    .num_special_tokens = config_.num_special_tokens(),
                    .places = std::vector<int64_t>(images.size()),
                    .levels = {}};
  for (size_t place = 0; place < order.size(); ++place) result.places[order[place]] = static_cast<int64_t>(place);
  // Patches begin at (1, 1), so that position 0 is the special tokens' alone. The same in every frame: nothing but the first frame's
  // tokens tells frames apart.
  const RopePositions positions{.grid = result.grid, .first = 1, .num_still = result.num_special_tokens};
  const RopeTable rope = make_rope_table(ops, positions, config_.head_dim(), config_.rope_base);

  // The running tokens live in a level when a head reads them, else in `x_home` until the next block is done.
  Tensor x_home = tokens(ops, ordered, progress);
  TensorView x = x_home;  // [S, P, C]
  const Shape by_frame = x.shape(), as_sequence{1, by_frame[0] * by_frame[1], by_frame[2]};
  const int num_steps = static_cast<int>(2 * config_.depth);
  for (int64_t i = 0; i < config_.depth; ++i) {
    progress.step("aggregator", static_cast<int>(2 * i), num_steps);
    Tensor frame = frame_blocks[static_cast<size_t>(i)].forward(ops, x, &rope);
    ops.probe(frame, "frame_block_", i);
    x_home = Tensor();
    progress.step("aggregator", static_cast<int>(2 * i + 1), num_steps);
    Tensor global = global_blocks[static_cast<size_t>(i)].forward(ops, frame.view().reshape(as_sequence), &rope);
    ops.probe(global, "global_block_", i);
    const auto kept = std::ranges::find(config_.head_layers, i);
    if (kept == config_.head_layers.end()) {
      x_home = std::move(global).reshaped(by_frame);
      x = x_home;
    } else {
      TokenLevel& level = result.levels[static_cast<size_t>(kept - config_.head_layers.begin())];
      level = {.frame = std::move(frame), .global = std::move(global).reshaped(by_frame)};
      x = level.global;
    }
  }
  return result;
}

}  // namespace pointmap
