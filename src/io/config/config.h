// The values of a model's config.json, given out by type, with errors that name the file and the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pointmap {

struct ConfigMember;

// One JSON value. Numbers are doubles (infinities and NaN included), objects are lists of members in the order of the file.
struct ConfigValue {
  using List = std::vector<ConfigValue>;
  using Object = std::vector<ConfigMember>;
  // Null by default. No initializer here: clang 14 would want ConfigMember complete for it.
  std::variant<std::nullptr_t, bool, double, std::string, List, Object> value;
};

struct ConfigMember {
  std::string key;
  ConfigValue value;
};

class ConfigMap {
 public:
  // file_name is for messages.
  ConfigMap(std::string file_name, ConfigValue::Object members) : file_name_(std::move(file_name)), members_(std::move(members)) {}

  const std::string& file_name() const { return file_name_; }
  const std::vector<ConfigMember>& members() const { return members_; }
  // Null when the key is absent.
  const ConfigValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // Without a fallback an absent key is Error{kNotFound}; a value of another type is always Error{kCorruptData}. A JSON null
  // counts as a value of another type.
  bool get_bool(std::string_view key) const;
  bool get_bool(std::string_view key, bool fallback) const;
  // A number without a fraction, within 2^53.
  int64_t get_int(std::string_view key) const;
  int64_t get_int(std::string_view key, int64_t fallback) const;
  double get_number(std::string_view key) const;
  double get_number(std::string_view key, double fallback) const;
  const std::string& get_string(std::string_view key) const;
  std::string get_string(std::string_view key, const std::string& fallback) const;
  // A list of numbers, such as img_size [512, 512].
  std::vector<double> get_numbers(std::string_view key) const;
  std::vector<double> get_numbers(std::string_view key, const std::vector<double>& fallback) const;
  // A list of anything, such as depth_mode ["exp", -Infinity, Infinity]; use std::get_if on its values.
  const ConfigValue::List& get_list(std::string_view key) const;

 private:
  const ConfigValue& require(std::string_view key) const;
  template <typename T>
  const T& require_type(std::string_view key, const char* wanted) const;
  [[noreturn]] void fail_type(std::string_view key, const ConfigValue& got, const char* wanted) const;

  std::string file_name_;
  ConfigValue::Object members_;
};

// Reads `path`. Throws Error{kNotFound, kIoError} when it cannot be read and what parse_config throws.
ConfigMap read_config(const std::filesystem::path& path);

}  // namespace pointmap
