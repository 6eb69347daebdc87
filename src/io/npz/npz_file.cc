#include "io/npz/npz_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/mapped_file.h"
#include "io/npz/npy_header.h"
#include "io/npz/zip_directory.h"

namespace pointmap {

namespace {

constexpr std::string_view kSuffix = ".npy";

// Fortran order to C order: walks the output in memory order and the input with the strides of its own order.
std::vector<std::byte> c_order_from_fortran(std::span<const std::byte> elements, const Shape& shape, size_t element_bytes) {
  const size_t rank = shape.rank();
  std::array<size_t, Shape::kMaxRank> stride{}, index{};
  size_t step = element_bytes;
  for (size_t d = 0; d < rank; ++d) {
    stride[d] = step;
    step *= static_cast<size_t>(shape.dims()[d]);
  }
  std::vector<std::byte> out(elements.size());
  size_t source = 0;
  for (size_t target = 0; target < out.size(); target += element_bytes) {
    std::memcpy(out.data() + target, elements.data() + source, element_bytes);
    for (size_t d = rank; d-- > 0;) {
      source += stride[d];
      if (++index[d] < static_cast<size_t>(shape.dims()[d])) break;
      source -= stride[d] * index[d];
      index[d] = 0;
    }
  }
  return out;
}

// The array in an unpacked .npy member; when it is not one we read, fills `reason` and returns an empty array.
NpzArray parse_array(const std::vector<std::byte>& member, const std::string& what, std::string& reason) {
  const NpyHeader header = parse_npy_header(member, what);
  NpzArray array;
  if (!header.dtype) {
    reason = "element type " + header.descr.substr(0, 64) + " is not read";
    return array;
  }
  if (header.dims.size() > Shape::kMaxRank) {
    reason = std::to_string(header.dims.size()) + " dimensions, can read up to " + std::to_string(Shape::kMaxRank);
    return array;
  }
  array.dtype = *header.dtype;
  try {
    array.shape = Shape(header.dims);
  } catch (const Error& error) {
    throw Error{kCorruptData, what + ": " + error.what()};  // says which array
  }
  const size_t element_bytes = dtype_bytes(array.dtype);
  const size_t wanted = checked_mul(static_cast<size_t>(array.shape.num_elements()), element_bytes);
  const auto elements = std::span(member).subspan(header.data_offset);
  if (elements.size() != wanted) {
    throw Error{kCorruptData, what + ": shape " + array.shape.to_string() + " of " + header.descr + " wants " + std::to_string(wanted) +
                                  " bytes, got " + std::to_string(elements.size())};
  }
  if (header.fortran_order) {
    array.bytes = c_order_from_fortran(elements, array.shape, element_bytes);
  } else {
    array.bytes.assign(elements.begin(), elements.end());
  }
  return array;
}

}  // namespace

NpzFile NpzFile::read(const std::filesystem::path& path, const NpzLimits& limits) {
  const MappedFile file(path);
  return from_bytes(file.bytes(), path.string(), limits);
}

NpzFile NpzFile::from_bytes(std::span<const std::byte> archive, const std::string& file, const NpzLimits& limits) {
  const auto check_limit = [&](uint64_t got, uint64_t limit, const std::string& what) {
    if (got > limit) throw Error{kLimitExceeded, "npz file '" + file + "': " + std::to_string(got) + what + std::to_string(limit)};
  };
  check_limit(archive.size(), limits.max_file_bytes, " bytes, limit ");
  const std::vector<ZipMember> members = read_zip_directory(archive, file);
  check_limit(members.size(), limits.max_members, " members, limit ");
  uint64_t unpacked_bytes = 0;
  for (const ZipMember& member : members) unpacked_bytes = checked_add(unpacked_bytes, member.uncompressed_bytes);
  check_limit(unpacked_bytes, limits.max_unpacked_bytes, " bytes when unpacked, limit ");

  NpzFile npz;
  npz.file_ = file;
  for (const ZipMember& member : members) {
    if (!member.name.ends_with(kSuffix)) {
      npz.unread_.emplace(member.name, "not an .npy member");
      continue;
    }
    const std::string name = member.name.substr(0, member.name.size() - kSuffix.size());
    std::string reason;
    NpzArray array = parse_array(unpack_zip_member(member, file), "npz file '" + file + "': array '" + name + "'", reason);
    if (!reason.empty()) {
      npz.unread_.emplace(name, reason);
      continue;
    }
    array.name = name;
    npz.arrays_.emplace(name, std::move(array));
  }
  return npz;
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays_) names.push_back(name);
  return names;
}

const NpzArray& NpzFile::array(std::string_view name) const {
  if (const auto found = arrays_.find(name); found != arrays_.end()) return found->second;
  if (const auto found = unread_.find(name); found != unread_.end()) {
    throw Error{kUnsupported, "npz file '" + file_ + "': array '" + std::string(name) + "': " + found->second};
  }
  std::string message = "npz file '" + file_ + "' has no array '" + std::string(name) + "'; it has";
  if (arrays_.empty()) message += " none";
  for (const auto& [known, array] : arrays_) message += " '" + known + "'";
  throw Error{kNotFound, message};
}

}  // namespace pointmap
