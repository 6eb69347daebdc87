// Which photos, in which order. See pointmap/photos.h.
#include "recon/photo_list.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/check.h"
#include "pointmap/photos.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kExtensions = {".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Cuts the leading run of digits off `text`, and off that its leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  std::string_view digits = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

std::vector<std::string> photos_in(const fs::path& folder) {
  std::vector<std::string> photos;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (is_photo_name(entry->path().filename().string()) && !entry->is_directory()) photos.push_back(entry->path().string());
  }
  if (error) throw Error{kIoError, "cannot list the folder '" + folder.string() + "': " + error.message()};
  if (photos.empty()) throw Error{kNotFound, "the folder '" + folder.string() + "' has no photos (JPEG, PNG, WebP or HEIC)"};
  return photos;
}

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, globfree);
  const int status = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  if (status == GLOB_NOMATCH) throw Error{kNotFound, "no file matches '" + pattern + "'"};
  if (status != 0) throw Error{kIoError, "cannot look for '" + pattern + "'"};
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

// `count` of 0 .. size - 1, evenly spread, both ends among them where there are two.
std::vector<size_t> spread(size_t size, size_t count) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < count; ++i) {
    const double at = count < 2 ? 0 : static_cast<double>(i) * static_cast<double>(size - 1) / static_cast<double>(count - 1);
    chosen.push_back(static_cast<size_t>(std::lround(at)));
  }
  return chosen;
}

size_t index_of(const std::vector<std::string>& photos, const std::string& first) {
  std::vector<size_t> places;
  const auto look = [&](const auto& is_it) {
    for (size_t i = 0; i < photos.size() && places.size() < 2; ++i) {
      if (is_it(photos[i])) places.push_back(i);
    }
  };
  look([&](const std::string& photo) { return photo == first; });
  if (places.size() == 2) return places[0];  // the same file twice
  if (places.empty()) look([&](const std::string& photo) { return fs::path(photo).filename() == first; });
  POINTMAP_CHECK(places.size() < 2, "'" + first + "' is the name of several photos: '" + photos[places[0]] + "' and '" + photos[places[1]] +
                                        "'; name one of them with its folder");
  if (places.size() == 1) return places[0];
  size_t number = 0;
  const char* end = first.data() + first.size();
  const bool is_number = std::from_chars(first.data(), end, number).ptr == end && !first.empty();
  POINTMAP_CHECK(is_number && number >= 1 && number <= photos.size(),
                 "'" + first + "' is none of the photos, and no number from 1 to " + std::to_string(photos.size()));
  return number - 1;
}

}  // namespace

bool is_photo_name(const std::string& name) {
  std::string extension = fs::path(name).extension().string();
  std::ranges::transform(extension, extension.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return !name.starts_with(".") && std::ranges::find(kExtensions, extension) != kExtensions.end();
}

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view x = take_number(a), y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[0] != b[0]) return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // the same but for leading zeros
}

std::vector<std::string> find_photos(const std::vector<std::string>& entries) {
  std::vector<std::string> photos;
  for (const std::string& entry : entries) {
    std::vector<std::string> found;
    if (fs::is_directory(entry)) {
      found = photos_in(entry);
    } else if (entry.find_first_of("*?[") != std::string::npos && !fs::exists(entry)) {
      found = matches_of(entry);
    } else {
      found = {entry};
    }
    std::ranges::sort(found, natural_less);
    photos.insert(photos.end(), found.begin(), found.end());
  }
  return photos;
}

std::vector<std::string> choose_photos(const std::vector<std::string>& photos, const PhotoChoice& choice) {
  const size_t num_views = choice.max_views == 0 ? photos.size() : std::min(choice.max_views, photos.size());
  std::vector<std::string> chosen;
  if (choice.first.empty()) {
    for (const size_t i : spread(photos.size(), num_views)) chosen.push_back(photos[i]);
    return chosen;
  }
  const size_t first = index_of(photos, choice.first);
  std::vector<std::string> others = photos;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(first));
  chosen.push_back(photos[first]);
  for (const size_t i : spread(others.size(), num_views - 1)) chosen.push_back(others[i]);
  return chosen;
}

}  // namespace pointmap
