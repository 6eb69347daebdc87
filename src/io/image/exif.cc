// Reads the first directory of the TIFF block and follows no offset but its own, so that loops cannot happen.
#include "io/image/exif.h"

#include <cstdint>
#include <cstring>

namespace pointmap {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;
constexpr size_t kEntryBytes = 12;  // tag u16, type u16, count u32, value 4 bytes

struct Reader {
  std::span<const std::byte> bytes;
  bool big_endian = false;

  bool has(size_t offset, size_t count) const { return offset <= bytes.size() && count <= bytes.size() - offset; }

  uint32_t unsigned_at(size_t offset, size_t count) const {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = big_endian ? offset + i : offset + count - 1 - i;
      value = value << 8 | std::to_integer<uint32_t>(bytes[at]);
    }
    return value;
  }
};

size_t bytes_of_type(uint32_t type) {
  switch (type) {
    case 1:
      return 1;  // BYTE
    case 3:
      return 2;  // SHORT, what the standard asks for
    case 4:
      return 4;  // LONG, which some writers use
    default:
      return 0;
  }
}

// 0 when the entry holds no orientation.
int orientation_from_entry(const Reader& reader, size_t entry) {
  const size_t value_bytes = bytes_of_type(reader.unsigned_at(entry + 2, 2));
  const uint32_t count = reader.unsigned_at(entry + 4, 4);
  if (value_bytes == 0 || count != 1) return 0;
  const uint32_t value = reader.unsigned_at(entry + 8, value_bytes);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 0;
}

}  // namespace

int exif_orientation(std::span<const std::byte> tiff) {
  constexpr char kPrefix[] = {'E', 'x', 'i', 'f', 0, 0};
  if (tiff.size() >= sizeof kPrefix && std::memcmp(tiff.data(), kPrefix, sizeof kPrefix) == 0) tiff = tiff.subspan(sizeof kPrefix);
  Reader reader{.bytes = tiff};
  if (!reader.has(0, 8)) return 1;
  if (std::memcmp(tiff.data(), "MM", 2) == 0) {
    reader.big_endian = true;
  } else if (std::memcmp(tiff.data(), "II", 2) != 0) {
    return 1;
  }
  if (reader.unsigned_at(2, 2) != 42) return 1;
  const size_t directory = reader.unsigned_at(4, 4);
  if (!reader.has(directory, 2)) return 1;
  const size_t entries = reader.unsigned_at(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!reader.has(entry, kEntryBytes)) return 1;
    if (reader.unsigned_at(entry, 2) != kOrientationTag) continue;
    const int orientation = orientation_from_entry(reader, entry);
    return orientation == 0 ? 1 : orientation;
  }
  return 1;
}

}  // namespace pointmap
