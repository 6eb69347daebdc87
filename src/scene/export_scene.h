// Exporting is public (include/pointmap/export.h), and the same inside as outside.
#pragma once

#include "pointmap/export.h"  // IWYU pragma: export
