// What the caller knows, from text and files. See pointmap/known_inputs.h.
#include <filesystem>
#include <string>

#include "base/check.h"
#include "base/mapped_file.h"
#include "io/cameras/number_lines.h"
#include "pointmap/known_inputs.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileBytes = size_t{16} << 20;

std::string read_text(const fs::path& file) {
  const MappedFile mapped(file);
  if (mapped.bytes().size() > kMaxFileBytes)
    throw Error{kLimitExceeded, "'" + file.string() + "' has " + std::to_string(mapped.bytes().size()) + " bytes, at most " +
                                    std::to_string(kMaxFileBytes) + " are read"};
  return {reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()};
}

}  // namespace

Intrinsics parse_intrinsics(std::string_view text) {
  try {
    const std::vector<NumberLine> lines = parse_number_lines(text, "intrinsics", "FX,FY,CX,CY");
    if (lines.size() == 1) return {lines[0].values[0], lines[0].values[1], lines[0].values[2], lines[0].values[3]};
  } catch (const Error&) {
    // What is wrong with four numbers needs no line number.
  }
  throw Error{kInvalidArgument, "intrinsics '" + std::string(text) + "', want FX,FY,CX,CY"};
}

std::vector<Intrinsics> read_intrinsics(const fs::path& file) {
  std::vector<Intrinsics> list;
  for (const NumberLine& line : parse_number_lines(read_text(file), file.string(), "fx fy cx cy"))
    list.push_back({line.values[0], line.values[1], line.values[2], line.values[3]});
  if (list.empty()) throw Error{kCorruptData, "'" + file.string() + "' has no line 'fx fy cx cy'"};
  return list;
}

}  // namespace pointmap
