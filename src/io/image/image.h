// The picture is public, and the same inside as outside.
#pragma once

#include "pointmap/image.h"  // IWYU pragma: export
