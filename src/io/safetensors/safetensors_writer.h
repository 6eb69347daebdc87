// Tensors -> one .safetensors file: for tests, trained demo weights and export.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "tensor/tensor_view.h"

namespace pointmap {

struct NamedTensorView {
  std::string name;
  TensorView view;  // rows may be strided; they are written contiguous
};

// Replaces `path` in one step. Every tensor comes out aligned to its type: wide types first, then by name, header padded to 8
// bytes, so the same tensors give the same file. Throws Error{kInvalidArgument} for a name that is empty, reserved
// (`__metadata__`), used twice or not UTF-8; Error{kIoError, kNotFound} when the file cannot be written.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensorView> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace pointmap
