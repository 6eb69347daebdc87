// A corner of a room whose points are known by formula, as a scene folder and as what a perfect network would say about it.
#pragma once

#include <array>
#include <filesystem>

#include "geometry/rigid_transform.h"
#include "pointmap/pointmap.h"

namespace pointmap {

struct Corner {
  int width = 96;  // of the photos
  int height = 72;
  double focal_px = 80;
  double unit = 1;  // everything, camera places too, that much larger
  RigidTransform world_from_cam1;
  RigidTransform cam1_from_cam2;
};

// The second camera stands to the right, turned by `turn_deg` about the vertical axis.
Corner corner_of(double turn_deg);
RigidTransform turned(double degrees);  // about y

// Writes photos, truth and scene.json. Truth: z of the walls' points at every pixel.
void write_corner(const std::filesystem::path& folder, const Corner& corner);

// What a network of a third of the photos' size would say if it knew: points at its own pixels, whose centres are those of photo pixels;
// cameras; nothing but truth. `factor` scales all lengths, as a network that does not know the unit.
Reconstruction perfect_run(const Corner& corner, double factor);

}  // namespace pointmap
