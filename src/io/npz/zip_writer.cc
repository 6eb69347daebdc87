#include "io/npz/zip_writer.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "io/npz/zip_directory.h"

namespace pointmap {

namespace {

constexpr uint16_t kVersionPlain = 20;    // deflate
constexpr uint16_t kVersionZip64 = 45;    // zip64 fields
constexpr uint16_t kMadeByUnix = 3 << 8;  // so that the attributes below are read as a mode
constexpr uint32_t kModeReadWrite = 0100644u << 16;
constexpr uint16_t kFixedTime = 0;                        // midnight
constexpr uint16_t kFixedDate = (0 << 9) | (1 << 5) | 1;  // 1980-01-01, zip's first day: reproducible bytes

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The deflated content, or nothing when that would be no smaller.
std::string deflate(std::string_view content, int level) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(libdeflate_alloc_compressor(level),
                                                                                            libdeflate_free_compressor);
  if (!compressor) throw Error{kLimitExceeded, "no memory for the deflate compressor"};
  std::string packed(content.size(), '\0');
  packed.resize(libdeflate_deflate_compress(compressor.get(), content.data(), content.size(), packed.data(), packed.size()));
  return packed;
}

uint16_t version_needed(bool zip64) {
  return zip64 ? kVersionZip64 : kVersionPlain;
}

uint32_t clamp32(uint64_t value, bool saturate) {
  return saturate ? zip::kSaturated32 : static_cast<uint32_t>(value);
}

}  // namespace

ZipWriter::ZipWriter(const std::filesystem::path& path, const ZipWriteOptions& options) : file_name_(path.string()), options_(options) {
  check_options();
  file_.emplace(path);
}

ZipWriter::ZipWriter(std::string& memory, const std::string& name, const ZipWriteOptions& options)
    : file_name_(name), options_(options), memory_(&memory) {
  check_options();
}

ZipWriter::ZipWriter(ZipPieces& pieces, const std::string& name, const ZipWriteOptions& options)
    : file_name_(name), options_(options), pieces_(&pieces) {
  check_options();
}

void ZipWriter::check_options() const {
  POINTMAP_CHECK(options_.deflate_level >= 0 && options_.deflate_level <= 12,
                 "deflate level " + std::to_string(options_.deflate_level) + ", wanted 0 to 12");
}

void ZipWriter::add(std::string_view name, std::string_view head, std::string_view rest) {
  POINTMAP_CHECK(!finished_, "archive '" + file_name_ + "' is already finished");
  POINTMAP_CHECK(!name.empty() && name.size() <= kMaxZipNameBytes,
                 "name of a member of " + std::to_string(name.size()) + " bytes, wanted 1 to " + std::to_string(kMaxZipNameBytes));
  Entry entry;
  entry.name = name;
  POINTMAP_CHECK(names_.insert(entry.name).second, "archive '" + file_name_ + "' already has a member '" + entry.name + "'");
  entry.crc32 = libdeflate_crc32(0, head.data(), head.size());
  // A null pointer asks libdeflate for the initial value, whatever came before.
  if (!rest.empty()) entry.crc32 = libdeflate_crc32(entry.crc32, rest.data(), rest.size());
  entry.uncompressed_bytes = head.size() + rest.size();
  entry.local_offset = position_;
  std::string packed;
  if (options_.deflate_level > 0) packed = deflate(rest.empty() ? head : std::string(head).append(rest), options_.deflate_level);
  entry.method = packed.empty() ? zip::kStored : zip::kDeflated;
  entry.compressed_bytes = packed.empty() ? entry.uncompressed_bytes : packed.size();
  write(local_header(entry));
  if (packed.empty()) {
    write(head);
    write_or_refer(rest);
  } else {
    write(packed);
  }
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  POINTMAP_CHECK(!finished_, "archive '" + file_name_ + "' is already finished");
  const uint64_t directory_offset = position_;
  for (const Entry& entry : entries_) write(central_header(entry));
  write(end_records(directory_offset, position_ - directory_offset));
  if (file_) file_->commit();
  finished_ = true;
}

