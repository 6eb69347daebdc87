// Pictures for the tests of preparation.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/image/decode.h"
#include "io/image/orient.h"
#include "io/safetensors/sha256.h"

namespace pointmap {

inline std::string sha256_hex(const std::vector<uint8_t>& bytes) {
  Sha256 sha256;
  sha256.update(std::as_bytes(std::span(bytes)));
  return sha256.hex();
}

// The picture of golden/README.md, seed 0.
inline Image procedural(int width, int height) {
  Image image{width, height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3)};
  uint8_t* out = image.rgb.data();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int blocks = (x >> 4) * (y >> 4) * 7;
      for (int c = 0; c < 3; ++c) *out++ = static_cast<uint8_t>(((x * (3 + 2 * c) + y * (5 + c)) >> 1) ^ blocks);
    }
  }
  return image;
}

inline DecodedImage photo_of(Image stored, int exif_orientation = 1) {
  DecodedImage photo;
  photo.exif_orientation = exif_orientation;
  photo.stored_width = stored.width;
  photo.stored_height = stored.height;
  photo.image = apply_orientation(std::move(stored), exif_orientation);
  return photo;
}

inline Image plain(int width, int height, uint8_t value) {
  return {width, height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3, value)};
}

inline nlohmann::json golden_rows() {
  std::ifstream file(std::filesystem::path(POINTMAP_SOURCE_DIR) / "tests/golden/preprocess.json");
  return nlohmann::json::parse(file).at("rows");
}

}  // namespace pointmap
