#include "golden_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace pointmap {
namespace {

uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

uint64_t fnv1a_64(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

// Where the file's element `index` lies in our tensor. Maps are (B, C, H, W) there and [B, H, W, C] here; all else is the same.
int64_t our_index(int64_t index, const Shape& theirs, const Shape& ours) {
  if (theirs == ours) return index;
  const int64_t channels = theirs[1], height = theirs[2], width = theirs[3];
  const int64_t x = index % width;
  const int64_t y = index / width % height;
  const int64_t c = index / (width * height) % channels;
  const int64_t b = index / (width * height * channels);
  return ((b * height + y) * width + x) * channels + c;
}

}  // namespace

GoldenFile::GoldenFile(const std::string& path) : npz_(NpzFile::read(path)) {
  const nlohmann::json meta = nlohmann::json::parse(npz_.array("meta_json").text());
  for (const auto& [stage, info] : meta.items()) {
    if (!info.contains("torch_fp32_rms_err")) continue;
    stages_[stage] = {.shape = info.at("shape").get<std::vector<int64_t>>(),
                      .torch_rms = info.at("torch_fp32_rms_err").get<double>(),
                      .torch_max = info.at("torch_fp32_max_err").get<double>()};
  }
}

std::vector<std::string> GoldenFile::stages() const {
  std::vector<std::string> names;
  for (const auto& [name, info] : stages_) names.push_back(name);
  return names;
}

StageError GoldenFile::compare(std::string_view stage, TensorView ours) const {
  const auto found = stages_.find(stage);
  POINTMAP_CHECK(found != stages_.end(), "golden file has no stage '" + std::string(stage) + "'");
  const StageInfo& info = found->second;
  const Shape theirs{std::span<const int64_t>(info.shape)};
  const bool transposed = theirs.rank() == 4 && !(theirs == ours.shape());
  POINTMAP_CHECK(theirs == ours.shape() || (transposed && ours.shape() == Shape{theirs[0], theirs[2], theirs[3], theirs[1]}),
                 "stage '" + std::string(stage) + "': ours is " + ours.shape().to_string() + ", golden " + theirs.to_string());
  const bool sampled = !npz_.has(stage);
  const std::string array_name = (sampled ? "sample:" : "") + std::string(stage);
  const std::span<const float> truth = npz_.array(array_name).as<float>();
  const uint64_t seed = fnv1a_64(stage);
  const auto count = static_cast<uint64_t>(theirs.num_elements());
  StageError error{.stage = std::string(stage), .torch_rms = info.torch_rms, .torch_max = info.torch_max};
  double sum_of_squares = 0;
  for (size_t j = 0; j < truth.size(); ++j) {
    const uint64_t index = sampled ? splitmix64(seed + j) % count : j;
    const float value = ours.data<float>()[our_index(static_cast<int64_t>(index), theirs, ours.shape())];
    const double difference = std::abs(static_cast<double>(value) - static_cast<double>(truth[j]));
    // NaN must not pass as "not larger".
    error.max = difference <= error.max ? error.max : difference;
    sum_of_squares += difference * difference;
  }
  error.rms = std::sqrt(sum_of_squares / static_cast<double>(truth.size()));
  return error;
}

}  // namespace pointmap
