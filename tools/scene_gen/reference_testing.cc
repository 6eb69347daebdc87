#include "reference_testing.h"

#include <cmath>
#include <initializer_list>

namespace pointmap::scene_gen {

namespace {

double dot(DoubleVec a, DoubleVec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
double dot(Vec3 a, DoubleVec b) {
  return static_cast<double>(a.x) * b.x + static_cast<double>(a.y) * b.y + static_cast<double>(a.z) * b.z;
}
DoubleVec rotated(const Rotation& r, DoubleVec v) {
  return {dot(r.row0, v), dot(r.row1, v), dot(r.row2, v)};
}

// Keeps the nearest of the candidates it is offered.
struct Nearest {
  ReferenceHit hit;
  double direction_length = 1;

  void offer(double t, int id, double direction_along_normal) {
    if (!(t > 0) || (hit.id != kSkyId && t >= hit.t)) return;
    hit = {t, id, std::fabs(direction_along_normal) / direction_length};
  }
};

// The plane coordinate = level; the hit counts if the other two coordinates lie within their half sizes.
void offer_face(Nearest& nearest, int id, const double o[3], const double d[3], const double half[3], int axis, double level) {
  const double t = (level - o[axis]) / d[axis];
  for (int other = 0; other < 3; ++other) {
    if (other != axis && std::fabs(o[other] + t * d[other]) > half[other]) return;
  }
  nearest.offer(t, id, d[axis]);
}

void offer_box(Nearest& nearest, int id, DoubleVec o, DoubleVec d, Vec3 half_size) {
  const double origin[3] = {o.x, o.y, o.z}, direction[3] = {d.x, d.y, d.z};
  const double half[3] = {static_cast<double>(half_size.x), static_cast<double>(half_size.y), static_cast<double>(half_size.z)};
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) offer_face(nearest, id, origin, direction, half, axis, side * half[axis]);
  }
}

void offer_sphere(Nearest& nearest, int id, DoubleVec o, DoubleVec d, double radius) {
  const double a = dot(d, d), b = dot(o, d), c = dot(o, o) - radius * radius, discriminant = b * b - a * c;
  if (discriminant < 0) return;
  const double t = (-b - std::sqrt(discriminant)) / a;
  const DoubleVec p{o.x + t * d.x, o.y + t * d.y, o.z + t * d.z};
  nearest.offer(t, id, dot(p, d) / radius);
}

void offer_cylinder(Nearest& nearest, int id, DoubleVec o, DoubleVec d, Vec3 half) {
  const double radius = static_cast<double>(half.x), half_height = static_cast<double>(half.z);
  const double a = d.x * d.x + d.y * d.y, b = o.x * d.x + o.y * d.y, c = o.x * o.x + o.y * o.y - radius * radius;
  const double discriminant = b * b - a * c;
  if (discriminant >= 0) {
    const double t = (-b - std::sqrt(discriminant)) / a;
    if (std::fabs(o.z + t * d.z) <= half_height) nearest.offer(t, id, ((o.x + t * d.x) * d.x + (o.y + t * d.y) * d.y) / radius);
  }
  for (const double side : {-1.0, 1.0}) {
    const double t = (side * half_height - o.z) / d.z, x = o.x + t * d.x, y = o.y + t * d.y;
    if (x * x + y * y <= radius * radius) nearest.offer(t, id, d.z);
  }
}

void offer_surroundings(Nearest& nearest, const Scene& scene, DoubleVec o, DoubleVec d) {
  if (scene.surroundings == Surroundings::kGround) {
    nearest.offer(-o.z / d.z, kFloorId, d.z);
    return;
  }
  const double origin[3] = {o.x, o.y, o.z - static_cast<double>(scene.room_half.z)}, direction[3] = {d.x, d.y, d.z};
  const double half[3] = {static_cast<double>(scene.room_half.x), static_cast<double>(scene.room_half.y),
                          static_cast<double>(scene.room_half.z)};
  for (int face = 0; face < 6; ++face) {
    // The wall's own plane only: the camera is inside, so a ray leaves through the first plane that it meets.
    const int axis = face / 2;
    const double t = ((face % 2 == 0 ? -half[axis] : half[axis]) - origin[axis]) / direction[axis];
    nearest.offer(t, face, direction[axis]);
  }
}

}  // namespace

ReferenceHit reference_trace(const Scene& scene, DoubleVec origin, DoubleVec direction) {
  Nearest nearest;
  nearest.direction_length = std::sqrt(dot(direction, direction));
  offer_surroundings(nearest, scene, origin, direction);
  for (int i = 0; i < scene.num_primitives; ++i) {
    const Primitive& solid = scene.primitives[i];
    const DoubleVec from_centre{origin.x - static_cast<double>(solid.centre.x), origin.y - static_cast<double>(solid.centre.y),
                                origin.z - static_cast<double>(solid.centre.z)};
    const DoubleVec o = rotated(solid.local_from_world, from_centre), d = rotated(solid.local_from_world, direction);
    const int id = kFirstPrimitiveId + i;
    if (solid.solid == Solid::kBox) offer_box(nearest, id, o, d, solid.half);
    if (solid.solid == Solid::kSphere) offer_sphere(nearest, id, from_centre, direction, static_cast<double>(solid.half.x));
    if (solid.solid == Solid::kCylinder) offer_cylinder(nearest, id, o, d, solid.half);
  }
  const bool beyond = scene.surroundings == Surroundings::kGround && nearest.hit.t >= static_cast<double>(scene.far_m);
  return beyond ? ReferenceHit{} : nearest.hit;
}

DoubleVec reference_direction(const Camera& camera, double pixel_x, double pixel_y) {
  const double x = (pixel_x - 0.5 * (camera.width - 1)) / static_cast<double>(camera.focal_px);
  const double y = (pixel_y - 0.5 * (camera.height - 1)) / static_cast<double>(camera.focal_px);
  const Rotation& r = camera.cam_from_world;
  const auto along = [&](float right, float down, float forward) {
    return static_cast<double>(right) * x + static_cast<double>(down) * y + static_cast<double>(forward);
  };
  return {along(r.row0.x, r.row1.x, r.row2.x), along(r.row0.y, r.row1.y, r.row2.y), along(r.row0.z, r.row1.z, r.row2.z)};
}

}  // namespace pointmap::scene_gen
