#include "io/config/config.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/mapped_file.h"
#include "io/config/config_parser.h"

namespace pointmap {
namespace {

constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53: doubles above it skip integers

const char* type_name(const ConfigValue& value) {
  constexpr const char* kNames[] = {"null", "a boolean", "a number", "a string", "a list", "an object"};
  return kNames[value.value.index()];
}

}  // namespace

const ConfigValue* ConfigMap::find(std::string_view key) const {
  const auto found = std::ranges::find(members_, key, &ConfigMember::key);
  return found == members_.end() ? nullptr : &found->value;
}

const ConfigValue& ConfigMap::require(std::string_view key) const {
  if (const ConfigValue* value = find(key)) return *value;
  throw Error{kNotFound, "'" + file_name_ + "': there is no key '" + std::string(key) + "'"};
}

void ConfigMap::fail_type(std::string_view key, const ConfigValue& got, const char* wanted) const {
  throw Error{kCorruptData, "'" + file_name_ + "': '" + std::string(key) + "' is " + type_name(got) + ", wanted " + wanted};
}

template <typename T>
const T& ConfigMap::require_type(std::string_view key, const char* wanted) const {
  const ConfigValue& value = require(key);
  if (const T* held = std::get_if<T>(&value.value)) return *held;
  fail_type(key, value, wanted);
}

bool ConfigMap::get_bool(std::string_view key) const {
  return require_type<bool>(key, "a boolean");
}
bool ConfigMap::get_bool(std::string_view key, bool fallback) const {
  return has(key) ? get_bool(key) : fallback;
}

int64_t ConfigMap::get_int(std::string_view key) const {
  const double number = require_type<double>(key, "an integer");
  if (std::isfinite(number) && std::trunc(number) == number && std::abs(number) <= kMaxExactInteger) return static_cast<int64_t>(number);
  throw Error{kCorruptData, "'" + file_name_ + "': '" + std::string(key) + "' is " + std::to_string(number) + ", wanted an integer"};
}
int64_t ConfigMap::get_int(std::string_view key, int64_t fallback) const {
  return has(key) ? get_int(key) : fallback;
}

double ConfigMap::get_number(std::string_view key) const {
  return require_type<double>(key, "a number");
}
double ConfigMap::get_number(std::string_view key, double fallback) const {
  return has(key) ? get_number(key) : fallback;
}

const std::string& ConfigMap::get_string(std::string_view key) const {
  return require_type<std::string>(key, "a string");
}
std::string ConfigMap::get_string(std::string_view key, const std::string& fallback) const {
  return has(key) ? get_string(key) : fallback;
}

std::vector<double> ConfigMap::get_numbers(std::string_view key) const {
  std::vector<double> numbers;
  for (const ConfigValue& value : get_list(key)) {
    const double* number = std::get_if<double>(&value.value);
    if (number == nullptr) {
      throw Error{kCorruptData, "'" + file_name_ + "': '" + std::string(key) + "' holds " + type_name(value) + ", wanted numbers only"};
    }
    numbers.push_back(*number);
  }
  return numbers;
}
std::vector<double> ConfigMap::get_numbers(std::string_view key, const std::vector<double>& fallback) const {
  return has(key) ? get_numbers(key) : fallback;
}

const ConfigValue::List& ConfigMap::get_list(std::string_view key) const {
  return require_type<ConfigValue::List>(key, "a list");
}

ConfigMap read_config(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_config(std::string_view(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()), path.string());
}

}  // namespace pointmap
