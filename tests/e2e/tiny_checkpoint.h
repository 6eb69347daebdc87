// The small DPT model of the golden data as checkpoint files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pointmap {

// As upstream writes it, infinities and all.
extern const char* const kTinyConfig;

struct NamedTensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
  std::vector<uint16_t> bf16;  // the same, when a test made them so
};

// Every tensor of the model's state dict with its synthetic values; aliases left out, as safetensors files leave them.
std::vector<NamedTensor> tiny_tensors();

void write_checkpoint(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors, DType dtype = DType::kF32);

}  // namespace pointmap
