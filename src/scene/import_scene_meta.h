// What scene_meta_json wrote, back from its text, which anybody may have written.
#pragma once

#include <string>
#include <string_view>

#include "scene/scene.h"

namespace pointmap {

// A scene whose views have a source, a status, a reason and a transform, and no arrays yet; a transform with network_width 0 where the text
// has none. `what` names file and array in messages. Throws Error{kCorruptData} for a text that is not of a scene, and for transforms that
// cannot be.
Scene import_scene_meta(std::string_view text, const std::string& what);

}  // namespace pointmap
