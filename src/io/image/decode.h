// From the bytes of a photo to upright 8-bit RGB, whatever the format; the format is told by the content, never by the name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "io/image/image.h"

namespace pointmap {

enum class AlphaRule {
  kOverWhite,  // (c * a + 255 * (255 - a)) / 255, rounded: what a person sees on a page. The default.
  kDrop,       // the colour below the transparency, whatever it is: what upstream DUSt3R's loader does
};

struct DecodeOptions {
  uint64_t max_pixels = uint64_t{256} << 20;  // width * height; checked against the header, before any pixel is decoded
  AlphaRule alpha = AlphaRule::kOverWhite;
  bool apply_exif = true;  // false leaves the pixels as they are stored; HEIC's own rotation is no EXIF
};

struct DecodedImage {
  Image image;                       // EXIF orientation applied unless that was switched off, RGB, 8 bits
  std::string format;                // "JPEG", "PNG", "WebP" or "HEIC"
  int exif_orientation = 1;          // 1..8, as applied (1: not); 1 for HEIC, whose own rotation the codec applies
  int ignored_exif_orientation = 1;  // what the file says when it was not applied, else 1
  int stored_width = 0;              // of the pixels in the file, before orientation (HEIC: after its own rotation)
  int stored_height = 0;
  bool had_alpha = false;                        // the file has an alpha channel or a transparent colour
  AlphaRule alpha_rule = AlphaRule::kOverWhite;  // what was done about it
};

// `name` is the file as the user knows it; every message begins with it. Throws
//   Error{kCorruptData}    empty, truncated or broken data (also when the decoder could guess the rest)
//   Error{kUnsupported}    not an image, or a kind of image that is not read; a known kind is named
//   Error{kLimitExceeded}  more pixels than options.max_pixels, or too much memory.
// Broken EXIF is ignored: it is a hint beside the picture, and the picture is whole.
DecodedImage decode_image(std::span<const std::byte> bytes, const std::string& name, const DecodeOptions& options = {});

// As decode_image, and Error{kNotFound, kIoError} when the file cannot be read, kInvalidArgument when it is a folder.
DecodedImage read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

}  // namespace pointmap
