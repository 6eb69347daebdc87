// The transform is public, and the same inside as outside.
#pragma once

#include "pointmap/view_transform.h"  // IWYU pragma: export
