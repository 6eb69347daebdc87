#include "io/npz/zip_directory.h"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <set>

#include "base/check.h"

namespace pointmap {

static_assert(std::endian::native == std::endian::little, "zip and npy fields are read as they lie in memory");

namespace {

// Deflate cannot shrink further: 258 bytes per 2 bits at best. The constant covers the end of a tiny stream.
constexpr uint64_t kMaxDeflateRatio = 1032;
constexpr uint64_t kDeflateSlackBytes = 4096;

[[noreturn]] void corrupt(const std::string& file, const std::string& what) {
  throw Error{kCorruptData, "zip archive '" + file + "': " + what};
}

// Little-endian fields of `bytes`; reading past the end is corrupt data, never undefined.
class FieldReader {
 public:
  FieldReader(std::span<const std::byte> bytes, const std::string& file, std::string part)
      : bytes_(bytes), file_(file), part_(std::move(part)) {}

  template <typename T>
  T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take_bytes(size_t count) {
    if (count > bytes_.size() - position_) {
      corrupt(file_, part_ + " is cut short: wanted " + std::to_string(count) + " bytes at " + std::to_string(position_) + ", got " +
                         std::to_string(bytes_.size() - position_));
    }
    const auto part = bytes_.subspan(position_, count);
    position_ += count;
    return part;
  }
  size_t left() const { return bytes_.size() - position_; }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::string part_;
  size_t position_ = 0;
};

struct DirectoryPlace {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t num_members = 0;
};

uint32_t signature_at(std::span<const std::byte> archive, size_t position) {
  uint32_t value;
  std::memcpy(&value, archive.data() + position, sizeof(value));
  return value;
}

// Position of the end record: the last one whose comment reaches exactly to the end of the file.
size_t find_end_record(std::span<const std::byte> archive, const std::string& file) {
  if (archive.size() < zip::kEndBytes) corrupt(file, "only " + std::to_string(archive.size()) + " bytes long");
  const size_t last = archive.size() - zip::kEndBytes;
  const size_t first = last > 0xFFFF ? last - 0xFFFF : 0;
  for (size_t position = last + 1; position-- > first;) {
    if (signature_at(archive, position) != zip::kEndSignature) continue;
    uint16_t comment_bytes;
    std::memcpy(&comment_bytes, archive.data() + position + 20, sizeof(comment_bytes));
    if (position + zip::kEndBytes + comment_bytes == archive.size()) return position;
  }
  corrupt(file, "no end record: not a zip archive, or cut short");
}

DirectoryPlace read_end64(std::span<const std::byte> archive, size_t end_position, const std::string& file) {
  FieldReader locator(archive.subspan(end_position - zip::kEnd64LocatorBytes, zip::kEnd64LocatorBytes), file, "zip64 locator");
  locator.take<uint32_t>();  // signature, already seen
  if (locator.take<uint32_t>() != 0) throw Error{kUnsupported, "zip archive '" + file + "' spans several disks"};
  const uint64_t position = locator.take<uint64_t>();
  if (position > archive.size()) corrupt(file, "zip64 end record at " + std::to_string(position) + " is outside the file");
  FieldReader end(archive.subspan(position), file, "zip64 end record");
  if (end.take<uint32_t>() != zip::kEnd64Signature) corrupt(file, "no zip64 end record at " + std::to_string(position));
  end.take_bytes(8 + 2 + 2 + 4 + 4 + 8);  // record size, versions, disks, members on this disk
  DirectoryPlace place;
  place.num_members = end.take<uint64_t>();
  place.bytes = end.take<uint64_t>();
  place.offset = end.take<uint64_t>();
  return place;
}

DirectoryPlace find_directory(std::span<const std::byte> archive, const std::string& file) {
  const size_t end_position = find_end_record(archive, file);
  DirectoryPlace place;
  if (end_position >= zip::kEnd64LocatorBytes &&
      signature_at(archive, end_position - zip::kEnd64LocatorBytes) == zip::kEnd64LocatorSignature) {
    place = read_end64(archive, end_position, file);
  } else {
    FieldReader end(archive.subspan(end_position), file, "end record");
    end.take_bytes(4 + 2 + 2 + 2);  // signature, disks, members on this disk
    place.num_members = end.take<uint16_t>();
    place.bytes = end.take<uint32_t>();
    place.offset = end.take<uint32_t>();
  }
  if (place.offset > end_position || place.bytes > end_position - place.offset) {
    corrupt(file, "directory of " + std::to_string(place.bytes) + " bytes at " + std::to_string(place.offset) +
                      " does not fit before the end record at " + std::to_string(end_position));
  }
  if (place.num_members > place.bytes / zip::kCentralBytes) {
    corrupt(file, "directory claims " + std::to_string(place.num_members) + " members in " + std::to_string(place.bytes) + " bytes");
  }
  return place;
}

// One directory entry, sizes resolved through the zip64 field.
struct Entry {
  ZipMember member;
  uint16_t method = 0;
  uint64_t compressed_bytes = 0;
  uint64_t local_offset = 0;
  uint64_t end_offset = 0;  // just past the data, once that is found
};

// Replaces saturated fields by those of the zip64 extra field, which holds only the saturated ones, in this order.
void resolve_zip64(std::span<const std::byte> extra, Entry& entry, const std::string& file) {
  FieldReader fields(extra, file, "extra field of '" + entry.member.name + "'");
  while (fields.left() >= 4) {
    const auto id = fields.take<uint16_t>();
    const auto size = fields.take<uint16_t>();
    const auto payload = fields.take_bytes(size);
    if (id != zip::kZip64Extra) continue;
    FieldReader values(payload, file, "zip64 field of '" + entry.member.name + "'");
    for (uint64_t* value : {&entry.member.uncompressed_bytes, &entry.compressed_bytes, &entry.local_offset}) {
      if (*value == zip::kSaturated32) *value = values.take<uint64_t>();
    }
    return;
  }
}

std::string string_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Entry read_entry(FieldReader& directory, const std::string& file) {
  Entry entry;
  if (directory.take<uint32_t>() != zip::kCentralSignature) corrupt(file, "directory entry without its signature");
  directory.take<uint16_t>();  // made by
  directory.take<uint16_t>();  // version needed
  const auto flags = directory.take<uint16_t>();
  entry.method = directory.take<uint16_t>();
  directory.take<uint32_t>();  // time and date
  entry.member.crc32 = directory.take<uint32_t>();
  entry.compressed_bytes = directory.take<uint32_t>();
  entry.member.uncompressed_bytes = directory.take<uint32_t>();
  const auto name_bytes = directory.take<uint16_t>();
  const auto extra_bytes = directory.take<uint16_t>();
  const auto comment_bytes = directory.take<uint16_t>();
  directory.take_bytes(2 + 2 + 4);  // disk, attributes
  entry.local_offset = directory.take<uint32_t>();
  entry.member.name = string_of(directory.take_bytes(name_bytes));
  resolve_zip64(directory.take_bytes(extra_bytes), entry, file);
  directory.take_bytes(comment_bytes);

  if (flags & zip::kEncryptedFlag) throw Error{kUnsupported, "zip archive '" + file + "': member '" + entry.member.name + "' is encrypted"};
  if (entry.method != zip::kStored && entry.method != zip::kDeflated) {
    throw Error{kUnsupported, "zip archive '" + file + "': member '" + entry.member.name + "' uses method " + std::to_string(entry.method) +
                                  ", can read stored (0) and deflated (8)"};
  }
  entry.member.deflated = entry.method == zip::kDeflated;
  return entry;
}

// Finds the data behind the local header and checks that it ends before `directory_offset`.
void locate_data(std::span<const std::byte> archive, uint64_t directory_offset, Entry& entry, const std::string& file) {
  const std::string what = "member '" + entry.member.name + "'";
  if (entry.local_offset >= directory_offset) corrupt(file, what + " begins outside the member data");
  FieldReader local(archive.subspan(entry.local_offset, directory_offset - entry.local_offset), file, "local header of " + what);
  if (local.take<uint32_t>() != zip::kLocalSignature) corrupt(file, what + " has no local header at " + std::to_string(entry.local_offset));
  local.take_bytes(2 + 2);  // version, flags
  if (local.take<uint16_t>() != entry.method) corrupt(file, what + ": local header and directory disagree about the method");
  local.take_bytes(4 + 4 + 4 + 4);  // time, CRC and sizes: the directory's are complete, these may be zero
  const auto name_bytes = local.take<uint16_t>();
  const auto extra_bytes = local.take<uint16_t>();
  if (string_of(local.take_bytes(name_bytes)) != entry.member.name) corrupt(file, what + " has another name in its local header");
  local.take_bytes(extra_bytes);
  if (entry.compressed_bytes > local.left()) {
    corrupt(file, what + " is cut short: wanted " + std::to_string(entry.compressed_bytes) + " bytes, got " + std::to_string(local.left()));
  }
  entry.end_offset = directory_offset - local.left() + entry.compressed_bytes;
  entry.member.data = local.take_bytes(entry.compressed_bytes);
}

void check_declared_size(const Entry& entry, const std::string& file) {
  const uint64_t declared = entry.member.uncompressed_bytes;
  const uint64_t packed = entry.compressed_bytes;
  if (!entry.member.deflated) {
    if (declared == packed) return;
    corrupt(file,
            "stored member '" + entry.member.name + "' has " + std::to_string(packed) + " bytes, declares " + std::to_string(declared));
  }
  // packed is at most the file's size, so the product cannot overflow.
  if (declared > packed * kMaxDeflateRatio + kDeflateSlackBytes) {
    corrupt(file, "member '" + entry.member.name + "' declares " + std::to_string(declared) + " bytes, more than deflate can hold in " +
                      std::to_string(packed));
  }
}

}  // namespace

std::vector<ZipMember> read_zip_directory(std::span<const std::byte> archive, const std::string& file) {
  const DirectoryPlace place = find_directory(archive, file);
  FieldReader directory(archive.subspan(place.offset, place.bytes), file, "directory");
  std::vector<Entry> entries;
  std::set<std::string> names;
  for (uint64_t i = 0; i < place.num_members; ++i) {
    Entry entry = read_entry(directory, file);
    locate_data(archive, place.offset, entry, file);
    check_declared_size(entry, file);
    if (!names.insert(entry.member.name).second) corrupt(file, "member '" + entry.member.name + "' occurs twice");
    entries.push_back(std::move(entry));
  }

  std::vector<const Entry*> by_offset;
  for (const Entry& entry : entries) by_offset.push_back(&entry);
  std::sort(by_offset.begin(), by_offset.end(), [](const Entry* a, const Entry* b) { return a->local_offset < b->local_offset; });
  for (size_t i = 1; i < by_offset.size(); ++i) {
    if (by_offset[i - 1]->end_offset > by_offset[i]->local_offset) {
      corrupt(file, "members '" + by_offset[i - 1]->member.name + "' and '" + by_offset[i]->member.name + "' overlap");
    }
  }

  std::vector<ZipMember> members;
  for (Entry& entry : entries) members.push_back(std::move(entry.member));
  return members;
}

std::vector<std::byte> unpack_zip_member(const ZipMember& member, const std::string& file) {
  std::vector<std::byte> bytes(member.uncompressed_bytes);
  if (member.deflated) {
    const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(libdeflate_alloc_decompressor(),
                                                                                                    libdeflate_free_decompressor);
    if (!decompressor) throw Error{kLimitExceeded, "zip archive '" + file + "': no memory for the decompressor"};
    std::byte nothing{};  // libdeflate wants a place to write even when there is nothing to write
    const libdeflate_result result = libdeflate_deflate_decompress(decompressor.get(), member.data.data(), member.data.size(),
                                                                   bytes.empty() ? &nothing : bytes.data(), bytes.size(), nullptr);
    if (result != LIBDEFLATE_SUCCESS) {
      corrupt(file, "member '" + member.name + "' does not inflate to its " + std::to_string(bytes.size()) + " bytes");
    }
  } else {
    std::copy(member.data.begin(), member.data.end(), bytes.begin());
  }
  const uint32_t crc = libdeflate_crc32(0, bytes.data(), bytes.size());
  if (crc != member.crc32) {
    corrupt(file,
            "member '" + member.name + "': CRC-32 is " + std::to_string(crc) + ", the directory says " + std::to_string(member.crc32));
  }
  return bytes;
}

}  // namespace pointmap
