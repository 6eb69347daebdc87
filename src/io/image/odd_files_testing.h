// The table of odd files: its row type, and the small tools that its parts share.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "io/image/decode.h"
#include "io/image/fixtures_testing.h"

namespace pointmap::odd_files {

using namespace fixtures;

struct Rgb {
  int r, g, b;
};

// A decoded picture and one of its pixels; tolerance in levels (0 for lossless codecs).
struct Picture {
  std::string format;
  int width, height;
  int x, y;
  Rgb rgb;
  int tolerance = 0;
  int orientation = 1;
  bool had_alpha = false;
};

struct Failure {
  ErrorCode code;
  std::string part_of_message;
};

struct Row {
  std::string what;
  std::function<Bytes()> make;
  std::variant<Picture, Failure> want;
  DecodeOptions options = {};
};

// The parts of the table that have a file of their own.
std::vector<Row> jpeg_rows();
std::vector<Row> exif_rows();
std::vector<Row> png_rows();

inline const Image kQuarters = quarters(32, 16);
inline constexpr Rgb kRed{255, 0, 0};
inline constexpr Rgb kGreen{0, 255, 0};
inline constexpr Rgb kBlue{0, 0, 255};
inline constexpr Rgb kWhite{255, 255, 255};
inline constexpr DecodeOptions kDropAlpha{.alpha = AlphaRule::kDrop};
inline constexpr int kLossy = 3;  // levels: quality 100 in the middle of a flat quarter

inline Bytes raw(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

inline Bytes cut(Bytes bytes, size_t from_end) {
  bytes.erase(bytes.end() - static_cast<ptrdiff_t>(from_end), bytes.end());
  return bytes;
}

inline Bytes with(Bytes bytes, size_t at, std::initializer_list<int> values) {
  for (const int value : values) bytes.at(at++) = static_cast<std::byte>(value);
  return bytes;
}

inline size_t position_of(const Bytes& bytes, std::initializer_list<int> pattern) {
  const Bytes wanted = raw(pattern);
  const auto found = std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
  if (found == bytes.end()) std::abort();
  return static_cast<size_t>(found - bytes.begin());
}

}  // namespace pointmap::odd_files
