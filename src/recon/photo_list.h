// What of photo_list.cc others here need; the rest is public: pointmap/photos.h.
#pragma once

#include <string>

namespace pointmap {

// Whether a file of this name, without its folder, counts as a photo: by its extension, and not hidden.
bool is_photo_name(const std::string& name);

}  // namespace pointmap
