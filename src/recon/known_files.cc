// What the caller knows, from text and files. See pointmap/known_inputs.h.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/mapped_file.h"
#include "io/cameras/number_lines.h"
#include "pointmap/known_inputs.h"
#include "recon/known_text.h"
#include "recon/photo_list.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileBytes = size_t{16} << 20;

// The photo's name with and without its extension.
bool is_mask_of(const fs::path& file, const fs::path& photo) {
  return is_photo_name(file.filename().string()) && (file.stem() == photo.stem() || file.stem() == photo.filename());
}

// False when `text` is no number and nothing else.
bool read_number(std::string_view text, auto& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "U:V" or "N:U:V"
PhotoPoint parse_point(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  PhotoPoint point;
  size_t photo = 1;
  const bool has_photo = parts.size() == 3;
  const bool is_point = (parts.size() == 2 || (has_photo && read_number(parts[0], photo) && photo > 0)) &&
                        read_number(parts[parts.size() - 2], point.pixel.u) && read_number(parts.back(), point.pixel.v) &&
                        std::isfinite(point.pixel.u) && std::isfinite(point.pixel.v);
  POINTMAP_CHECK(is_point, "'" + std::string(text) + "' is no pixel");
  point.photo = photo - 1;
  return point;
}

}  // namespace

std::string read_known_text(const fs::path& file) {
  const MappedFile mapped(file);
  if (mapped.bytes().size() > kMaxFileBytes)
    throw Error{kLimitExceeded, "'" + file.string() + "' has " + std::to_string(mapped.bytes().size()) + " bytes, at most " +
                                    std::to_string(kMaxFileBytes) + " are read"};
  return {reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()};
}

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
  for (const NumberLine& line : parse_number_lines(read_known_text(file), file.string(), "fx fy cx cy"))
    list.push_back({line.values[0], line.values[1], line.values[2], line.values[3]});
  if (list.empty()) throw Error{kCorruptData, "'" + file.string() + "' has no line 'fx fy cx cy'"};
  return list;
}

KnownDistance parse_distance(std::string_view text) {
  const size_t first = text.find(','), second = first == std::string_view::npos ? first : text.find(',', first + 1);
  try {
    if (second == std::string_view::npos) throw Error{kInvalidArgument, "three parts are wanted"};
    KnownDistance distance{.from = parse_point(text.substr(0, first)), .to = parse_point(text.substr(first + 1, second - first - 1))};
    const std::string_view metres = text.substr(second + 1);
    if (!read_number(metres, distance.metres) || !std::isfinite(distance.metres) || !(distance.metres > 0))
      throw Error{kInvalidArgument, "'" + std::string(metres) + "' is no length above 0"};
    return distance;
  } catch (const Error& error) {
    throw Error{kInvalidArgument, "distance '" + std::string(text) + "': " + error.what() +
                                      "; want P,Q,METRES, where P and Q are U:V in the first photo or N:U:V in photo N"};
  }
}

std::vector<Photo> find_masks(const fs::path& folder, const std::vector<std::string>& photos) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) files.push_back(entry->path());
  if (error)
    throw Error{error == std::errc::no_such_file_or_directory ? kNotFound : kIoError,
                "cannot list the folder of masks '" + folder.string() + "': " + error.message()};
  std::ranges::sort(files);
  std::vector<Photo> masks;
  for (const std::string& photo : photos) {
    const auto is_it = [&](const fs::path& file) { return is_mask_of(file, photo); };
    const auto found = std::ranges::find_if(files, is_it);
    if (found == files.end())
      throw Error{kNotFound, "photo '" + photo + "' has no mask: want '" + (folder / fs::path(photo).stem()).string() +
                                 ".png', or another kind of picture of this name"};
    const auto second = std::find_if(found + 1, files.end(), is_it);
    POINTMAP_CHECK(second == files.end(), "photo '" + photo + "' has two masks: '" + found->string() + "' and '" + second->string() + "'");
    masks.push_back({.name = found->string(), .bytes = {}});
  }
  return masks;
}

}  // namespace pointmap
