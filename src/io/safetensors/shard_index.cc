#include "io/safetensors/shard_index.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/safetensors/json_events.h"
#include "io/safetensors/name_in_message.h"
#include "io/safetensors/safetensors_header.h"

namespace pointmap {
namespace {

constexpr size_t kMaxIndexBytes = 100'000'000;
constexpr int kMaxDepth = 16;

// Grammar: { "metadata": anything, "weight_map": {NAME: FILE, ...} }, other keys skipped.
class IndexReader : public JsonEvents<IndexReader> {
 public:
  explicit IndexReader(const std::string& index_name) : index_name_(index_name) {}

  bool start_object(size_t) {
    if (depth_ == 1 && last_key_ == "weight_map") {
      if (has_map_) fail("weight_map comes twice");
      has_map_ = in_map_ = true;
    } else if (in_map_) {
      unexpected("an object");
    }
    return deeper();
  }
  bool end_object() {
    in_map_ = false;  // nothing nests inside the map
    --depth_;
    return true;
  }
  bool start_array(size_t) { return depth_ == 0 || in_map_ ? refuse("a list") : deeper(); }
  bool end_array() {
    --depth_;
    return true;
  }
  bool key(std::string& key) {
    if (in_map_ && file_of_tensor_.contains(key)) fail("tensor " + name_in_message(key) + " comes twice");
    last_key_ = key;
    return true;
  }
  bool string(std::string& value) {
    if (!in_map_) return scalar("a string");
    const bool plain = !value.empty() && value != "." && value != ".." && value.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
    if (!plain)
      fail("tensor " + name_in_message(last_key_) + ": " + name_in_message(value) + " is not the name of a file beside the index");
    if (file_of_tensor_.size() == kMaxTensorsPerFile) {
      throw Error{kLimitExceeded, "'" + index_name_ + "': more than " + std::to_string(kMaxTensorsPerFile) + " tensors"};
    }
    file_of_tensor_.emplace(last_key_, value);
    return true;
  }
  bool null() { return scalar("null"); }
  bool boolean(bool) { return scalar("a boolean"); }
  bool number_integer(int64_t) { return scalar("a number"); }
  bool number_unsigned(uint64_t) { return scalar("a number"); }
  bool number_float(double, const std::string&) { return scalar("a number"); }

  [[noreturn]] void unexpected(const char* what) const {
    fail(std::string("has ") + what + " where it must not be" + (in_map_ ? ", at tensor " + name_in_message(last_key_) : ""));
  }
  [[noreturn]] void bad_json(size_t byte) const { fail("is not valid UTF-8 JSON at byte " + std::to_string(byte)); }

  std::map<std::string, std::string> take() {
    if (!has_map_) fail("has no weight_map");
    return std::move(file_of_tensor_);
  }

 private:
  bool deeper() {
    if (++depth_ > kMaxDepth) fail("nests deeper than " + std::to_string(kMaxDepth));
    return true;
  }
  bool scalar(const char* what) const { return depth_ == 0 || in_map_ ? refuse(what) : true; }
  bool refuse(const char* what) const { unexpected(what); }
  [[noreturn]] void fail(const std::string& what) const { throw Error{kCorruptData, "'" + index_name_ + "': " + what}; }

  const std::string& index_name_;
  std::map<std::string, std::string> file_of_tensor_;
  std::string last_key_;
  int depth_ = 0;
  bool has_map_ = false;
  bool in_map_ = false;
};

}  // namespace

std::map<std::string, std::string> parse_shard_index(std::span<const std::byte> index_bytes, const std::string& index_name) {
  if (index_bytes.size() > kMaxIndexBytes) {
    throw Error{kLimitExceeded, "'" + index_name + "': " + std::to_string(index_bytes.size()) + " bytes, an index has at most " +
                                    std::to_string(kMaxIndexBytes)};
  }
  const std::string_view json(reinterpret_cast<const char*>(index_bytes.data()), index_bytes.size());
  IndexReader reader(index_name);
  // The parser takes a NUL byte for the end and would ignore what follows.
  if (const size_t nul = json.find('\0'); nul != std::string_view::npos) reader.bad_json(nul);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  return reader.take();
}

}  // namespace pointmap
