// The way every photo takes: tell the format, decode, settle alpha, turn upright. The formats themselves are in one file each.
#include "io/image/decode.h"

#include <limits>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "io/image/codecs.h"
#include "io/image/orient.h"
#include "io/image/sniff.h"

namespace pointmap {
namespace codec {

void check_size(const Source& source, uint64_t width, uint64_t height) {
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (width == 0 || height == 0) throw Error{kCorruptData, source.name + ": the header says " + size};
  constexpr uint64_t kMaxSide = std::numeric_limits<int>::max();
  if (width > kMaxSide || height > kMaxSide || width > source.max_pixels / height) {
    throw Error{kLimitExceeded, source.name + ": " + size + ", the limit is " + std::to_string(source.max_pixels) + " in all"};
  }
}

Picture blank_picture(uint64_t width, uint64_t height, int channels) {
  Picture picture;
  picture.width = static_cast<int>(width);
  picture.height = static_cast<int>(height);
  picture.channels = channels;
  picture.samples.resize(static_cast<size_t>(width) * static_cast<size_t>(height) * static_cast<size_t>(channels));
  return picture;
}

}  // namespace codec

namespace {

std::string bytes_in_hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::byte b : bytes) {
    hex += ' ';
    hex += kDigits[std::to_integer<unsigned>(b) >> 4];
    hex += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return hex;
}

codec::Picture decode_by_kind(const Sniffed& sniffed, const codec::Source& source) {
  switch (sniffed.kind) {
    case FileKind::kJpeg:
      return codec::decode_jpeg(source);
    case FileKind::kPng:
      return codec::decode_png(source);
    case FileKind::kWebp:
      return codec::decode_webp(source);
    case FileKind::kHeic:
      return codec::decode_heif(source);
    case FileKind::kKnownButNotRead:
      throw Error{kUnsupported, source.name + ": a " + std::string(sniffed.name) + " file; JPEG, PNG, WebP and HEIC are read"};
    case FileKind::kUnknown:
      break;
  }
  const size_t shown = source.bytes.size() < 8 ? source.bytes.size() : 8;
  throw Error{kUnsupported, source.name + ": not an image: begins with bytes" + bytes_in_hex(source.bytes.first(shown)) +
                                "; JPEG, PNG, WebP and HEIC are read"};
}

// [H, W, 4] to [H, W, 3] in place.
void settle_alpha(codec::Picture& picture, AlphaRule rule) {
  const size_t pixels = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height);
  uint8_t* out = picture.samples.data();
  const uint8_t* in = out;
  for (size_t i = 0; i < pixels; ++i, in += 4, out += 3) {
    const uint32_t alpha = rule == AlphaRule::kDrop ? 255 : in[3];
    for (int c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>((in[c] * alpha + 255 * (255 - alpha) + 127) / 255);
  }
  picture.samples.resize(pixels * 3);
  picture.channels = 3;
}

}  // namespace

DecodedImage decode_image(std::span<const std::byte> bytes, const std::string& name, const DecodeOptions& options) {
  if (bytes.empty()) throw Error{kCorruptData, name + ": the file is empty"};
  const Sniffed sniffed = sniff(bytes);
  try {
    codec::Picture picture = decode_by_kind(sniffed, {bytes, name, options.max_pixels});
    DecodedImage decoded;
    decoded.format = sniffed.name;
    (options.apply_exif ? decoded.exif_orientation : decoded.ignored_exif_orientation) = picture.exif_orientation;
    decoded.stored_width = picture.width;
    decoded.stored_height = picture.height;
    decoded.had_alpha = picture.channels == 4;
    decoded.alpha_rule = options.alpha;
    if (decoded.had_alpha) settle_alpha(picture, options.alpha);
    decoded.image = apply_orientation({picture.width, picture.height, std::move(picture.samples)}, decoded.exif_orientation);
    return decoded;
  } catch (const std::bad_alloc&) {
    throw Error{kLimitExceeded, name + ": not enough memory to decode"};
  }
}

DecodedImage read_image(const std::filesystem::path& path, const DecodeOptions& options) {
  const MappedFile file(path);
  return decode_image(file.bytes(), path.string(), options);
}

}  // namespace pointmap
