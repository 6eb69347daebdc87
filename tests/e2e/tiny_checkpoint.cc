#include "tiny_checkpoint.h"

#include <fstream>
#include <sstream>

#include "io/safetensors/safetensors_writer.h"
#include "nn/synthetic_weights.h"

namespace pointmap {

const char* const kTinyConfig = R"({"output_mode": "pts3d", "head_type": "dpt", "depth_mode": ["exp", -Infinity, Infinity],
  "conf_mode": ["exp", 1, Infinity], "freeze": "none", "landscape_only": false, "patch_embed_cls": "PatchEmbedDust3R",
  "enc_depth": 3, "dec_depth": 12, "enc_embed_dim": 128, "dec_embed_dim": 64, "enc_num_heads": 4, "dec_num_heads": 2,
  "pos_embed": "RoPE100", "img_size": [512, 512]})";

std::vector<NamedTensor> tiny_tensors() {
  std::vector<NamedTensor> tensors;
  std::ifstream lines(std::string(POINTMAP_SOURCE_DIR) + "/tests/golden/dust3r_tiny.names.tsv");
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    NamedTensor tensor{.name = line.substr(0, tab), .shape = {}, .values = {}, .bf16 = {}};
    if (tensor.name.find(".layer_rn.") != std::string::npos) continue;
    std::vector<int64_t> dims;
    std::istringstream numbers(line.substr(tab + 1));
    for (std::string number; std::getline(numbers, number, ',');) dims.push_back(std::stoll(number));
    tensor.shape = Shape(dims);
    const SyntheticRule rule = synthetic_rule(tensor.name, tensor.shape);
    for (int64_t i = 0; i < tensor.shape.num_elements(); ++i) tensor.values.push_back(synthetic_value(rule, static_cast<uint64_t>(i)));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void write_checkpoint(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors, DType dtype) {
  std::vector<NamedTensorView> views;
  for (const NamedTensor& t : tensors) {
    const void* data = dtype == DType::kF32 ? static_cast<const void*>(t.values.data()) : t.bf16.data();
    views.push_back({t.name, TensorView(data, dtype, t.shape)});
  }
  write_safetensors(path, views);
}

}  // namespace pointmap
