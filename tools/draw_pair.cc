// Draws the two photos of ./run demo: a textured room from two viewpoints, since no real photograph may enter the repository.
// A ray caster with soft shadows; every sample position is a function of its pixel, so the files are the same on every run.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "io/image/image.h"
#include "io/image/png_encode.h"

namespace pointmap {
namespace {

// World frame: that of a camera in the middle, x right, y down, z forward, metres.
struct Vec3 {
  float x = 0, y = 0, z = 0;
};
Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
Vec3 operator-(Vec3 a, Vec3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Vec3 operator*(Vec3 a, float s) {
  return {a.x * s, a.y * s, a.z * s};
}
Vec3 operator*(Vec3 a, Vec3 b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
float dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
Vec3 normalized(Vec3 a) {
  return a * (1 / std::sqrt(dot(a, a)));
}
Vec3 mix(Vec3 a, Vec3 b, float t) {
  return a * (1 - t) + b * t;
}

// A turn about the vertical, from z towards x. Sine and cosine are kept: they are needed for every ray.
struct Turn {
  explicit Turn(float angle) : c(std::cos(angle)), s(std::sin(angle)) {}
  float c, s;
  Vec3 operator*(Vec3 a) const { return {c * a.x + s * a.z, a.y, -s * a.x + c * a.z}; }
  Vec3 back(Vec3 a) const { return {c * a.x - s * a.z, a.y, s * a.x + c * a.z}; }
};

// ---- textures: functions of the position on the solid

// A number in [0, 1) that looks random but depends on its arguments only.
float hash01(int32_t x, int32_t y, int32_t z) {
  uint32_t h = static_cast<uint32_t>(x) * 0x8da6b343u ^ static_cast<uint32_t>(y) * 0xd8163841u ^ static_cast<uint32_t>(z) * 0xcb1ab31fu;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return static_cast<float>((h ^ (h >> 15)) >> 8) * 0x1p-24f;
}

int32_t cell_of(float x) {
  return static_cast<int32_t>(std::floor(x));
}

// Smooth noise in [0, 1), one blob per unit of length.
float value_noise(Vec3 p) {
  const int32_t x = cell_of(p.x), y = cell_of(p.y), z = cell_of(p.z);
  const auto smooth = [](float t) { return t * t * (3 - 2 * t); };
  const float u = smooth(p.x - std::floor(p.x)), v = smooth(p.y - std::floor(p.y)), w = smooth(p.z - std::floor(p.z));
  const auto row = [&](int32_t dy, int32_t dz) { return std::lerp(hash01(x, y + dy, z + dz), hash01(x + 1, y + dy, z + dz), u); };
  return std::lerp(std::lerp(row(0, 0), row(1, 0), v), std::lerp(row(0, 1), row(1, 1), v), w);
}

// Noise with detail at four scales, in [0, 1).
float cloud_noise(Vec3 p) {
  return (8 * value_noise(p) + 4 * value_noise(p * 2.1f) + 2 * value_noise(p * 4.3f) + value_noise(p * 8.7f)) / 15;
}

enum class Material { kRoom, kWood, kMarble, kChecker, kBrick, kStripes };

Vec3 wood(float along, float across, Vec3 dark, Vec3 light) {
  const float grain = cloud_noise({along * 1.5f, across * 40, 3});
  return mix(dark, light, grain);
}

Vec3 floor_colour(Vec3 p) {
  const float from_rug = std::hypot(p.x - 0.3f, p.z - 2.6f);
  if (from_rug < 1.25f) {
    const bool ring = cell_of(from_rug * 8) % 2 == 0;
    const float weave = 0.8f + 0.4f * value_noise(p * 60);
    return (ring ? Vec3{0.55f, 0.12f, 0.10f} : Vec3{0.75f, 0.62f, 0.42f}) * weave;
  }
  const int32_t plank = cell_of(p.x * 6);
  const float shift = hash01(plank, 1, 2) * 5;
  const float tone = 0.7f + 0.5f * hash01(plank, cell_of(p.z * 0.9f + shift), 7);
  const bool gap = p.x * 6 - std::floor(p.x * 6) < 0.03f;
  return wood(p.z, p.x, {0.30f, 0.17f, 0.09f}, {0.55f, 0.36f, 0.20f}) * (gap ? 0.4f : tone);
}

// The picture on the far wall: hills under a sun.
Vec3 painting_colour(float u, float v) {
  if (std::max(std::fabs(u), std::fabs(v)) > 0.9f) return {0.25f, 0.16f, 0.06f};
  if (std::hypot(u - 0.4f, v + 0.4f) < 0.22f) return {0.95f, 0.75f, 0.25f};
  if (v > 0.15f + 0.25f * std::sin(u * 3 + 1)) return mix({0.10f, 0.25f, 0.10f}, {0.3f, 0.5f, 0.2f}, cloud_noise({u * 6, v * 6, 1}));
  return mix({0.30f, 0.50f, 0.80f}, {0.85f, 0.88f, 0.90f}, cloud_noise({u * 2, v * 5, 9}));
}

Vec3 room_colour(Vec3 p, Vec3 normal) {
  if (normal.y < -0.5f) return floor_colour(p);
  const float plaster = 0.85f + 0.3f * cloud_noise(p * 7);
  if (normal.y > 0.5f) return Vec3{0.80f, 0.80f, 0.78f} * plaster;
  if (p.y > 1.38f) return {0.35f, 0.22f, 0.13f};  // skirting board
  if (normal.z < -0.5f) {                         // far wall: striped paper and a picture
    const float u = (p.x - 0.15f) / 0.62f, v = (p.y + 0.35f) / 0.46f;
    if (std::max(std::fabs(u), std::fabs(v)) < 1) return painting_colour(u, v);
    const bool stripe = cell_of(p.x * 5) % 2 == 0;
    return (stripe ? Vec3{0.52f, 0.60f, 0.55f} : Vec3{0.62f, 0.70f, 0.62f}) * plaster;
  }
  return (normal.x > 0 ? Vec3{0.72f, 0.55f, 0.42f} : Vec3{0.45f, 0.55f, 0.70f}) * plaster;
}

Vec3 brick_colour(Vec3 p, Vec3 normal) {
  const float u = std::fabs(normal.x) > 0.5f ? p.z : p.x;
  const float v = std::fabs(normal.y) > 0.5f ? p.z : p.y;
  const int32_t course = cell_of(v * 14);
  const float along = u * 7 + (course % 2 == 0 ? 0.5f : 0);
  const bool mortar = along - std::floor(along) < 0.08f || v * 14 - std::floor(v * 14) < 0.14f;
  if (mortar) return {0.65f, 0.62f, 0.58f};
  return mix({0.40f, 0.14f, 0.09f}, {0.65f, 0.30f, 0.20f}, 0.6f * hash01(cell_of(along), course, 5) + 0.4f * cloud_noise(p * 30));
}

// Reflectance at p, a point in the frame of the solid (for the room: of the world).
Vec3 colour_of(Material material, Vec3 p, Vec3 normal) {
  switch (material) {
    case Material::kRoom:
      return room_colour(p, normal);
    case Material::kWood:
      return wood(p.x, std::fabs(normal.y) > 0.5f ? p.z : p.y + p.z, {0.22f, 0.11f, 0.05f}, {0.50f, 0.30f, 0.14f});
    case Material::kMarble:
      return mix({0.15f, 0.25f, 0.35f}, {0.90f, 0.90f, 0.92f}, 0.5f + 0.5f * std::sin(14 * p.x + 16 * cloud_noise(p * 5)));
    case Material::kChecker: {
      const float longitude = std::atan2(p.z, p.x) / std::numbers::pi_v<float>;
      const bool odd = (cell_of(longitude * 8) + cell_of(std::acos(std::clamp(normal.y, -1.0f, 1.0f)) * 3.5f)) % 2 != 0;
      return odd ? Vec3{0.85f, 0.30f, 0.10f} : Vec3{0.92f, 0.88f, 0.75f};
    }
    case Material::kBrick:
      return brick_colour(p, normal);
    case Material::kStripes:
      return cell_of((p.x + p.y + p.z) * 12) % 2 == 0 ? Vec3{0.10f, 0.35f, 0.40f} : Vec3{0.85f, 0.80f, 0.30f};
  }
  return {};
}

// ---- solids

enum class Shape { kBox, kSphere };

struct Solid {
  Shape shape = Shape::kBox;
  Material material = Material::kWood;
  Vec3 centre;
  Vec3 half;           // half sizes of a box; x: radius of a sphere
  Turn yaw = Turn(0);  // of a box
  bool room = false;   // seen from inside
};

struct Hit {
  float distance = std::numeric_limits<float>::infinity();
  const Solid* solid = nullptr;
  Vec3 normal;  // in the world
  Vec3 point_in_solid;
};

void intersect_sphere(const Solid& solid, Vec3 origin, Vec3 direction, Hit& nearest) {
  const Vec3 from_centre = origin - solid.centre;
  const float b = dot(from_centre, direction);
  const float discriminant = b * b - dot(from_centre, from_centre) + solid.half.x * solid.half.x;
  if (discriminant < 0) return;
  const float distance = -b - std::sqrt(discriminant);
  if (distance < 1e-4f || distance >= nearest.distance) return;
  const Vec3 point = from_centre + direction * distance;
  nearest = {distance, &solid, normalized(point), point};
}

// The slab test, in the frame of the box.
void intersect_box(const Solid& solid, Vec3 origin, Vec3 direction, Hit& nearest) {
  const Vec3 o = solid.yaw.back(origin - solid.centre), d = solid.yaw.back(direction);
  const std::array<float, 3> from{o.x, o.y, o.z}, along{d.x, d.y, d.z}, half{solid.half.x, solid.half.y, solid.half.z};
  float enter = -std::numeric_limits<float>::infinity(), leave = -enter;
  size_t enter_axis = 0, leave_axis = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const float inverse = 1 / (along[axis] == 0 ? 1e-20f : along[axis]);
    const float a = (-half[axis] - from[axis]) * inverse, b = (half[axis] - from[axis]) * inverse;
    if (std::min(a, b) > enter) enter = std::min(a, b), enter_axis = axis;
    if (std::max(a, b) < leave) leave = std::max(a, b), leave_axis = axis;
  }
  const float distance = solid.room ? leave : enter;
  if (enter > leave || distance < 1e-4f || distance >= nearest.distance) return;
  const size_t axis = solid.room ? leave_axis : enter_axis;
  std::array<float, 3> normal{};
  normal[axis] = along[axis] > 0 ? -1.0f : 1.0f;
  const Vec3 normal_in_box{normal[0], normal[1], normal[2]};
  nearest = {distance, &solid, solid.yaw * normal_in_box, o + d * distance + (solid.room ? solid.centre : Vec3{})};
}

Hit first_hit(const std::vector<Solid>& solids, Vec3 origin, Vec3 direction) {
  Hit nearest;
  for (const Solid& solid : solids) {
    if (solid.shape == Shape::kSphere) {
      intersect_sphere(solid, origin, direction, nearest);
    } else {
      intersect_box(solid, origin, direction, nearest);
    }
  }
  return nearest;
}

std::vector<Solid> make_room() {
  std::vector<Solid> solids{
      {.material = Material::kRoom, .centre = {0, 0.1f, 1.9f}, .half = {2.5f, 1.4f, 3.0f}, .room = true},
      {.material = Material::kBrick, .centre = {-0.35f, 0.46f, 2.75f}, .half = {0.17f, 0.19f, 0.17f}, .yaw = Turn(0.5f)},
      {.material = Material::kStripes, .centre = {2.05f, 0.70f, 3.6f}, .half = {0.40f, 0.80f, 0.65f}, .yaw = Turn(-0.12f)},
      {.material = Material::kStripes, .centre = {1.05f, 1.28f, 1.75f}, .half = {0.22f, 0.22f, 0.22f}, .yaw = Turn(0.7f)},
      {.shape = Shape::kSphere, .material = Material::kMarble, .centre = {0.32f, 0.42f, 2.55f}, .half = {0.23f, 0, 0}},
      {.shape = Shape::kSphere, .material = Material::kChecker, .centre = {-1.45f, 1.05f, 3.1f}, .half = {0.45f, 0, 0}},
      {.shape = Shape::kSphere, .material = Material::kChecker, .centre = {2.0f, -0.28f, 3.5f}, .half = {0.18f, 0, 0}},
  };
  const Vec3 table{0.05f, 0.68f, 2.65f};
  const Turn table_yaw(0.2f);
  solids.push_back({.centre = table, .half = {0.75f, 0.03f, 0.42f}, .yaw = table_yaw});
  for (const Vec3 leg :
       {Vec3{-0.68f, 0.425f, -0.35f}, Vec3{0.68f, 0.425f, -0.35f}, Vec3{-0.68f, 0.425f, 0.35f}, Vec3{0.68f, 0.425f, 0.35f}}) {
    solids.push_back({.centre = table + table_yaw * leg, .half = {0.035f, 0.395f, 0.035f}, .yaw = table_yaw});
  }
  return solids;
}

// ---- light and camera

// Light from a square panel under the ceiling through one random point of it (the samples of a pixel share out the panel), plus
// a constant for all that bounces.
Vec3 shade(const std::vector<Solid>& solids, Vec3 point, const Hit& hit, float panel_u, float panel_v) {
  const Vec3 colour = colour_of(hit.solid->material, hit.point_in_solid, hit.normal);
  const Vec3 lamp{0.2f + 1.4f * (panel_u - 0.5f), -1.29f, 1.9f + 1.4f * (panel_v - 0.5f)};
  const Vec3 to_lamp = lamp - point;
  const float squared_distance = dot(to_lamp, to_lamp);
  const Vec3 direction = normalized(to_lamp);
  const float facing = std::max(0.0f, dot(hit.normal, direction)) * std::max(0.0f, -direction.y);
  const float ambient = 0.045f + 0.02f * std::max(0.0f, -hit.normal.z) + 0.025f * (1 - hit.normal.y);
  float direct = 0;
  if (facing > 0) {
    const Hit blocker = first_hit(solids, point + hit.normal * 1e-3f, direction);
    if (blocker.distance > std::sqrt(squared_distance) - 0.02f) direct = 9.0f * facing / (squared_distance + 0.5f);
  }
  return colour * (Vec3{1.0f, 0.96f, 0.88f} * direct + Vec3{0.92f, 0.96f, 1.0f} * ambient);
}

struct Camera {
  Vec3 centre;
  Turn yaw = Turn(0);    // to the right
  Turn pitch = Turn(0);  // downwards, about the camera's x
  float focal_px = 0;
};

Vec3 ray_direction(const Camera& camera, float x_px, float y_px) {
  const Vec3 in_cam{x_px / camera.focal_px, y_px / camera.focal_px, 1};
  const auto [c, s] = camera.pitch;
  return normalized(camera.yaw * Vec3{in_cam.x, c * in_cam.y + s * in_cam.z, -s * in_cam.y + c * in_cam.z});
}

uint8_t srgb8(float linear) {
  const float exposed = 1 - std::exp(-1.6f * linear);  // a soft shoulder instead of clipped lamps
  return static_cast<uint8_t>(std::lround(255 * std::pow(exposed, 1 / 2.2f)));
}

Image draw(const std::vector<Solid>& solids, const Camera& camera, int width, int height, ThreadPool& pool) {
  constexpr int kGrid = 4;  // samples per pixel and axis
  Image image{width, height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3)};
  pool.parallel_for(static_cast<size_t>(height), [&](size_t row, size_t) {
    const int y = static_cast<int>(row);
    for (int x = 0; x < width; ++x) {
      Vec3 sum;
      for (int sample = 0; sample < kGrid * kGrid; ++sample) {
        const float sub_x = (static_cast<float>(sample % kGrid) + hash01(x, y, sample)) / kGrid;
        const float sub_y = (static_cast<float>(sample / kGrid) + hash01(y, x, sample + 99)) / kGrid;
        const float x_px = static_cast<float>(x) + sub_x - static_cast<float>(width) / 2;
        const float y_px = static_cast<float>(y) + sub_y - static_cast<float>(height) / 2;
        const Vec3 direction = ray_direction(camera, x_px, y_px);
        const Hit hit = first_hit(solids, camera.centre, direction);
        // The other way round over the panel than over the pixel, so that edges of shadows do not follow the pixel grid.
        sum = sum + shade(solids, camera.centre + direction * hit.distance, hit, sub_y, 1 - sub_x);
      }
      sum = sum * (1.0f / (kGrid * kGrid));
      uint8_t* rgb = image.rgb.data() + (row * static_cast<size_t>(width) + static_cast<size_t>(x)) * 3;
      rgb[0] = srgb8(sum.x), rgb[1] = srgb8(sum.y), rgb[2] = srgb8(sum.z);
    }
  });
  return image;
}

void write_png(const Image& image, const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = encode_png8(image);
  AtomicFile file(path);
  file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.commit();
}

void draw_pair(const std::filesystem::path& folder, int width, int height) {
  std::filesystem::create_directories(folder);
  ThreadPool pool(static_cast<size_t>(read_cpu_info().available_cores));
  const std::vector<Solid> solids = make_room();
  const float focal_px = 0.85f * static_cast<float>(std::max(width, height));
  const Camera left{{-0.50f, -0.15f, -0.55f}, Turn(0.13f), Turn(0.15f), focal_px};
  const Camera right{{0.45f, -0.05f, -0.45f}, Turn(-0.07f), Turn(0.12f), focal_px};
  write_png(draw(solids, left, width, height, pool), folder / "left.png");
  write_png(draw(solids, right, width, height, pool), folder / "right.png");
}

// The value after `name` in the arguments, or `otherwise`.
int int_option(const std::vector<std::string>& arguments, const std::string& name, int otherwise) {
  const auto found = std::find(arguments.begin(), arguments.end(), name);
  if (found == arguments.end()) return otherwise;
  POINTMAP_CHECK(found + 1 != arguments.end(), name + " needs a number");
  const int value = std::atoi((found + 1)->c_str());
  POINTMAP_CHECK(value >= 16 && value <= 8192, name + " must be 16 to 8192, got " + *(found + 1));
  return value;
}

}  // namespace
}  // namespace pointmap

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0].starts_with("-")) {
    std::fprintf(stderr, "usage: draw_pair FOLDER [--width 512] [--height 384]: writes left.png and right.png\n");
    return 2;
  }
  try {
    pointmap::draw_pair(arguments[0], pointmap::int_option(arguments, "--width", 512), pointmap::int_option(arguments, "--height", 384));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "draw_pair: %s\n", error.what());
    return 1;
  }
  return 0;
}
