// A scene back from the arrays it was exported as.
#pragma once

#include "io/npz/npz_file.h"
#include "scene/scene.h"

namespace pointmap {

// Reads both forms of scene.npz (export_npz.h, export_npz_stacked.h), also without `meta`: the stacked form is then what
// users of upstream VGGT keep. What an archive does not hold is empty; pictures that are missing (archives before they were written) become
// colours of depth. Throws Error{kCorruptData, kNotFound, kUnsupported, kLimitExceeded} naming file and array.
Scene import_npz(const NpzFile& file);

}  // namespace pointmap
