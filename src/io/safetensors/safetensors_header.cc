#include "io/safetensors/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "io/safetensors/json_events.h"
#include "io/safetensors/name_in_message.h"

namespace pointmap {
namespace {

constexpr uint64_t kLengthBytes = 8;

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64, DType::kI32, DType::kI16, DType::kI8,
                            DType::kU64, DType::kU32, DType::kU16, DType::kU8, DType::kBool}) {
    if (dtype_name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

// Builds the entries, with offsets still counted from data_begin, from the parser's events. Grammar:
//   { "__metadata__": {string: string, ...}, NAME: {"dtype": string, "shape": [n, ...], "data_offsets": [begin, end]}, ... }
class HeaderReader : public JsonEvents<HeaderReader> {
 public:
  HeaderReader(SafetensorsHeader& header, const std::string& file_name) : header_(header), file_name_(file_name) {}

  bool start_object(size_t) {
    if (place_ == Place::kStart) return go(Place::kTop);
    if (place_ == Place::kMetadataValue) return go(Place::kMetadata);
    if (place_ == Place::kTensorValue) return go(Place::kTensor);
    unexpected("an object");
  }

  bool key(std::string& key) {
    if (place_ == Place::kTop) return top_key(key);
    if (place_ == Place::kTensor) return tensor_key(key);
    if (place_ == Place::kMetadata) {
      if (header_.metadata.contains(key)) fail(kCorruptData, "key " + name_in_message(key) + " comes twice");
      metadata_key_ = key;
      return go(Place::kMetadataString);
    }
    unexpected("a key");
  }

  bool string(std::string& value) {
    if (place_ == Place::kMetadataString) {
      header_.metadata.emplace(metadata_key_, value);
      return go(Place::kMetadata);
    }
    if (place_ != Place::kDType) unexpected("a string");
    const std::optional<DType> dtype = dtype_from_name(value);
    if (!dtype) fail(kUnsupported, "has type " + name_in_message(value) + ", which we do not read");
    dtype_ = *dtype;
    return go(Place::kTensor);
  }

  bool start_array(size_t) {
    if (place_ == Place::kShapeValue) return go(Place::kShape);
    if (place_ == Place::kOffsetsValue) return go(Place::kOffsets);
    unexpected("a list");
  }

  bool number_unsigned(uint64_t value) {
    if (place_ == Place::kShape) {
      if (dims_.size() == Shape::kMaxRank) fail(kUnsupported, "has more than " + std::to_string(Shape::kMaxRank) + " dimensions");
      if (value > std::numeric_limits<int64_t>::max()) fail(kCorruptData, "has a dimension of " + std::to_string(value));
      dims_.push_back(static_cast<int64_t>(value));
      return true;
    }
    if (place_ != Place::kOffsets) unexpected("a number");
    if (num_offsets_ == 2) fail(kCorruptData, "has more than two data_offsets");
    (num_offsets_ == 0 ? begin_ : end_) = value;
    ++num_offsets_;
    return true;
  }

  bool end_array() { return go(Place::kTensor); }  // lists open only inside a tensor

  bool end_object() {
    if (place_ == Place::kTensor) finish_tensor();
    return go(place_ == Place::kTop ? Place::kDone : Place::kTop);
  }

  [[noreturn]] void unexpected(const char* what) const { fail(kCorruptData, std::string("header has ") + what + " where it must not be"); }
  [[noreturn]] void bad_json(size_t byte) const {
    fail(kCorruptData, "header is not valid UTF-8 JSON at byte " + std::to_string(byte) + " of the header");
  }

 private:
  enum class Place {
    kStart,
    kTop,
    kMetadataValue,
    kMetadata,
    kMetadataString,
    kTensorValue,
    kTensor,
    kDType,
    kShapeValue,
    kShape,
    kOffsetsValue,
    kOffsets,
    kDone
  };

  bool go(Place place) {
    place_ = place;
    return true;
  }

  // Names the tensor the reader was in, or the last one before the trouble.
  [[noreturn]] void fail(ErrorCode code, const std::string& what) const {
    const char* where = place_ == Place::kTop ? ": after tensor " : ": tensor ";
    throw Error{code, "'" + file_name_ + "'" + (name_.empty() ? std::string() : where + name_in_message(name_)) + ": " + what};
  }

  bool top_key(const std::string& key) {
    name_ = key;
    place_ = Place::kTensorValue;
    if (!names_.insert(key).second) fail(kCorruptData, "name comes twice");
    if (key == "__metadata__") return go(Place::kMetadataValue);
    if (header_.entries.size() == kMaxTensorsPerFile) {
      fail(kLimitExceeded, "file has more than " + std::to_string(kMaxTensorsPerFile) + " tensors");
    }
    has_dtype_ = has_shape_ = has_offsets_ = false;
    dims_.clear();
    num_offsets_ = 0;
    return true;
  }

  bool tensor_key(const std::string& key) {
    bool& seen = key == "dtype" ? has_dtype_ : key == "shape" ? has_shape_ : has_offsets_;
    if (key != "dtype" && key != "shape" && key != "data_offsets") fail(kCorruptData, "has an unknown key " + name_in_message(key));
    if (seen) fail(kCorruptData, "key '" + key + "' comes twice");
    seen = true;
    return go(key == "dtype" ? Place::kDType : key == "shape" ? Place::kShapeValue : Place::kOffsetsValue);
  }

  void finish_tensor() {
    if (!has_dtype_ || !has_shape_ || !has_offsets_) fail(kCorruptData, "lacks dtype, shape or data_offsets");
    if (num_offsets_ != 2) fail(kCorruptData, "has " + std::to_string(num_offsets_) + " data_offsets, wanted 2");
    SafetensorsEntry entry;
    uint64_t want_bytes = 0;
    try {
      entry.shape = Shape(std::span<const int64_t>(dims_));
      want_bytes = checked_mul(static_cast<uint64_t>(entry.shape.num_elements()), static_cast<uint64_t>(dtype_bytes(dtype_)));
    } catch (const Error& error) {
      fail(kCorruptData, error.what());
    }
    if (end_ < begin_ || end_ - begin_ != want_bytes) {
      fail(kCorruptData, "data_offsets [" + std::to_string(begin_) + ", " + std::to_string(end_) + "] do not span the " +
                             std::to_string(want_bytes) + " bytes of " + std::string(dtype_name(dtype_)) + " " + entry.shape.to_string());
    }
    entry.name = name_;
    entry.dtype = dtype_;
    entry.begin = begin_;
    entry.end = end_;
    header_.entries.push_back(std::move(entry));
  }

  SafetensorsHeader& header_;
  const std::string& file_name_;
  Place place_ = Place::kStart;
  std::unordered_set<std::string> names_;
  std::string name_;  // of the tensor being read
  std::string metadata_key_;
  DType dtype_ = DType::kF32;
  std::vector<int64_t> dims_;
  uint64_t begin_ = 0, end_ = 0;
  int num_offsets_ = 0;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
};

uint64_t read_header_length(std::span<const std::byte> file_bytes, const std::string& file_name) {
  if (file_bytes.size() < kLengthBytes) {
    throw Error{kCorruptData, "'" + file_name + "': " + std::to_string(file_bytes.size()) + " bytes are too few for a safetensors file"};
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<uint64_t>(file_bytes[i]) << (8 * i);
  if (length > kMaxSafetensorsHeaderBytes) {
    throw Error{kLimitExceeded, "'" + file_name + "': header of " + std::to_string(length) + " bytes, at most " +
                                    std::to_string(kMaxSafetensorsHeaderBytes) + " are allowed (is this a safetensors file?)"};
  }
  if (length > file_bytes.size() - kLengthBytes) {
    throw Error{kCorruptData, "'" + file_name + "': header ends at byte " + std::to_string(kLengthBytes + length) + ", file has " +
                                  std::to_string(file_bytes.size())};
  }
  return length;
}

// Sorts the entries by position and refuses anything but a gapless cover of [0, data_bytes).
void check_layout(std::vector<SafetensorsEntry>& entries, uint64_t data_bytes, const std::string& file_name) {
  std::ranges::sort(entries, [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t covered = 0;
  const auto fail = [&](const std::string& tensor, const std::string& what) {
    throw Error{kCorruptData, "'" + file_name + "': tensor " + name_in_message(tensor) + ": " + what};
  };
  for (const SafetensorsEntry& entry : entries) {
    if (entry.end > data_bytes) {
      fail(entry.name, "data ends at byte " + std::to_string(entry.end) + ", file has " + std::to_string(data_bytes) + " bytes of data");
    }
    if (entry.begin < covered) {
      fail(entry.name,
           "data begins at byte " + std::to_string(entry.begin) + " inside another tensor that ends at " + std::to_string(covered));
    }
    if (entry.begin > covered) {
      fail(entry.name, "data begins at byte " + std::to_string(entry.begin) + ", but bytes from " + std::to_string(covered) +
                           " on belong to no tensor");
    }
    covered = entry.end;
  }
  if (covered < data_bytes) {
    const std::string last = entries.empty() ? std::string() : " after the last tensor " + name_in_message(entries.back().name);
    throw Error{kCorruptData, "'" + file_name + "': " + std::to_string(data_bytes - covered) + " bytes" + last + " belong to no tensor"};
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file_bytes, const std::string& file_name) {
  const uint64_t header_bytes = read_header_length(file_bytes, file_name);
  const char* json = reinterpret_cast<const char*>(file_bytes.data()) + kLengthBytes;
  if (header_bytes == 0 || json[0] != '{') throw Error{kCorruptData, "'" + file_name + "': header does not begin with '{'"};

  SafetensorsHeader header;
  HeaderReader reader(header, file_name);
  const std::string_view text(json, header_bytes);
  // The parser takes a NUL byte for the end and would ignore what follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) reader.bad_json(nul);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  header.data_begin = kLengthBytes + header_bytes;
  check_layout(header.entries, file_bytes.size() - header.data_begin, file_name);
  for (SafetensorsEntry& entry : header.entries) {
    entry.begin += header.data_begin;
    entry.end += header.data_begin;
  }
  return header;
}

}  // namespace pointmap
