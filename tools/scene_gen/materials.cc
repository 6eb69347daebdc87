// Random palettes and patterns, sized to the surface that will wear them.
#include <algorithm>
#include <iterator>

#include "build_scene.h"

namespace pointmap::scene_gen {

namespace {

// Hue in turns, the rest in 0..1. Brace-initialised, so that random members are drawn in this order whatever the compiler.
struct Hsv {
  float hue, saturation, value;
};

// As linear reflectance.
Vec3 colour_from_hsv(Hsv hsv) {
  const auto channel = [&](float shift) {
    float k = hsv.hue + shift;
    k -= std::floor(k);
    const float ramp = std::clamp(std::fabs(k * 6 - 3) - 1, 0.0f, 1.0f);
    const float level = hsv.value * (1 - hsv.saturation + hsv.saturation * ramp);
    return level * level;  // close to the display curve
  };
  return {channel(0), channel(2.0f / 3), channel(1.0f / 3)};
}

struct Palette {
  Vec3 a, b, c;
};

Palette random_palette(Random& random) {
  // Half of all things are earthy, a fifth vivid.
  const float hue = random.chance(0.5f) ? random.uniform(0.02f, 0.17f) : random.uniform();
  const float saturation = random.chance(0.2f) ? random.uniform(0.4f, 0.9f) : random.uniform(0.02f, 0.4f);
  const float value = random.uniform(0.35f, 0.95f);
  const float lighter = random.chance(0.5f) ? random.uniform(0.45f, 0.8f) : random.uniform(0.8f, 1.0f);
  const float other_hue = random.chance(0.6f) ? hue + random.uniform(-0.08f, 0.08f) : random.uniform();
  Palette palette;
  palette.a = colour_from_hsv({hue, saturation, value});
  palette.b = colour_from_hsv({other_hue, std::min(saturation * random.uniform(0.6f, 1.5f), 1.0f), value * lighter});
  palette.c = colour_from_hsv(
      {random.uniform(), random.uniform(0, 0.6f), random.chance(0.5f) ? random.uniform(0.15f, 0.4f) : random.uniform(0.7f, 0.95f)});
  if (random.chance(0.5f)) std::swap(palette.a, palette.b);
  return palette;
}

Palette wood_palette(Random& random) {
  const float hue = random.uniform(0.04f, 0.11f), value = random.uniform(0.35f, 0.9f);
  return {colour_from_hsv({hue, random.uniform(0.35f, 0.65f), value}),
          colour_from_hsv({hue + random.uniform(-0.02f, 0.02f), 0.6f, value * random.uniform(0.55f, 0.8f)}),
          colour_from_hsv({hue, 0.6f, value * 0.35f})};
}

Pattern random_pattern(Random& random) {
  // Noise and bricks more often than the rest: they look most like walls and floors.
  constexpr Pattern kChoices[] = {Pattern::kNoise,  Pattern::kNoise,   Pattern::kNoise,  Pattern::kBricks, Pattern::kBricks,
                                  Pattern::kBricks, Pattern::kStripes, Pattern::kChecks, Pattern::kDots,   Pattern::kCells,
                                  Pattern::kCells,  Pattern::kWood,    Pattern::kPicture};
  return kChoices[random.integer(0, static_cast<int>(std::size(kChoices)) - 1)];
}

void size_pattern(Material& material, Random& random, float largest_m) {
  const float top = std::min(largest_m, 3.0f);
  const float cell = random.log_uniform(0.06f, 0.25f) * top;
  material.size = {cell, cell, cell};
  if (material.pattern == Pattern::kBricks) {
    const bool planks = random.chance(0.3f);
    material.size.x = cell * (planks ? random.uniform(4, 10) : random.uniform(1, 3));
    material.row_shift = random.chance(0.65f) ? random.uniform(0.3f, 0.6f) : 0.0f;
    material.gap = random.uniform(0.015f, 0.07f);
  }
  if (material.pattern == Pattern::kStripes) {
    material.gap = random.chance(0.4f) ? random.uniform(0.1f, 0.6f) : 0.0f;
    material.row_shift = random.chance(0.5f) ? random.uniform() : 0.0f;
  }
  if (material.pattern == Pattern::kCells) material.gap = random.uniform(0.02f, 0.15f);
  if (material.pattern == Pattern::kWood) material.size = Vec3{1, 1, 1} * (random.log_uniform(0.02f, 0.08f));
}

int add(Scene& scene, const Material& material) {
  if (scene.num_materials == kMaxMaterials) return scene.num_materials - 1;
  scene.materials[scene.num_materials] = material;
  return scene.num_materials++;
}

}  // namespace

int add_random_material(Scene& scene, Random& random, const MaterialWish& wish) {
  Material material;
  material.seed = random.bits();
  material.pattern = wish.calm ? (random.chance(0.7f) ? Pattern::kNoise : Pattern::kBricks) : random_pattern(random);
  const bool wooden = material.pattern == Pattern::kWood || (material.pattern == Pattern::kBricks && random.chance(0.3f));
  const Palette palette = wooden ? wood_palette(random) : random_palette(random);
  material.colour_a = palette.a;
  material.colour_b = palette.b;
  material.colour_c = palette.c;
  size_pattern(material, random, wish.largest_m);
  material.offset = {random.uniform(-9, 9), random.uniform(-9, 9), random.uniform(-9, 9)};
  if (material.pattern == Pattern::kWood)
    material.offset = {random.uniform(-9, 9), random.uniform(-0.3f, 0.3f), random.uniform(-0.3f, 0.3f)};
  material.detail = random.uniform(0.2f, 0.8f);
  material.detail_gain = random.uniform(0.6f, 0.92f);
  material.detail_size = random.log_uniform(0.15f, 0.7f) * std::min(wish.largest_m, 3.0f);
  material.gloss = random.chance(0.4f) ? random.uniform(0.05f, 0.5f) : 0.0f;
  return add(scene, material);
}

int add_picture_material(Scene& scene, Random& random, float size_m) {
  const int index = add_random_material(scene, random, {.largest_m = size_m});
  Material& material = scene.materials[index];
  if (random.chance(0.6f)) material.pattern = Pattern::kPicture;
  const float cell = random.uniform(0.15f, 0.5f) * size_m;
  material.size = {cell, cell, cell};
  material.colour_c = colour_from_hsv({random.uniform(), random.uniform(0.3f, 0.95f), random.uniform(0.3f, 0.95f)});
  return index;
}

}  // namespace pointmap::scene_gen
