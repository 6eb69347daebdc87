#include "golden_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "scene/compare_arrays.h"

namespace pointmap {
namespace {

// Maps are (B, C, H, W) in the files and [B, H, W, C] here; points have their coordinates last in both, and VGGT's confidences, by
// sequence and frame, have no channels. Told by the name: a cube of a map has the same shape either way.
bool is_channels_first(std::string_view stage, const Shape& theirs) {
  return theirs.rank() == 4 && !stage.starts_with("pts3d") && !stage.ends_with("_conf");
}

Shape channels_last(const Shape& s) {
  return {s[0], s[2], s[3], s[1]};
}

// Where element `index` of a (B, C, H, W) map lies in a [B, H, W, C] one.
size_t channels_last_index(size_t index, const Shape& theirs) {
  const auto channels = static_cast<size_t>(theirs[1]), height = static_cast<size_t>(theirs[2]), width = static_cast<size_t>(theirs[3]);
  const size_t x = index % width;
  const size_t y = index / width % height;
  const size_t c = index / (width * height) % channels;
  const size_t b = index / (width * height * channels);
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

bool GoldenFile::has(std::string_view stage) const {
  return stages_.contains(stage);
}

std::vector<std::string> GoldenFile::stages() const {
  std::vector<std::string> names;
  for (const auto& [name, info] : stages_) names.push_back(name);
  return names;
}

Shape GoldenFile::shape_of(std::string_view stage) const {
  const auto found = stages_.find(stage);
  POINTMAP_CHECK(found != stages_.end(), "golden file has no stage '" + std::string(stage) + "'");
  const Shape theirs{std::span<const int64_t>(found->second.shape)};
  return is_channels_first(stage, theirs) ? channels_last(theirs) : theirs;
}

StageError GoldenFile::compare(std::string_view stage, TensorView ours) const {
  const auto found = stages_.find(stage);
  POINTMAP_CHECK(found != stages_.end(), "golden file has no stage '" + std::string(stage) + "'");
  const StageInfo& info = found->second;
  const Shape theirs{std::span<const int64_t>(info.shape)};
  const bool channels_first = is_channels_first(stage, theirs);
  POINTMAP_CHECK(ours.shape() == shape_of(stage),
                 "stage '" + std::string(stage) + "': ours is " + ours.shape().to_string() + ", golden " + theirs.to_string());
  const bool sampled = !npz_.has(stage);
  const std::string array_name = (sampled ? "sample:" : "") + std::string(stage);
  const std::span<const float> truth = npz_.array(array_name).as<float>();
  const auto count = static_cast<size_t>(theirs.num_elements());
  StageError error{.stage = std::string(stage), .torch_rms = info.torch_rms, .torch_max = info.torch_max};
  double sum_of_squares = 0;
  for (size_t j = 0; j < truth.size(); ++j) {
    const size_t index = sampled ? golden_sample_index(stage, j, count) : j;
    const float value = ours.data<float>()[channels_first ? channels_last_index(index, theirs) : index];
    const double difference = std::abs(static_cast<double>(value) - static_cast<double>(truth[j]));
    // NaN must not pass as "not larger".
    error.max = difference <= error.max ? error.max : difference;
    sum_of_squares += difference * difference;
  }
  error.rms = std::sqrt(sum_of_squares / static_cast<double>(truth.size()));
  return error;
}

}  // namespace pointmap