void ZipWriter::write(std::string_view bytes) {
  if (file_) {
    file_->write(bytes);
  } else if (memory_ != nullptr) {
    memory_->append(bytes);
  } else {
    pieces_->in_order.push_back(pieces_->copied.emplace_back(bytes));
  }
  position_ += bytes.size();
}

void ZipWriter::write_or_refer(std::string_view bytes) {
  if (pieces_ == nullptr) return write(bytes);
  pieces_->in_order.push_back(bytes);
  position_ += bytes.size();
}

// What both headers of a member say alike: from the version needed to the lengths of what follows.
void ZipWriter::append_shared_fields(const Entry& entry, bool zip64, uint16_t extra_bytes, std::string& header) {
  append(header, version_needed(zip64));
  append(header, is_ascii(entry.name) ? uint16_t{0} : zip::kUtf8Flag);
  append(header, entry.method);
  append(header, kFixedTime);
  append(header, kFixedDate);
  append(header, entry.crc32);
  append(header, clamp32(entry.compressed_bytes, zip64));
  append(header, clamp32(entry.uncompressed_bytes, zip64));
  append(header, static_cast<uint16_t>(entry.name.size()));
  append(header, zip64 ? extra_bytes : uint16_t{0});
}

std::string ZipWriter::local_header(const Entry& entry) const {
  const bool zip64 = options_.always_zip64 || std::max(entry.compressed_bytes, entry.uncompressed_bytes) >= zip::kSaturated32;
  std::string out;
  append(out, zip::kLocalSignature);
  append_shared_fields(entry, zip64, 20, out);
  out += entry.name;
  if (zip64) {
    append(out, zip::kZip64Extra);
    append(out, uint16_t{16});
    append(out, entry.uncompressed_bytes);
    append(out, entry.compressed_bytes);
  }
  return out;
}

std::string ZipWriter::central_header(const Entry& entry) const {
  const bool zip64 =
      options_.always_zip64 || std::max({entry.compressed_bytes, entry.uncompressed_bytes, entry.local_offset}) >= zip::kSaturated32;
  std::string out;
  append(out, zip::kCentralSignature);
  append(out, static_cast<uint16_t>(kMadeByUnix | version_needed(zip64)));
  append_shared_fields(entry, zip64, 28, out);
  append(out, uint16_t{0});  // no comment
  append(out, uint16_t{0});  // disk
  append(out, uint16_t{0});  // internal attributes
  append(out, kModeReadWrite);
  append(out, clamp32(entry.local_offset, zip64));
  out += entry.name;
  if (zip64) {
    append(out, zip::kZip64Extra);
    append(out, uint16_t{24});
    append(out, entry.uncompressed_bytes);
    append(out, entry.compressed_bytes);
    append(out, entry.local_offset);
  }
  return out;
}

std::string ZipWriter::end_records(uint64_t directory_offset, uint64_t directory_bytes) const {
  const uint64_t count = entries_.size();
  const bool zip64 =
      options_.always_zip64 || count >= zip::kSaturated16 || std::max(directory_offset, directory_bytes) >= zip::kSaturated32;
  std::string out;
  if (zip64) {
    append(out, zip::kEnd64Signature);
    append(out, uint64_t{zip::kEnd64Bytes - 12});  // bytes that follow this field
    append(out, static_cast<uint16_t>(kMadeByUnix | kVersionZip64));
    append(out, kVersionZip64);
    append(out, uint32_t{0});  // this disk
    append(out, uint32_t{0});  // disk of the directory
    append(out, count);
    append(out, count);
    append(out, directory_bytes);
    append(out, directory_offset);
    append(out, zip::kEnd64LocatorSignature);
    append(out, uint32_t{0});
    append(out, directory_offset + directory_bytes);
    append(out, uint32_t{1});  // disks in all
  }
  append(out, zip::kEndSignature);
  append(out, uint16_t{0});
  append(out, uint16_t{0});
  const uint16_t count16 = zip64 ? zip::kSaturated16 : static_cast<uint16_t>(count);
  append(out, count16);
  append(out, count16);
  append(out, clamp32(directory_bytes, zip64));
  append(out, clamp32(directory_offset, zip64));
  append(out, uint16_t{0});  // no comment
  return out;
}

}  // namespace pointmap
