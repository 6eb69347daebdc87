// A furnished room: pieces on the floor and against walls, tables, pictures, lamps.
#include <algorithm>

#include "build_scene.h"

namespace pointmap::scene_gen {

namespace {

constexpr float kPi = 3.14159265f;

struct Spot {
  float x, y, yaw;
};

// On the floor; half of the pieces stand with their back to a wall, `depth` being half their size across it.
Spot random_spot(const Scene& scene, Random& random, float depth, float reach) {
  const Vec3 room = scene.room_half;
  if (random.chance(0.5f)) {
    const bool along_x = random.chance(room.x / (room.x + room.y));
    const float side = random.chance(0.5f) ? 1.0f : -1.0f;
    const float span = std::max((along_x ? room.x : room.y) - reach, 0.05f);
    const float along = random.uniform(-span, span), against = side * ((along_x ? room.y : room.x) - depth - 0.01f);
    return along_x ? Spot{along, against, 0} : Spot{against, along, kPi / 2};
  }
  const float span_x = std::max(room.x - reach, 0.05f), span_y = std::max(room.y - reach, 0.05f);
  return {random.uniform(-span_x, span_x), random.uniform(-span_y, span_y), random.uniform(0, kPi)};
}

Vec3 at(const Spot& spot, Vec3 local) {  // local: x along the piece, y across, z up from the floor
  const Vec3 turned = transposed_times(yaw_rotation(spot.yaw), local);
  return {spot.x + turned.x, spot.y + turned.y, turned.z};
}

void add_small_things_on(Scene& scene, Random& random, const Spot& spot, Vec3 half_top, float height) {
  const int count = random.integer(0, 2);
  for (int i = 0; i < count; ++i) {
    const float size = random.uniform(0.06f, 0.18f);
    const int material = add_random_material(scene, random, {.largest_m = 3 * size});
    const Vec3 offset{random.uniform(-0.7f, 0.7f) * half_top.x, random.uniform(-0.7f, 0.7f) * half_top.y, 0};
    const int kind = random.integer(0, 2);
    if (kind == 0) add_sphere(scene, at(spot, offset + Vec3{0, 0, height + size}), size, random_rotation(random), material);
    if (kind == 1) add_cylinder(scene, at(spot, offset + Vec3{0, 0, height + size * 1.4f}), size * 0.7f, size * 1.4f, Rotation{}, material);
    if (kind == 2) {
      const Vec3 half{size, size * random.uniform(0.5f, 1.0f), size * random.uniform(0.4f, 1.6f)};
      add_box(scene, at(spot, offset + Vec3{0, 0, height + half.z}), half, random.uniform(0, kPi), material);
    }
  }
}

void add_table(Scene& scene, Random& random) {
  const Vec3 half{random.uniform(0.4f, 1.0f), random.uniform(0.3f, 0.6f), random.uniform(0.015f, 0.05f)};
  const float height = random.uniform(0.4f, 0.95f);
  const Spot spot = random_spot(scene, random, half.y, half.x + 0.1f);
  const int material = add_random_material(scene, random, {.largest_m = 2 * half.x});
  add_box(scene, at(spot, {0, 0, height - half.z}), half, spot.yaw, material);
  const float leg = random.uniform(0.02f, 0.06f), leg_half = 0.5f * (height - 2 * half.z);
  if (random.chance(0.3f)) {
    add_cylinder(scene, at(spot, {0, 0, leg_half}), 2 * leg, leg_half, Rotation{}, material);
  } else {
    for (int corner = 0; corner < 4; ++corner) {
      const float x = (corner & 1 ? 1.0f : -1.0f) * (half.x - leg - 0.02f), y = (corner & 2 ? 1.0f : -1.0f) * (half.y - leg - 0.02f);
      add_box(scene, at(spot, {x, y, leg_half}), {leg, leg, leg_half}, spot.yaw, material);
    }
  }
  add_small_things_on(scene, random, spot, half, height);
}

void add_cupboard(Scene& scene, Random& random) {
  const float height = 2 * scene.room_half.z;
  const Vec3 half{random.uniform(0.2f, 0.9f), random.uniform(0.15f, 0.5f), random.uniform(0.15f, std::min(1.1f, 0.45f * height))};
  const Spot spot = random_spot(scene, random, half.y, half.x + 0.1f);
  add_box(scene, at(spot, {0, 0, half.z}), half, spot.yaw, add_random_material(scene, random, {.largest_m = 2 * std::max(half.x, half.z)}));
  if (half.z < 0.7f) add_small_things_on(scene, random, spot, half, 2 * half.z);
}

void add_seat(Scene& scene, Random& random) {  // a block with a back: chair, sofa or bench
  const Vec3 half{random.uniform(0.2f, 0.9f), random.uniform(0.2f, 0.4f), random.uniform(0.18f, 0.28f)};
  const Spot spot = random_spot(scene, random, half.y, half.x + 0.1f);
  const int material = add_random_material(scene, random, {.largest_m = 2 * half.x});
  add_box(scene, at(spot, {0, 0, half.z}), half, spot.yaw, material);
  const float side = spot.yaw == 0 ? (spot.y > 0 ? 1.0f : -1.0f) : (spot.x > 0 ? -1.0f : 1.0f);
  const float back = random.uniform(0.35f, 0.6f);
  add_box(scene, at(spot, {0, side * (half.y - 0.06f), back}), {half.x, 0.06f, back}, spot.yaw,
          random.chance(0.7f) ? material : add_random_material(scene, random, {}));
}

void add_round_piece(Scene& scene, Random& random) {
  const float radius = random.uniform(0.12f, 0.5f);
  const Spot spot = random_spot(scene, random, radius, radius + 0.05f);
  const int material = add_random_material(scene, random, {.largest_m = 2.5f * radius});
  if (random.chance(0.45f)) {
    add_sphere(scene, {spot.x, spot.y, radius}, radius, random_rotation(random), material);
  } else if (random.chance(0.75f)) {
    const float half_height = random.uniform(0.15f, 0.7f);
    add_cylinder(scene, {spot.x, spot.y, half_height}, radius, half_height, yaw_rotation(spot.yaw), material);
    add_small_things_on(scene, random, spot, {radius * 0.6f, radius * 0.6f, 0}, 2 * half_height);
  } else {  // lying
    const Rotation upright = yaw_rotation(spot.yaw);
    add_cylinder(scene, {spot.x, spot.y, radius}, radius, random.uniform(0.2f, 0.7f), {upright.row1, upright.row2, upright.row0}, material);
  }
}

void add_crate(Scene& scene, Random& random) {  // a box that lies as it fell
  const Vec3 half{random.uniform(0.12f, 0.4f), random.uniform(0.12f, 0.4f), random.uniform(0.12f, 0.4f)};
  const Spot spot = random_spot(scene, random, 0.5f, 0.5f);
  const int material = add_random_material(scene, random, {.largest_m = 3 * half.x});
  const Rotation rotation = random_rotation(random);
  const float rise = std::fabs(rotation.row0.z) * half.x + std::fabs(rotation.row1.z) * half.y + std::fabs(rotation.row2.z) * half.z;
  add_tilted_box(scene, {spot.x, spot.y, rise}, half, rotation, material);
}

void add_wall_piece(Scene& scene, Random& random) {  // picture, door, window or shelf
  const Vec3 room = scene.room_half;
  const float height = 2 * room.z;
  const bool on_x_wall = random.chance(room.y / (room.x + room.y));
  const float span = on_x_wall ? room.y : room.x, side = random.chance(0.5f) ? 1.0f : -1.0f;
  Vec3 half{random.uniform(0.2f, 0.8f), random.uniform(0.01f, 0.03f), random.uniform(0.2f, 0.6f)};
  float middle = random.uniform(0.45f, 0.7f) * height;
  if (random.chance(0.2f)) {
    half = {random.uniform(0.4f, 0.6f), 0.03f, std::min(1.02f, 0.46f * height)};
    middle = half.z;
  } else if (random.chance(0.2f)) {
    half = {random.uniform(0.3f, 0.9f), random.uniform(0.1f, 0.2f), 0.02f};
  }
  middle = std::clamp(middle, half.z, height - half.z);
  const float along = random.uniform(-1, 1) * std::max(span - half.x, 0.0f), against = side * ((on_x_wall ? room.x : room.y) - half.y);
  const Vec3 centre = on_x_wall ? Vec3{against, along, middle} : Vec3{along, against, middle};
  add_box(scene, centre, half, on_x_wall ? kPi / 2 : 0, add_picture_material(scene, random, 2 * half.x));
}

void add_lights(Scene& scene, Random& random) {
  const Vec3 room = scene.room_half;
  scene.num_lights = random.integer(1, 3);
  for (int i = 0; i < scene.num_lights; ++i) {
    Vec3 position;
    for (int attempt = 0; attempt < 20; ++attempt) {
      position = {random.uniform(-0.9f, 0.9f) * room.x, random.uniform(-0.9f, 0.9f) * room.y, random.uniform(1.1f, 1.96f) * room.z};
      if (clearance(scene, position) > 0.08f) break;
    }
    const float warm = random.uniform(-0.2f, 0.3f), power = random.uniform(0.4f, 1.3f);
    scene.lights[i] = {position, Vec3{1 + warm, 1, 1 - warm} * power, random.uniform(1.5f, 5.0f)};
  }
  const float level = random.uniform(0.12f, 0.5f);
  scene.ambient_up = Vec3{random.uniform(0.8f, 1.1f), 1, random.uniform(0.8f, 1.2f)} * level;
  scene.ambient_down = scene.ambient_up * random.uniform(0.4f, 0.9f);
}

}  // namespace

Scene build_room(Random& random) {
  Scene scene;
  scene.surroundings = Surroundings::kRoom;
  scene.room_half = {random.log_uniform(1.5f, 5.0f), random.log_uniform(1.5f, 5.0f), random.uniform(1.1f, 2.0f)};
  const int wall = add_random_material(scene, random, {.largest_m = 3});
  for (int& face : scene.face_material) face = random.chance(0.6f) ? wall : add_random_material(scene, random, {.largest_m = 3});
  scene.face_material[kFloorId] = add_random_material(scene, random, {.largest_m = 3});
  scene.face_material[kFloorId + 1] = add_random_material(scene, random, {.largest_m = 3, .calm = true});
  const int pieces = random.integer(4, 14);
  for (int i = 0; i < pieces && scene.num_primitives + 8 < kMaxPrimitives; ++i) {
    const float which = random.uniform();
    if (which < 0.15f)
      add_table(scene, random);
    else if (which < 0.40f)
      add_cupboard(scene, random);
    else if (which < 0.52f)
      add_seat(scene, random);
    else if (which < 0.72f)
      add_round_piece(scene, random);
    else if (which < 0.82f)
      add_crate(scene, random);
    else
      add_wall_piece(scene, random);
  }
  add_lights(scene, random);
  return scene;
}

}  // namespace pointmap::scene_gen
