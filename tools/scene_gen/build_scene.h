// Random scenes: a furnished room or open ground, each wholly decided by its seed and index.
#pragma once

#include "random.h"
#include "scene.h"

namespace pointmap::scene_gen {

Scene build_room(Random& random);
Scene build_ground(Random& random);

// Shortest distance from `point` to any surface of the scene; negative inside a solid or outside the room.
float clearance(const Scene& scene, Vec3 point);

// Shared by both kinds of scene.
struct MaterialWish {
  float largest_m = 1;  // of the surface: patterns are sized to it
  bool calm = false;    // no loud patterns (ceilings)
};
int add_random_material(Scene& scene, Random& random, const MaterialWish& wish);
int add_picture_material(Scene& scene, Random& random, float size_m);

// Each adds nothing when the scene is full. yaw turns about the vertical.
void add_box(Scene& scene, Vec3 centre, Vec3 half, float yaw, int material);
void add_tilted_box(Scene& scene, Vec3 centre, Vec3 half, const Rotation& local_from_world, int material);
void add_sphere(Scene& scene, Vec3 centre, float radius, const Rotation& local_from_world, int material);
// Axis along the rotation's third row.
void add_cylinder(Scene& scene, Vec3 centre, float radius, float half_height, const Rotation& local_from_world, int material);

Rotation yaw_rotation(float yaw);
Rotation random_rotation(Random& random);

}  // namespace pointmap::scene_gen
