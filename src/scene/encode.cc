#include "pointmap/encode.h"

#include "base/base64.h"
#include "base/check.h"
#include "io/image/png_encode.h"
#include "io/npz/npz_writer.h"
#include "tensor/dtype.h"

namespace pointmap {

namespace {

std::string as_string(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

size_t num_elements(const NpzItem& item) {
  size_t total = 0;
  for (const std::span<const float> part : item.parts) total += part.size();
  return total;
}

void add_float16(NpzWriter& writer, const NpzItem& item, const Shape& shape) {
  std::vector<uint16_t> halves(num_elements(item));
  size_t begin = 0;
  for (const std::span<const float> part : item.parts) {
    f16_from_floats(part, std::span(halves).subspan(begin, part.size()));
    begin += part.size();
  }
  writer.add(item.name, DType::kF16, shape, std::as_bytes(std::span(halves)));
}

void add_float32(NpzWriter& writer, const NpzItem& item, const Shape& shape) {
  if (item.parts.size() == 1) return writer.add(item.name, DType::kF32, shape, std::as_bytes(item.parts[0]));
  std::vector<float> joined;
  joined.reserve(num_elements(item));
  for (const std::span<const float> part : item.parts) joined.insert(joined.end(), part.begin(), part.end());
  writer.add(item.name, DType::kF32, shape, std::as_bytes(std::span(joined)));
}

}  // namespace

std::string encode_npz(const std::vector<NpzItem>& items, int deflate_level) {
  constexpr size_t kHeadersBytes = 512;  // of one member, all of them together; only a first guess
  size_t expected_bytes = 0;
  for (const NpzItem& item : items) {
    expected_bytes += num_elements(item) * (item.type == NpzType::kFloat16 ? sizeof(uint16_t) : sizeof(float)) + kHeadersBytes;
  }
  std::string archive;
  if (deflate_level == 0) archive.reserve(expected_bytes);
  NpzWriter writer(archive, "npz in memory", {.deflate_level = deflate_level});
  for (const NpzItem& item : items) {
    const Shape shape(item.shape);
    if (item.type == NpzType::kFloat16) {
      add_float16(writer, item, shape);
    } else {
      add_float32(writer, item, shape);
    }
  }
  writer.finish();
  return archive;
}

std::string encode_png(const Image& image) {
  return as_string(encode_png8(image));
}

std::string encode_png_grey16(std::span<const uint16_t> grey, int width, int height) {
  return as_string(encode_png16(grey, width, height));
}

void encode_base64(std::string_view bytes, std::string& text) {
  append_base64(std::as_bytes(std::span(bytes)), text);
}

}  // namespace pointmap
