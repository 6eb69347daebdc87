// The part of the zip format that archives of arrays use: the list of members and their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pointmap {

struct ZipMember {
  std::string name;
  uint32_t crc32 = 0;  // of the uncompressed bytes
  bool deflated = false;
  uint64_t uncompressed_bytes = 0;
  std::span<const std::byte> data;  // as it lies in the file, inside the archive's bytes
};

// The members of the archive in `archive`, in directory order. `file` is used in messages only.
// Every member's data lies inside the archive and overlaps no other; names are unique. A declared size that deflate could not
// have packed into the member's bytes is refused here, so what can be unpacked is bounded by about 1032 times the file.
// Throws Error{kCorruptData} for broken bytes, Error{kUnsupported} for encryption, other methods and several disks.
std::vector<ZipMember> read_zip_directory(std::span<const std::byte> archive, const std::string& file);

// The member's uncompressed bytes, checked against its size and CRC. Throws Error{kCorruptData} naming file and member.
std::vector<std::byte> unpack_zip_member(const ZipMember& member, const std::string& file);

// Signatures and field values that reader and writer share.
namespace zip {
inline constexpr uint32_t kLocalSignature = 0x04034b50;
inline constexpr uint32_t kCentralSignature = 0x02014b50;
inline constexpr uint32_t kEndSignature = 0x06054b50;
inline constexpr uint32_t kEnd64Signature = 0x06064b50;
inline constexpr uint32_t kEnd64LocatorSignature = 0x07064b50;
inline constexpr size_t kLocalBytes = 30;
inline constexpr size_t kCentralBytes = 46;
inline constexpr size_t kEndBytes = 22;
inline constexpr size_t kEnd64Bytes = 56;
inline constexpr size_t kEnd64LocatorBytes = 20;
inline constexpr uint16_t kZip64Extra = 0x0001;
inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kDeflated = 8;
inline constexpr uint16_t kEncryptedFlag = 0x0001;
inline constexpr uint16_t kUtf8Flag = 0x0800;
inline constexpr uint32_t kSaturated32 = 0xFFFFFFFF;  // "look in the zip64 field"
inline constexpr uint16_t kSaturated16 = 0xFFFF;
}  // namespace zip

}  // namespace pointmap
