// The bytes of the model `demo`, which is part of the library.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace pointmap {

struct DemoModel {
  std::span<const std::byte> weights;  // a .safetensors file, at a multiple of 64 bytes
  std::string_view config;             // its config.json

  bool in_this_build() const { return !weights.empty(); }
};

// The bytes live as long as the program.
DemoModel demo_model();

}  // namespace pointmap
