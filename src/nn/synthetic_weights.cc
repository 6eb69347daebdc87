#include "nn/synthetic_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/name_hash.h"

namespace pointmap {
namespace {

bool is_token(std::string_view last) {
  constexpr std::array<std::string_view, 9> kTokens = {"cls_token",         "register_tokens", "mask_token",
                                                       "pos_embed",         "camera_token",    "register_token",
                                                       "empty_pose_tokens", "query_ref_token", "virual_tracks"};
  return std::ranges::find(kTokens, last) != kTokens.end();
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

int64_t fan_in(std::string_view name, const Shape& shape) {
  constexpr std::array<std::string_view, 4> kTransposed = {".resize_layers.0.", ".resize_layers.1.", ".act_postprocess.0.1.",
                                                           ".act_postprocess.1.1."};
  const bool transposed =
      shape.rank() == 4 && std::ranges::any_of(kTransposed, [&](std::string_view part) { return contains(name, part); });
  return transposed ? shape[0] : shape.num_elements() / std::max<int64_t>(1, shape[0]);
}

double gain(std::string_view name) {
  if (contains(name, ".qkv.") || contains(name, ".projq.") || contains(name, ".projk.")) return 2;
  if (name.starts_with("downstream_head") && (name.ends_with(".dpt.head.4.weight") || name.ends_with(".proj.weight"))) return 0.15;
  return 1;
}

}  // namespace

SyntheticRule synthetic_rule(std::string_view name, const Shape& shape) {
  const std::string_view last = name.substr(name.rfind('.') + 1);  // npos + 1 = 0: the whole name
  double base = 0;
  double amp = 0.5;
  if (last == "gamma") {
    base = 0.5;
    amp = 0.2;
  } else if (shape.rank() <= 1 && last == "weight") {
    base = 1;
    amp = 0.2;
  } else if (last == "bias") {
    amp = 0.1;
  } else if (is_token(last)) {
    amp = 0.5;
  } else if (shape.rank() >= 2 && last == "weight") {
    amp = gain(name) * std::sqrt(3.0 / static_cast<double>(fan_in(name, shape)));
  }
  return {.seed = fnv1a_64(name), .base = static_cast<float>(base), .amp = static_cast<float>(amp)};
}

float synthetic_value(const SyntheticRule& rule, uint64_t index) {
  const auto u = static_cast<float>(splitmix64(rule.seed + index) >> 40);
  const float v = (u + 0.5f) * 0x1p-23f - 1.0f;
  return rule.base + rule.amp * v;
}

TensorView SyntheticWeights::load(const std::string& name, const Shape& shape) {
  const SyntheticRule rule = synthetic_rule(name, shape);
  Tensor tensor(arena_, DType::kF32, shape);
  float* values = tensor.data<float>();
  const auto count = static_cast<size_t>(shape.num_elements());
  constexpr size_t kChunk = size_t{1} << 16;
  pool_.parallel_for((count + kChunk - 1) / kChunk, [&](size_t chunk, size_t) {
    const size_t end = std::min(count, (chunk + 1) * kChunk);
    for (size_t i = chunk * kChunk; i < end; ++i) values[i] = synthetic_value(rule, i);
  });
  return loaded_.insert_or_assign(name, std::move(tensor)).first->second.view();
}

}  // namespace pointmap
