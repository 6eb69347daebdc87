// What sizes a DUSt3R checkpoint has: from its config.json, or from the shapes of its tensors when there is none.
#pragma once

#include "io/config/config.h"
#include "io/safetensors/checkpoint.h"
#include "models/dust3r/config.h"

namespace pointmap {

// Throws Error{kUnsupported, kCorruptData} naming file, key and value for a network that is not ours to run.
Dust3rConfig dust3r_config_from(const ConfigMap& config);

// Throws Error{kUnsupported} when the tensors are not those of a DUSt3R. Head sizes are taken to be 64, as in every published model.
Dust3rConfig dust3r_config_from(const Checkpoint& checkpoint);

}  // namespace pointmap
