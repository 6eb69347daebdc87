// Putting solids into a scene, and how far a point is from them.
#include <algorithm>

#include "build_scene.h"

namespace pointmap::scene_gen {

namespace {

void add_solid(Scene& scene, Solid solid, Vec3 centre, Vec3 half, const Rotation& local_from_world, int material) {
  if (scene.num_primitives == kMaxPrimitives) return;
  Primitive& added = scene.primitives[scene.num_primitives++];
  added.solid = solid;
  added.centre = centre;
  added.half = half;
  added.local_from_world = local_from_world;
  added.material = material;
  if (solid == Solid::kSphere) added.bound_radius = half.x;
  if (solid == Solid::kBox) added.bound_radius = length(half);
  if (solid == Solid::kCylinder) added.bound_radius = std::sqrt(half.x * half.x + half.z * half.z);
}

// Negative inside. Exact outside for all three solids.
float distance_to(const Primitive& solid, Vec3 point) {
  const Vec3 local = solid.local_from_world * (point - solid.centre);
  if (solid.solid == Solid::kSphere) return length(local) - solid.half.x;
  Vec3 beyond{std::fabs(local.x) - solid.half.x, std::fabs(local.y) - solid.half.y, std::fabs(local.z) - solid.half.z};
  if (solid.solid == Solid::kCylinder) beyond = {std::sqrt(local.x * local.x + local.y * local.y) - solid.half.x, -1e9f, beyond.z};
  const Vec3 outside{std::max(beyond.x, 0.0f), std::max(beyond.y, 0.0f), std::max(beyond.z, 0.0f)};
  return length(outside) + std::min(std::max({beyond.x, beyond.y, beyond.z}), 0.0f);
}

}  // namespace

void add_tilted_box(Scene& scene, Vec3 centre, Vec3 half, const Rotation& local_from_world, int material) {
  add_solid(scene, Solid::kBox, centre, half, local_from_world, material);
}
void add_box(Scene& scene, Vec3 centre, Vec3 half, float yaw, int material) {
  add_solid(scene, Solid::kBox, centre, half, yaw_rotation(yaw), material);
}
void add_sphere(Scene& scene, Vec3 centre, float radius, const Rotation& local_from_world, int material) {
  add_solid(scene, Solid::kSphere, centre, {radius, radius, radius}, local_from_world, material);
}
void add_cylinder(Scene& scene, Vec3 centre, float radius, float half_height, const Rotation& local_from_world, int material) {
  add_solid(scene, Solid::kCylinder, centre, {radius, radius, half_height}, local_from_world, material);
}

Rotation yaw_rotation(float yaw) {
  const float c = static_cast<float>(portable_cos(static_cast<double>(yaw))),
              s = static_cast<float>(portable_sin(static_cast<double>(yaw)));
  return {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
}

Rotation random_rotation(Random& random) {
  Vec3 a, b;
  do {
    a = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    b = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
  } while (dot(a, a) < 0.1f || dot(cross(a, b), cross(a, b)) < 0.05f);
  const Vec3 first = normalized(a), third = normalized(cross(a, b));
  return {first, cross(third, first), third};
}

float clearance(const Scene& scene, Vec3 point) {
  float nearest = point.z;
  if (scene.surroundings == Surroundings::kRoom) {
    nearest = std::min(
        {nearest, scene.room_half.x - std::fabs(point.x), scene.room_half.y - std::fabs(point.y), 2 * scene.room_half.z - point.z});
  }
  for (int i = 0; i < scene.num_primitives; ++i) nearest = std::min(nearest, distance_to(scene.primitives[i], point));
  return nearest;
}

}  // namespace pointmap::scene_gen
