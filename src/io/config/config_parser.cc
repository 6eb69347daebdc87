#include "io/config/config_parser.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace pointmap {
namespace {

// nlohmann/json reads only what JSON allows, so NaN and Infinity are first replaced by numbers in a spelling that no program
// writes; the parser hands over each number's spelling, which tells them apart again. A text that already holds such a spelling
// is refused, so nothing can be mistaken.
constexpr std::string_view kNanSpelling = "0.00000000e+0000000000";
constexpr std::string_view kInfinitySpelling = "1.00000000e+0000000000";
constexpr std::string_view kMinusInfinitySpelling = "-1.00000000e+0000000000";  // "-Infinity" after the replacement

// The text with every bare NaN and Infinity, that is outside strings, replaced.
std::string with_spellings(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    if (in_string && text[i] == '\\') {
      result += text.substr(i, 2);  // an escaped quote does not end the string
      i += 2;
    } else if (!in_string && text.substr(i).starts_with("NaN")) {
      result += kNanSpelling;
      i += 3;
    } else if (!in_string && text.substr(i).starts_with("Infinity")) {
      result += kInfinitySpelling;
      i += 8;
    } else {
      in_string ^= text[i] == '"';
      result += text[i++];
    }
  }
  return result;
}

// Builds the values from the parser's events (the function names are the library's). Events, not a parsed document, because a
// document no longer shows that a key came twice, nor how a number was spelled.
class ConfigReader {
 public:
  explicit ConfigReader(const std::string& file_name) : file_name_(file_name) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(static_cast<double>(value)); }
  bool number_unsigned(uint64_t value) { return add(static_cast<double>(value)); }
  bool number_float(double value, const std::string& spelling) {
    if (spelling == kNanSpelling) return add(std::numeric_limits<double>::quiet_NaN());
    if (spelling == kInfinitySpelling) return add(std::numeric_limits<double>::infinity());
    if (spelling == kMinusInfinitySpelling) return add(-std::numeric_limits<double>::infinity());
    // "-NaN", "1Infinity" and "Infinity1" became numbers by the replacement; they are none.
    for (const std::string_view part : {kNanSpelling, kInfinitySpelling}) {
      if (spelling.find(part) != std::string::npos) bad_json();
    }
    return add(value);
  }
  bool string(std::string& value) { return add(std::move(value)); }
  template <typename Binary>
  bool binary(Binary&) {
    fail("holds binary data");  // only other formats than JSON have it
  }
  bool start_object(size_t) { return open(ConfigValue::Object{}); }
  bool start_array(size_t) { return open(ConfigValue::List{}); }
  bool key(std::string& key) {
    auto& members = std::get<ConfigValue::Object>(open_.back().value);
    if (std::ranges::find(members, key, &ConfigMember::key) != members.end()) fail("key '" + printable(key) + "' comes twice");
    members.push_back({std::move(key), {}});
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  template <typename Exception>
  bool parse_error(size_t, const std::string&, const Exception&) {
    bad_json();
  }

  ConfigValue::Object take() { return std::get<ConfigValue::Object>(std::move(root_.value)); }

 private:
  static std::string last_key(const ConfigValue& value) {
    const auto* members = std::get_if<ConfigValue::Object>(&value.value);
    return members == nullptr || members->empty() ? "" : members->back().key;
  }

  // Keys go into messages that end on a terminal.
  static std::string printable(const std::string& key) {
    std::string text = key.substr(0, 100);
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    return text;
  }

  [[noreturn]] void bad_json() const {
    const std::string after = open_.empty() ? "" : last_key(open_.back());
    fail("is not valid UTF-8 JSON" + (after.empty() ? std::string() : " after key '" + printable(after) + "'"));
  }

  [[noreturn]] void fail(const std::string& what, ErrorCode code = kCorruptData) const {
    throw Error{code, "'" + file_name_ + "': " + what};
  }

  // Puts a finished value where it belongs: into the list or object being read, or at the top.
  bool add(decltype(ConfigValue::value) value) {
    if (++num_values_ > kMaxConfigValues) fail("holds more than " + std::to_string(kMaxConfigValues) + " values", kLimitExceeded);
    if (open_.empty()) {
      if (!std::holds_alternative<ConfigValue::Object>(value)) fail("is not an object at the top");
      root_.value = std::move(value);
    } else if (auto* list = std::get_if<ConfigValue::List>(&open_.back().value)) {
      list->push_back({std::move(value)});
    } else {
      std::get<ConfigValue::Object>(open_.back().value).back().value.value = std::move(value);
    }
    return true;
  }

  bool open(decltype(ConfigValue::value) value) {
    if (open_.size() == kMaxConfigDepth) fail("nests deeper than " + std::to_string(kMaxConfigDepth) + " levels", kLimitExceeded);
    open_.push_back({std::move(value)});
    return true;
  }

  bool close() {
    ConfigValue value = std::move(open_.back());
    open_.pop_back();
    return add(std::move(value.value));
  }

  const std::string& file_name_;
  std::vector<ConfigValue> open_;  // lists and objects whose end has not come yet, outermost first
  ConfigValue root_;
  size_t num_values_ = 0;
};

}  // namespace

ConfigMap parse_config(std::string_view text, const std::string& file_name) {
  if (text.size() > kMaxConfigBytes) {
    throw Error{kLimitExceeded, "'" + file_name + "': " + std::to_string(text.size()) + " bytes, a configuration has at most " +
                                    std::to_string(kMaxConfigBytes)};
  }
  // A NUL byte would end the text for the parser, and what follows would be ignored.
  for (const std::string_view refused : {std::string_view("\0", 1), kNanSpelling, kInfinitySpelling}) {
    if (text.find(refused) != std::string_view::npos) throw Error{kCorruptData, "'" + file_name + "': is not valid UTF-8 JSON"};
  }
  const std::string strict = with_spellings(text);
  ConfigReader reader(file_name);
  nlohmann::json::sax_parse(strict, &reader);
  return ConfigMap(file_name, reader.take());
}

}  // namespace pointmap
