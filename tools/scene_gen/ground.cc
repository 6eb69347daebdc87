// Open ground under a sky: buildings, trunks with crowns, boulders, crates and posts around the middle.
#include <algorithm>

#include "build_scene.h"

namespace pointmap::scene_gen {

namespace {

constexpr float kPi = 3.14159265f;

void add_building(Scene& scene, Random& random, Vec3 place) {
  const Vec3 half{random.uniform(1, 4), random.uniform(1, 4), random.uniform(0.8f, 4)};
  const float yaw = random.uniform(0, kPi);
  const int material = add_random_material(scene, random, {.largest_m = 4});
  add_box(scene, place + Vec3{0, 0, half.z}, half, yaw, material);
  if (random.chance(0.5f)) {  // a roof or an upper storey
    const Vec3 upper{half.x * random.uniform(0.4f, 1.1f), half.y * random.uniform(0.4f, 1.1f), random.uniform(0.1f, 1.0f)};
    add_box(scene, place + Vec3{0, 0, 2 * half.z + upper.z}, upper, yaw, add_random_material(scene, random, {.largest_m = 3}));
  }
}

void add_tree(Scene& scene, Random& random, Vec3 place) {
  const float radius = random.uniform(0.08f, 0.4f), half_height = random.uniform(0.6f, 2.5f);
  const int bark = add_random_material(scene, random, {.largest_m = 1});
  add_cylinder(scene, place + Vec3{0, 0, half_height}, radius, half_height, yaw_rotation(random.uniform(0, kPi)), bark);
  if (random.chance(0.6f)) {
    const float crown = random.uniform(0.5f, 1.6f);
    const int leaves = add_random_material(scene, random, {.largest_m = 1.5f});
    add_sphere(scene, place + Vec3{0, 0, 2 * half_height + 0.6f * crown}, crown, random_rotation(random), leaves);
  }
}

void add_small(Scene& scene, Random& random, Vec3 place) {
  const float size = random.log_uniform(0.2f, 1.2f);
  const int material = add_random_material(scene, random, {.largest_m = 2 * size});
  // Drawn one by one: the order in which a call's arguments are computed is the compiler's choice.
  const Rotation tumbled = random_rotation(random);
  const float wide = random.uniform(0.3f, 1), high = random.uniform(0.4f, 1), yaw = random.uniform(0, kPi);
  const int kind = random.integer(0, 3);
  if (kind == 0) add_sphere(scene, place + Vec3{0, 0, size * high}, size, tumbled, material);
  if (kind == 1) add_cylinder(scene, place + Vec3{0, 0, size}, size * wide, size, Rotation{}, material);
  if (kind == 2) add_tilted_box(scene, place + Vec3{0, 0, size * 0.7f}, {size, size * wide, size * high}, tumbled, material);
  if (kind == 3) add_box(scene, place + Vec3{0, 0, size * 0.8f}, {size, size * wide, size * 0.8f}, yaw, material);
}

void add_wall(Scene& scene, Random& random, Vec3 place) {  // a wall, hedge or fence board
  const Vec3 half{random.uniform(1, 5), random.uniform(0.05f, 0.3f), random.uniform(0.4f, 1.5f)};
  const float yaw = random.uniform(0, kPi);
  add_box(scene, place + Vec3{0, 0, half.z}, half, yaw, add_random_material(scene, random, {.largest_m = 3}));
}

void add_daylight(Scene& scene, Random& random) {
  const float azimuth = random.uniform(0, 2 * kPi), height = random.uniform(0.25f, 1.3f);
  const auto sine = [](float a) { return static_cast<float>(portable_sin(static_cast<double>(a))); };
  const Vec3 towards{sine(azimuth) * sine(kPi / 2 - height), sine(azimuth + kPi / 2) * sine(kPi / 2 - height), sine(height)};
  const float warm = random.uniform(0, 0.3f), power = random.uniform(0.3f, 1.3f);
  scene.num_lights = 1;
  scene.lights[0] = {towards * 300.0f, Vec3{1 + warm, 1, 1 - warm} * power, 0};
  const Vec3 zenith{random.uniform(0.1f, 0.4f), random.uniform(0.25f, 0.5f), random.uniform(0.5f, 0.95f)};
  const float grey = random.uniform();
  scene.sky_zenith = mix(zenith, Vec3{0.5f, 0.52f, 0.55f}, grey * grey);
  scene.sky_horizon = mix(scene.sky_zenith, Vec3{0.9f, 0.88f, 0.85f}, random.uniform(0.4f, 0.9f));
  const float level = random.uniform(0.2f, 0.6f);
  scene.ambient_up = mix(scene.sky_zenith, Vec3{0.6f, 0.6f, 0.6f}, 0.5f) * (level * 1.5f);
  scene.ambient_down = scene.ambient_up * random.uniform(0.3f, 0.6f);
}

}  // namespace

Scene build_ground(Random& random) {
  Scene scene;
  scene.surroundings = Surroundings::kGround;
  scene.far_m = random.uniform(45, 70);
  scene.face_material[kFloorId] = add_random_material(scene, random, {.largest_m = random.log_uniform(1, 6)});
  const int pieces = random.integer(8, 20);
  const float spread = random.uniform(5, 14);
  for (int i = 0; i < pieces && scene.num_primitives + 2 < kMaxPrimitives; ++i) {
    const Vec3 place{random.uniform(-spread, spread), random.uniform(-spread, spread), 0};
    const float which = random.uniform();
    if (which < 0.25f)
      add_building(scene, random, place);
    else if (which < 0.50f)
      add_tree(scene, random, place);
    else if (which < 0.88f)
      add_small(scene, random, place);
    else
      add_wall(scene, random, place);
  }
  add_daylight(scene, random);
  return scene;
}

}  // namespace pointmap::scene_gen
