// What sizes a VGGT checkpoint has, from the shapes of its tensors: there is no other place that says.
#pragma once

#include "io/safetensors/checkpoint.h"
#include "models/vggt/config.h"

namespace pointmap {

// By the names of its tensors, whatever file they are in.
bool is_vggt(const Checkpoint& checkpoint);

// Heads are taken to be 64 wide in DINOv2 and 16 in number in the camera head, as in the published model. Throws Error{kUnsupported}
// naming file, tensor and shape for a network that is not ours to run.
VggtConfig vggt_config_from(const Checkpoint& checkpoint);

}  // namespace pointmap
