// The loaders of VGGT. Behind prepare_view; see the presets there.
#pragma once

#include <string>

#include "recon/preprocess.h"

namespace pointmap {

// kKeep with PatchFit::kScale: the whole photo, nothing added.
void prepare_whole(PreparedView& view, const Image& photo, const NetworkSize& size, const std::string& name);
void prepare_vggt_crop(PreparedView& view, const Image& photo, const std::string& name);
void prepare_vggt_pad(PreparedView& view, const Image& photo, const std::string& name);
void prepare_pad518(PreparedView& view, const Image& photo);

}  // namespace pointmap
