// A scene as the ray caster reads it: plain numbers in fixed arrays, because files compiled per instruction set include this.
#pragma once

#include <cstdint>

#include "vec3.h"

namespace pointmap::scene_gen {

enum class Pattern : int { kNoise, kBricks, kStripes, kChecks, kDots, kCells, kWood, kPicture };
inline constexpr int kNumPatterns = 8;

struct Material {
  Pattern pattern = Pattern::kNoise;
  Vec3 colour_a, colour_b, colour_c;  // linear reflectance
  Vec3 size{1, 1, 1};                 // of the pattern's cell along its u, v and w, metres
  Vec3 offset;                        // moves the pattern, metres
  float row_shift = 0;                // bricks: how far each row is moved, in bricks
  float gap = 0.05f;                  // bricks: half width of the joint, dots: radius; both in cells
  float detail = 0.3f;                // strength of the fine noise laid over every pattern
  float detail_gain = 0.7f;           // of each octave over the one before, which is about twice as long
  float detail_size = 0.5f;           // longest wave of the fine noise, metres
  float gloss = 0;                    // strength of the highlight
  uint32_t seed = 0;
};

enum class Solid : int { kBox, kSphere, kCylinder };

struct Primitive {
  Solid solid = Solid::kBox;
  Vec3 centre;                // world
  Rotation local_from_world;  // a cylinder's axis is local z
  Vec3 half;                  // box: half sizes; sphere: (r, r, r); cylinder: (r, r, half height)
  float bound_radius = 0;     // of a sphere around centre
  int material = 0;
};

struct Light {
  Vec3 position;
  Vec3 colour;        // irradiance at distance 0 (point) or anywhere (sun)
  float reach_m = 0;  // irradiance falls as 1 / (1 + (d / reach)^2); 0: the sun, no fall
};

enum class Surroundings : int { kRoom, kGround };

inline constexpr int kMaxPrimitives = 48;
inline constexpr int kMaxMaterials = 64;
inline constexpr int kMaxLights = 3;
// Ids of what a ray hit. Room faces: -x +x -y +y floor ceiling; the open ground is the floor. Then the primitives.
inline constexpr int kFloorId = 4;
inline constexpr int kFirstPrimitiveId = 6;
inline constexpr int kSkyId = -1;

struct Scene {
  Surroundings surroundings = Surroundings::kRoom;
  Vec3 room_half;   // the room is [-x, x] x [-y, y] x [0, 2 z]
  float far_m = 0;  // open ground: nothing beyond this depth along the optical axis
  int face_material[6] = {};
  int num_primitives = 0;
  Primitive primitives[kMaxPrimitives];
  int num_materials = 0;
  Material materials[kMaxMaterials];
  int num_lights = 0;
  Light lights[kMaxLights];
  Vec3 ambient_up, ambient_down;  // light that reaches surfaces facing up and down
  Vec3 sky_zenith, sky_horizon;
};

// Integer pixel coordinates lie at pixel centres; the principal point is the picture's true centre.
struct Camera {
  int width = 0, height = 0;
  float focal_px = 0;
  Vec3 position;            // in the world
  Rotation cam_from_world;  // rows: right, down, forward
};

// What a photograph does to light.
struct Exposure {
  float mean_level = 0.3f;  // the picture's mean, linear, before the shoulder
  Vec3 white_balance{1, 1, 1};
  float noise = 0.01f;    // amplitude, in output units of 0..1
  float vignette = 0.2f;  // loss in the corners
  uint32_t seed = 0;
};

}  // namespace pointmap::scene_gen
