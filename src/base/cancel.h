// The cancel flag is public, and the same inside as outside.
#pragma once

#include "pointmap/progress.h"  // IWYU pragma: export
