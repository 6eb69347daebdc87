// Rays against a room or the ground and up to 48 convex solids. All rays of a bundle start at one point (a camera or a light), so what
// depends on that point alone is computed once per solid.
#pragma once

#include "lanes-inl.h"

namespace pointmap::scene_gen::SG_TARGET {

struct Bundle {
  Vec3 origin;
  int count = 0;
  struct Entry {
    int primitive;
    Vec3 to_centre;  // world
    float outside;   // squared distance to the centre less the squared bounding radius
    Vec3 local_origin;
  } entries[kMaxPrimitives];
};

struct Hit {
  F t;
  I id;
};

SG_INLINE void add_to_bundle(Bundle& bundle, const Scene& scene, int primitive) {
  const Primitive& solid = scene.primitives[primitive];
  Bundle::Entry& entry = bundle.entries[bundle.count++];
  entry.primitive = primitive;
  entry.to_centre = solid.centre - bundle.origin;
  const float radius = solid.bound_radius * 1.01f;  // rounding must not lose a hit
  entry.outside = dot(entry.to_centre, entry.to_centre) - radius * radius;
  entry.local_origin = solid.local_from_world * (entry.to_centre * -1.0f);
}

SG_INLINE Bundle make_bundle(const Scene& scene, Vec3 origin) {
  Bundle bundle;
  bundle.origin = origin;
  for (int i = 0; i < scene.num_primitives; ++i) add_to_bundle(bundle, scene, i);
  return bundle;
}

// Where the ray enters; `enters` is true for lanes that hit from outside, in front.
SG_INLINE F enter_box(Vec3 origin, V direction, Vec3 half, I& enters) {
  const V inverse{1.0f / direction.x, 1.0f / direction.y, 1.0f / direction.z};
  const V middle{-origin.x * inverse.x, -origin.y * inverse.y, -origin.z * inverse.z};
  const V extent{half.x * abs(inverse.x), half.y * abs(inverse.y), half.z * abs(inverse.z)};
  const V near = middle - extent, far = middle + extent;
  const F enter = max(max(near.x, near.y), near.z), leave = min(min(far.x, far.y), far.z);
  enters = (enter < leave) & (enter > 0.0f);
  return enter;
}

SG_INLINE F enter_sphere(Vec3 origin, V direction, float radius, I& enters) {
  const F a = dot(direction, direction), b = dot(origin, direction);
  // b^2 - a c written as r^2 a - |o x d|^2 (Lagrange): from afar, as from the sun, the first form loses all its digits.
  const F cx = origin.y * direction.z - origin.z * direction.y, cy = origin.z * direction.x - origin.x * direction.z,
          cz = origin.x * direction.y - origin.y * direction.x;
  const F discriminant = radius * radius * a - (cx * cx + cy * cy + cz * cz);
  const F enter = (-b - sqrt(max(discriminant, splat(0)))) / a;
  enters = (discriminant > 0.0f) & (enter > 0.0f);
  return enter;
}

SG_INLINE F enter_cylinder(Vec3 origin, V direction, Vec3 half, I& enters) {
  // The cylinder is an endless one and a slab, both convex: in at the later entry, out at the earlier exit.
  const F a = max(direction.x * direction.x + direction.y * direction.y, splat(1e-20f));
  const F b = direction.x * origin.x + direction.y * origin.y;
  const F across = origin.x * direction.y - origin.y * direction.x;
  const F discriminant = half.x * half.x * a - across * across;  // as for the sphere
  const F root = sqrt(max(discriminant, splat(0))), inverse_a = 1.0f / a, inverse_z = 1.0f / direction.z;
  const F middle_z = -origin.z * inverse_z, extent_z = half.z * abs(inverse_z);
  const F enter = max((-b - root) * inverse_a, middle_z - extent_z), leave = min((root - b) * inverse_a, middle_z + extent_z);
  enters = (discriminant > 0.0f) & (enter < leave) & (enter > 0.0f);
  return enter;
}

// False when no lane comes near the solid.
SG_INLINE bool may_hit(const Bundle::Entry& entry, V direction, F squared_length) {
  if (entry.outside <= 0) return true;
  const F along = dot(entry.to_centre, direction);
  return any((along > 0.0f) & (along * along >= entry.outside * squared_length));
}

SG_INLINE F enter_solid(const Primitive& solid, const Bundle::Entry& entry, V direction, I& enters) {
  if (solid.solid == Solid::kSphere) return enter_sphere(entry.to_centre * -1.0f, direction, solid.half.x, enters);
  const V local = rotate(solid.local_from_world, direction);
  if (solid.solid == Solid::kBox) return enter_box(entry.local_origin, local, solid.half, enters);
  return enter_cylinder(entry.local_origin, local, solid.half, enters);
}

SG_INLINE void keep_nearer_wall(Hit& hit, F t, I positive, int face) {
  const I closer = t < hit.t;
  hit.t = select(closer, t, hit.t);
  hit.id = select(closer, face - positive, hit.id);  // a true lane is -1
}

SG_INLINE Hit hit_surroundings(const Scene& scene, Vec3 origin, V direction) {
  if (scene.surroundings == Surroundings::kGround) {
    const F t = -origin.z / direction.z;
    const I below = (direction.z < 0.0f) & (t > 0.0f) & (t < scene.far_m);
    return {select(below, t, splat(3e38f)), select(below, splat_int(kFloorId), splat_int(kSkyId))};
  }
  const Vec3 half = scene.room_half;
  const V bound{select(direction.x > 0.0f, splat(half.x), splat(-half.x)), select(direction.y > 0.0f, splat(half.y), splat(-half.y)),
                select(direction.z > 0.0f, splat(2 * half.z), splat(0))};
  const F tx = (bound.x - origin.x) / direction.x, ty = (bound.y - origin.y) / direction.y, tz = (bound.z - origin.z) / direction.z;
  // A direction without an x part never meets an x wall: x / 0 is infinite, or NaN, which loses every comparison below.
  Hit hit{splat(3e38f), splat_int(kSkyId)};
  keep_nearer_wall(hit, tx, direction.x > 0.0f, 0);
  keep_nearer_wall(hit, ty, direction.y > 0.0f, 2);
  keep_nearer_wall(hit, tz, direction.z > 0.0f, 4);
  return hit;
}

// The nearest hit; t is 3e38 and id kSkyId where there is none.
SG_INLINE Hit trace_bundle(const Scene& scene, const Bundle& bundle, V direction) {
  Hit hit = hit_surroundings(scene, bundle.origin, direction);
  const F squared_length = dot(direction, direction);
  for (int i = 0; i < bundle.count; ++i) {
    const Bundle::Entry& entry = bundle.entries[i];
    if (!may_hit(entry, direction, squared_length)) continue;
    I enters;
    const F t = enter_solid(scene.primitives[entry.primitive], entry, direction, enters);
    const I closer = enters & (t < hit.t);
    hit.t = select(closer, t, hit.t);
    hit.id = select(closer, splat_int(kFirstPrimitiveId + entry.primitive), hit.id);
  }
  return hit;
}

// Which lanes have a solid, other than their own, strictly between the bundle's origin and origin + direction.
SG_INLINE I blocked(const Scene& scene, const Bundle& bundle, V direction, I own_id, float nearly_there) {
  I result = splat_int(0);
  const F squared_length = dot(direction, direction);
  for (int i = 0; i < bundle.count; ++i) {
    const Bundle::Entry& entry = bundle.entries[i];
    if (!may_hit(entry, direction, squared_length)) continue;
    I enters;
    const F t = enter_solid(scene.primitives[entry.primitive], entry, direction, enters);
    result |= enters & (t < nearly_there) & (own_id != kFirstPrimitiveId + entry.primitive);
  }
  return result;
}

}  // namespace pointmap::scene_gen::SG_TARGET
