// What to run when nobody names a model.
#pragma once

#include "io/hub/hub_environment.h"
#include "pointmap/models.h"

namespace pointmap {

// As default_model() of the public header, for this cache.
DefaultModel default_model_for(const HubEnvironment& environment);

}  // namespace pointmap
