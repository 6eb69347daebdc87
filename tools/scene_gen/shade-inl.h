// Light that leaves the hit points: reflectance times lights with hard shadows, a highlight, and ambient light that corners hold back.
#pragma once

#include "texture-inl.h"
#include "trace-inl.h"

namespace pointmap::scene_gen::SG_TARGET {

// What shading needs and no ray changes.
struct ShadeContext {
  const Scene* scene;
  Bundle lights[kMaxLights];
  float pixel_angle;  // size of a pixel at depth 1
};

struct Surface {
  V normal;  // world, towards the side that is seen
  V reflectance;
  F gloss;
  I face;  // which face of a box or of a cylinder, so that edges between them can be found
};

// Local normal of a point on the solid, and the face it lies on.
SG_INLINE V solid_normal(const Primitive& solid, V local, I& face) {
  const Vec3 half = solid.half;
  const F zero = splat(0), one = splat(1);
  if (solid.solid == Solid::kSphere) {
    face = splat_int(0);
    return local * splat(1.0f / half.x);
  }
  const F z = local.z * (1.0f / half.z);
  const F sign_z = select(z > 0.0f, one, -one);
  if (solid.solid == Solid::kCylinder) {
    const F radius = (local.x * local.x + local.y * local.y) * (1.0f / (half.x * half.x));
    const I cap = z * z > radius;
    face = select(cap, splat_int(1), splat_int(0));
    return {select(cap, zero, local.x * (1.0f / half.x)), select(cap, zero, local.y * (1.0f / half.x)), select(cap, sign_z, zero)};
  }
  const F x = local.x * (1.0f / half.x), y = local.y * (1.0f / half.y);
  const F ax = abs(x), ay = abs(y), az = abs(z);
  const I on_x = (ax >= ay) & (ax >= az), on_y = ~on_x & (ay >= az);
  face = select(on_x, 1 - (x > 0.0f), select(on_y, 3 - (y > 0.0f), 5 - (z > 0.0f)));
  const I on_z = ~on_x & ~on_y;
  return {select(on_x, select(x > 0.0f, one, -one), zero), select(on_y, select(y > 0.0f, one, -one), zero), select(on_z, sign_z, zero)};
}

SG_INLINE Vec3 face_normal(int face) {
  switch (face) {
    case 0:
      return {1, 0, 0};
    case 1:
      return {-1, 0, 0};
    case 2:
      return {0, 1, 0};
    case 3:
      return {0, -1, 0};
    case 4:
      return {0, 0, 1};
    default:
      return {0, 0, -1};
  }
}

// The surface with this id, at all lanes (those of other surfaces are computed and dropped by the caller).
SG_INLINE Surface surface_with_id(const ShadeContext& context, int id, V point, V direction, F depth) {
  const Scene& scene = *context.scene;
  Surface surface;
  V local = point, normal;
  int material;
  if (id < kFirstPrimitiveId) {
    normal = surface.normal = splat(face_normal(id));
    surface.face = splat_int(0);
    material = scene.face_material[id];
  } else {
    const Primitive& solid = scene.primitives[id - kFirstPrimitiveId];
    local = rotate(solid.local_from_world, point - splat(solid.centre));
    normal = solid_normal(solid, local, surface.face);
    surface.normal = rotate_back(solid.local_from_world, normal);
    material = solid.material;
  }
  const F length = sqrt(dot(direction, direction));
  const F cosine = abs(dot(surface.normal, direction)) / length;
  const F footprint = depth * context.pixel_angle / max(cosine, splat(0.15f));
  surface.reflectance = reflectance(scene.materials[material], local, normal, footprint);
  surface.gloss = splat(scene.materials[material].gloss);
  return surface;
}

SG_INLINE Surface find_surfaces(const ShadeContext& context, const Hit& hit, V point, V direction) {
  Surface result{splat(Vec3{0, 0, 1}), splat(Vec3{}), splat(0), splat_int(0)};
  uint32_t pending = mask_bits(hit.id != kSkyId);
  while (pending != 0) {
    const int id = hit.id.at(__builtin_ctz(pending));
    const I same = hit.id == id;
    pending &= ~mask_bits(same);
    const Surface one = surface_with_id(context, id, point, direction, hit.t);
    result.normal = select(same, one.normal, result.normal);
    result.reflectance = select(same, one.reflectance, result.reflectance);
    result.gloss = select(same, one.gloss, result.gloss);
    result.face = select(same, one.face, result.face);
  }
  return result;
}

SG_INLINE F openness_beside(F distance, F facing) {
  return 1.0f - 0.45f * (1.0f - abs(facing)) / (1.0f + distance * distance * 9.0f);
}

// How open a point is to ambient light: less near the walls it does not belong to.
SG_INLINE F openness(const Scene& scene, V point, V normal) {
  F open = openness_beside(max(point.z, splat(0)), normal.z);
  if (scene.surroundings == Surroundings::kRoom) {
    open *= openness_beside(scene.room_half.x - abs(point.x), normal.x) * openness_beside(scene.room_half.y - abs(point.y), normal.y);
    open *= openness_beside(2 * scene.room_half.z - point.z, normal.z);
  }
  return open;
}

SG_INLINE V sky_colour(const Scene& scene, V direction) {
  const F length = sqrt(dot(direction, direction));
  const F height = max(direction.z / length, splat(0));
  const F inverse = 1.0f / (height + 0.15f);
  const V on_clouds{direction.x / length * inverse, direction.y / length * inverse, splat(0.5f)};
  const F cloud = clamp01(0.4f + 1.4f * octaves(on_clouds, 1.5f, 0.7f, splat(0.05f), 1234567u)) * height * 2.0f;
  const V clear = mix(splat(scene.sky_horizon), splat(scene.sky_zenith), clamp01(height * (2.0f - height)));
  return mix(clear, splat(Vec3{1, 1, 1}), clamp01(cloud) * 0.7f);
}

// `label` gets a bit for this light where it is seen, so that shadow edges can be found.
SG_INLINE V light_from(const ShadeContext& context, int index, const Surface& surface, V point, V to_eye, I id, I& label) {
  const Light& light = context.scene->lights[index];
  const V from_light = point - splat(light.position);
  const F squared = dot(from_light, from_light);
  const F facing = -dot(surface.normal, from_light);
  const I lit = (facing > 0.0f) & (id != kSkyId);
  if (!any(lit)) return splat(Vec3{});
  const I sees_light = lit & ~blocked(*context.scene, context.lights[index], from_light, id, 0.9999f);
  label |= sees_light & (8 << index);
  const F open = select(sees_light, splat(1), splat(0));
  const F distance = sqrt(squared);
  F strength = open * (facing / distance);
  V half_way = to_eye - from_light * (1.0f / distance);
  const F along = max(dot(surface.normal, half_way), splat(0));
  F highlight = along * along / max(dot(half_way, half_way), splat(1e-6f));
  for (int i = 0; i < 5; ++i) highlight *= highlight;
  if (light.reach_m > 0) strength *= 1.0f / (1.0f + squared * (1.0f / (light.reach_m * light.reach_m)));
  const V diffuse = surface.reflectance * strength;
  return (diffuse + splat(Vec3{1, 1, 1}) * (strength * highlight * surface.gloss)) * splat(light.colour);
}

// Linear light along each ray. `label` differs between two rays wherever an edge lies between them: surface, face, lights seen.
SG_INLINE V shade(const ShadeContext& context, Vec3 origin, V direction, const Hit& hit, I& label) {
  const Scene& scene = *context.scene;
  const I is_sky = hit.id == kSkyId;
  const F depth = select(is_sky, splat(1), hit.t);
  const V point = splat(origin) + direction * depth;
  const Surface surface = find_surfaces(context, hit, point, direction);
  label = hit.id * 64 + surface.face;
  const V to_eye = direction * (-1.0f / sqrt(dot(direction, direction)));
  const V ambient = mix(splat(scene.ambient_down), splat(scene.ambient_up), 0.5f + 0.5f * surface.normal.z);
  V colour = surface.reflectance * ambient * openness(scene, point, surface.normal);
  for (int i = 0; i < scene.num_lights; ++i) colour = colour + light_from(context, i, surface, point, to_eye, hit.id, label);
  if (scene.surroundings == Surroundings::kGround) {
    const F haze = clamp01(depth * (1.4f / scene.far_m) - 0.4f);
    colour = mix(colour, splat(scene.sky_horizon), haze * haze);
    if (any(is_sky)) colour = select(is_sky, sky_colour(scene, direction), colour);
  }
  return colour;
}

}  // namespace pointmap::scene_gen::SG_TARGET
