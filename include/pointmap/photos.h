// From what a user names to the photos of a run, in the order of its views.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pointmap {

struct Photo {
  std::string name;              // the file to read, or any name when bytes are given
  std::vector<std::byte> bytes;  // the encoded file (JPEG, PNG, WebP, HEIC); empty to read `name`
};

// Whether `a` comes before `b` as a person counts: "frame_2" before "frame_10". Runs of digits compare by their value, of any length;
// everything else byte by byte.
bool natural_less(std::string_view a, std::string_view b);

// The files that the entries stand for, entry after entry: of a folder its photos (.jpg, .jpeg, .png, .webp, .heic, .heif in any case; not
// those of folders within, not hidden ones), of a pattern ("frames/*.jpg"; *, ? and [...]) what it matches, both in natural order. Anything
// else, and what exists under the very name, stays as it is. Throws Error{kNotFound} naming a folder without photos or a pattern
// that matches nothing.
std::vector<std::string> find_photos(const std::vector<std::string>& entries);

struct PhotoChoice {
  std::string first = {};  // the photo that becomes view 1, as a file of the list, a file's name without its folder, or a number from 1
  size_t max_views = 0;    // 0: all; else so many, evenly spread over the list and with its ends, the first one always among them
};

// The others keep their order. Throws Error{kInvalidArgument} when `first` is none of the photos, or several.
std::vector<std::string> choose_photos(const std::vector<std::string>& photos, const PhotoChoice& choice);

}  // namespace pointmap
