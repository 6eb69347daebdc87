// Arrays from a NumPy .npz archive, read whole into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor_view.h"

namespace pointmap {

struct NpzArray {
  std::string name;  // without ".npy"
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<std::byte> bytes;  // the elements, C order, little-endian

  // The elements as T, which must be the array's type. Throws Error{kInvalidArgument} naming the array otherwise.
  template <typename T>
  std::span<const T> as() const {
    POINTMAP_CHECK(dtype_of<T>() == dtype,
                   "array '" + name + "' is " + std::string(dtype_name(dtype)) + ", asked for " + std::string(dtype_name(dtype_of<T>())));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  TensorView view() const { return TensorView(bytes.data(), dtype, shape); }
  // The elements as text: what NpzWriter::add_text wrote. The array must be U8.
  std::string_view text() const {
    const auto characters = as<uint8_t>();
    return {reinterpret_cast<const char*>(characters.data()), characters.size()};
  }
};

struct NpzLimits {
  uint64_t max_file_bytes = uint64_t{16} << 30;
  uint64_t max_unpacked_bytes = uint64_t{16} << 30;  // of all members together
  size_t max_members = 1 << 16;
};

class NpzFile {
 public:
  // Reads every array. Throws Error{kNotFound, kIoError} for the file, Error{kCorruptData, kUnsupported, kLimitExceeded} naming
  // file and member for its content. Members that are well formed but not numeric arrays in little-endian go to unread().
  static NpzFile read(const std::filesystem::path& path, const NpzLimits& limits = {});
  // The same from bytes in memory; `file` is the name used in messages.
  static NpzFile from_bytes(std::span<const std::byte> archive, const std::string& file, const NpzLimits& limits = {});

  const std::string& file() const { return file_; }
  std::vector<std::string> names() const;  // sorted
  bool has(std::string_view name) const { return arrays_.contains(name); }
  // Throws Error{kNotFound} naming the file and listing what is there, Error{kUnsupported} for an array in unread().
  const NpzArray& array(std::string_view name) const;
  // Members that were not read, and why.
  const std::map<std::string, std::string, std::less<>>& unread() const { return unread_; }

 private:
  std::string file_;
  std::map<std::string, NpzArray, std::less<>> arrays_;
  std::map<std::string, std::string, std::less<>> unread_;
};

}  // namespace pointmap
