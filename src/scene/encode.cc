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

// The bytes of an item, and what holds them where the item itself does not.
struct Elements {
  std::vector<uint16_t> halves;
  std::vector<float> joined;
  std::span<const std::byte> bytes;
};

Elements elements_of(const NpzItem& item) {
  Elements elements;
  if (item.type == NpzType::kFloat16) {
    elements.halves.resize(num_elements(item));
    size_t begin = 0;
    for (const std::span<const float> part : item.parts) {
      f16_from_floats(part, std::span(elements.halves).subspan(begin, part.size()));
      begin += part.size();
    }
    elements.bytes = std::as_bytes(std::span(elements.halves));
  } else if (item.parts.size() == 1) {
    elements.bytes = std::as_bytes(item.parts[0]);
  } else {
    elements.joined.reserve(num_elements(item));
    for (const std::span<const float> part : item.parts) elements.joined.insert(elements.joined.end(), part.begin(), part.end());
    elements.bytes = std::as_bytes(std::span(elements.joined));
  }
  return elements;
}

void add(const NpzItem& item, const Elements& elements, NpzWriter& writer) {
  writer.add(item.name, item.type == NpzType::kFloat16 ? DType::kF16 : DType::kF32, Shape(item.shape), elements.bytes);
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
  for (const NpzItem& item : items) add(item, elements_of(item), writer);
  writer.finish();
  return archive;
}

NpzPieces encode_npz_in_pieces(const std::vector<NpzItem>& items) {
  struct Memory {
    ZipPieces zip;
    std::vector<Elements> elements;
  };
  const auto memory = std::make_shared<Memory>();
  NpzWriter writer(memory->zip, "npz in pieces");
  for (const NpzItem& item : items) add(item, memory->elements.emplace_back(elements_of(item)), writer);
  writer.finish();
  return {std::move(memory->zip.in_order), {memory}};
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
