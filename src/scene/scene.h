// The scene is public, and the same inside as outside.
#pragma once

#include "pointmap/scene.h"  // IWYU pragma: export
