#include "recon/dust3r_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"

namespace pointmap {
namespace {

[[noreturn]] void fail(const ConfigMap& config, const std::string& key, const std::string& got, const std::string& wanted) {
  throw Error{kUnsupported, config.file_name() + ": " + key + " is " + got + ", want " + wanted};
}

void require_string(const ConfigMap& config, const std::string& key, const std::string& wanted) {
  const std::string value = config.get_string(key, wanted);
  if (value != wanted) fail(config, key, "'" + value + "'", "'" + wanted + "'");
}

// A mode such as ["exp", -Infinity, Infinity]: how raw values become depth or confidence.
void require_mode(const ConfigMap& config, const std::string& key, double low, double high) {
  if (!config.has(key)) return;
  const ConfigValue::List& mode = config.get_list(key);
  const auto number = [&](size_t i) {
    const double* value = i < mode.size() ? std::get_if<double>(&mode[i].value) : nullptr;
    return value != nullptr ? *value : std::numeric_limits<double>::quiet_NaN();
  };
  const std::string* name = !mode.empty() ? std::get_if<std::string>(&mode[0].value) : nullptr;
  if (mode.size() == 3 && name != nullptr && *name == "exp" && number(1) == low && number(2) == high) return;
  fail(config, key, "another mode", "[\"exp\", " + std::to_string(low) + ", " + std::to_string(high) + "]");
}

// "RoPE100" -> 100.
double rope_base(const ConfigMap& config) {
  const std::string value = config.get_string("pos_embed", "RoPE100");
  double base = 0;
  const char* end = value.data() + value.size();
  if (!value.starts_with("RoPE") || std::from_chars(value.data() + 4, end, base).ptr != end) {
    fail(config, "pos_embed", "'" + value + "'", "RoPE and its base, such as 'RoPE100'");
  }
  return base;
}

// [512, 512]: the longer of the two.
int64_t image_size(const ConfigMap& config, int64_t fallback) {
  const double fallback_px = static_cast<double>(fallback);
  const std::vector<double> sides = config.get_numbers("img_size", {fallback_px, fallback_px});
  if (sides.size() == 2 && sides[0] >= 1 && sides[0] <= 65536 && sides[1] >= 1 && sides[1] <= 65536) {
    return static_cast<int64_t>(std::max(sides[0], sides[1]));
  }
  fail(config, "img_size", "another list", "two sides in pixels, such as [512, 512]");
}

int64_t count_blocks(const Checkpoint& checkpoint, const std::string& prefix) {
  int64_t count = 0;
  while (checkpoint.find(prefix + std::to_string(count) + ".norm1.weight") != nullptr) ++count;
  return count;
}

}  // namespace

Dust3rConfig dust3r_config_from(const ConfigMap& config) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  require_string(config, "output_mode", "pts3d");
  require_mode(config, "depth_mode", -kInfinity, kInfinity);
  require_mode(config, "conf_mode", 1, kInfinity);
  Dust3rConfig result;
  const std::string head = config.get_string("head_type", "linear");
  if (head != "dpt" && head != "linear") fail(config, "head_type", "'" + head + "'", "'dpt' or 'linear'");
  result.head = head == "dpt" ? Dust3rConfig::Head::kDpt : Dust3rConfig::Head::kLinear;
  result.img_size = image_size(config, result.img_size);
  result.patch_size = config.get_int("patch_size", result.patch_size);
  result.enc_embed_dim = config.get_int("enc_embed_dim", result.enc_embed_dim);
  result.enc_depth = config.get_int("enc_depth", result.enc_depth);
  result.enc_num_heads = config.get_int("enc_num_heads", result.enc_num_heads);
  result.dec_embed_dim = config.get_int("dec_embed_dim", result.dec_embed_dim);
  result.dec_depth = config.get_int("dec_depth", result.dec_depth);
  result.dec_num_heads = config.get_int("dec_num_heads", result.dec_num_heads);
  result.mlp_ratio = config.get_int("mlp_ratio", result.mlp_ratio);
  result.rope_base = rope_base(config);
  result.validate();
  return result;
}

Dust3rConfig dust3r_config_from(const Checkpoint& checkpoint) {
  const SafetensorsEntry* patch = checkpoint.find("patch_embed.proj.weight");
  const SafetensorsEntry* embed = checkpoint.find("decoder_embed.weight");
  if (patch == nullptr || embed == nullptr || patch->shape.rank() != 4 || embed->shape.rank() != 2) {
    throw Error{kUnsupported,
                "'" + checkpoint.files().front().path().string() +
                    "' is not a DUSt3R checkpoint: it has no patch_embed.proj.weight and decoder_embed.weight, and there is no "
                    "config.json beside it"};
  }
  constexpr int64_t kHeadDim = 64;
  Dust3rConfig config;
  config.patch_size = patch->shape[2];
  config.enc_embed_dim = patch->shape[0];
  config.enc_depth = count_blocks(checkpoint, "enc_blocks.");
  config.enc_num_heads = config.enc_embed_dim / kHeadDim;
  config.dec_embed_dim = embed->shape[0];
  config.dec_depth = count_blocks(checkpoint, "dec_blocks.");
  config.dec_num_heads = config.dec_embed_dim / kHeadDim;
  const bool linear = checkpoint.find("downstream_head1.proj.weight") != nullptr;
  config.head = linear ? Dust3rConfig::Head::kLinear : Dust3rConfig::Head::kDpt;
  config.validate();
  return config;
}

}  // namespace pointmap
