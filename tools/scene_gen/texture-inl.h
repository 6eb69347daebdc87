// Procedural reflectance: eight families of patterns, each with fine noise over it. Whatever is smaller than a pixel fades to its mean, so
// nothing shimmers.
#pragma once

#include "lanes-inl.h"

namespace pointmap::scene_gen::SG_TARGET {

SG_INLINE U finish_hash(U h) {
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  h *= 0x297a2d39u;
  return h ^ (h >> 15);
}
SG_INLINE F unit_from_hash(U h) {
  return to_float(as_int(h >> 8)) * 0x1p-24f;
}

SG_INLINE F fade(F t) {
  return t * t * (3.0f - 2.0f * t);
}

SG_INLINE F corner(U x, U y, U z) {
  U h = (x ^ y ^ z) * 0x2c1b3c6du;
  h ^= h >> 15;
  return unit_from_hash(h * 0x297a2d39u);
}

// Value noise in [0, 1): smooth between random numbers at whole coordinates.
SG_INLINE F noise3(V p, uint32_t seed) {
  const I ix = floor_int(p.x), iy = floor_int(p.y), iz = floor_int(p.z);
  const F fx = fade(p.x - to_float(ix)), fy = fade(p.y - to_float(iy)), fz = fade(p.z - to_float(iz));
  const U x0 = as_unsigned(ix) * 0x8da6b343u + seed, x1 = x0 + 0x8da6b343u;
  const U y0 = as_unsigned(iy) * 0xd8163841u, y1 = y0 + 0xd8163841u;
  const U z0 = as_unsigned(iz) * 0xcb1ab31fu, z1 = z0 + 0xcb1ab31fu;
  const F low = mix(mix(corner(x0, y0, z0), corner(x1, y0, z0), fx), mix(corner(x0, y1, z0), corner(x1, y1, z0), fx), fy);
  const F high = mix(mix(corner(x0, y0, z1), corner(x1, y0, z1), fx), mix(corner(x0, y1, z1), corner(x1, y1, z1), fx), fy);
  return mix(low, high, fz);
}

// 1 where a wave of this length spans more than four pixels, 0 below two.
SG_INLINE F resolved(float wavelength, F footprint) {
  return clamp01(wavelength * 0.5f / footprint - 1.0f);
}

// Octaves of noise around 0, roughly within [-1, 1].
SG_INLINE F octaves(V p, float longest_wave, float gain, F footprint, uint32_t seed) {
  F sum = splat(0);
  float amplitude = 0.9f, wave = longest_wave;
  for (int octave = 0; octave < 8; ++octave) {
    const F weight = resolved(wave, footprint);
    if (!any(weight > 0.0f)) break;
    const float frequency = 1.0f / wave;
    sum += (noise3(p * splat(frequency), seed + 0x9e3779b9u * static_cast<uint32_t>(octave)) - 0.5f) * (weight * amplitude);
    amplitude *= gain;
    wave *= 0.47f;
  }
  return sum;
}

SG_INLINE F cell_random(I i, I j, uint32_t seed) {
  return unit_from_hash(finish_hash((as_unsigned(i) * 0x8da6b343u + seed) ^ (as_unsigned(j) * 0xd8163841u)));
}

// How much of a pixel lies inside, given the signed distance to the edge (positive inside) and the pixel's size.
SG_INLINE F coverage(F distance, F footprint) {
  return clamp01(0.5f + distance / footprint);
}

// A square wave of period 1 and mean 1/2 in x, both x and footprint in periods.
SG_INLINE F square_wave(F x, F footprint) {
  const F folded = x - to_float(floor_int(x));    // [0, 1)
  const F distance = 0.25f - abs(folded - 0.5f);  // > 0 in the middle half
  return mix(splat(0.5f), coverage(distance, footprint), clamp01(2.0f - 2.5f * footprint));
}

struct PatternInput {
  V p;          // position in the pattern's own frame, metres
  F u, v;       // the two coordinates along the surface, metres
  F footprint;  // size of a pixel on the surface, metres
};

SG_INLINE V bricks(const Material& m, const PatternInput& in, F rough) {
  const F row = in.v * (1.0f / m.size.y);
  const I j = floor_int(row);
  const F column = in.u * (1.0f / m.size.x) + to_float(j) * m.row_shift;
  const I i = floor_int(column);
  const F du = (0.5f - abs(column - to_float(i) - 0.5f)) * m.size.x, dv = (0.5f - abs(row - to_float(j) - 0.5f)) * m.size.y;
  const float joint = m.gap * (m.size.x < m.size.y ? m.size.x : m.size.y);
  const F inside = coverage(min(du, dv) - joint, in.footprint);
  const float small = m.size.x < m.size.y ? m.size.x : m.size.y;
  const F clear = clamp01(2.0f - 2.0f * in.footprint * (1.0f / small));
  const F tint = mix(splat(0.5f), cell_random(i, j, m.seed), clear);
  const V face = mix(splat(m.colour_a), splat(m.colour_b), clamp01(tint + 0.35f * rough));
  return mix(splat(m.colour_c), face, mix(splat(1.0f - 3.0f * m.gap), inside, clear));
}

SG_INLINE V stripes(const Material& m, const PatternInput& in, F rough) {
  const F x = (in.u + rough * (m.gap * m.size.x)) * (1.0f / m.size.x), fp = in.footprint * (1.0f / m.size.x);
  const F thin = square_wave(x * 3.0f + 0.25f, fp * 3.0f);
  const V pair = mix(splat(m.colour_a), splat(m.colour_b), square_wave(x, fp));
  return mix(pair, splat(m.colour_c), thin * (m.row_shift * 0.7f));
}

SG_INLINE V checks(const Material& m, const PatternInput& in) {
  const F fp = in.footprint * (1.0f / m.size.x);
  const F a = square_wave(in.u * (1.0f / m.size.x), fp) * 2.0f - 1.0f, b = square_wave(in.v * (1.0f / m.size.y), fp) * 2.0f - 1.0f;
  return mix(splat(m.colour_a), splat(m.colour_b), 0.5f + 0.5f * a * b);
}

SG_INLINE V dots(const Material& m, const PatternInput& in) {
  const F x = in.u * (1.0f / m.size.x), y = in.v * (1.0f / m.size.x);
  const I i = floor_int(x), j = floor_int(y);
  const F r1 = cell_random(i, j, m.seed), r2 = cell_random(i, j, m.seed + 77u), r3 = cell_random(i, j, m.seed + 154u);
  const F radius = 0.12f + 0.26f * r3;
  const F dx = x - to_float(i) - 0.5f - (r1 - 0.5f) * 0.24f, dy = y - to_float(j) - 0.5f - (r2 - 0.5f) * 0.24f;
  const F fp = in.footprint * (1.0f / m.size.x);
  const F inside = mix(splat(0.2f), coverage(radius - sqrt(dx * dx + dy * dy), fp), clamp01(2.0f - 2.0f * fp));
  return mix(splat(m.colour_a), mix(splat(m.colour_b), splat(m.colour_c), r1), inside);
}

// Stones or blobs: each point takes the colour of the nearest of scattered centres, dark between two of them.
SG_INLINE V cells(const Material& m, const PatternInput& in, F rough) {
  const F scale = splat(1.0f / m.size.x);
  const F x = in.u * scale + rough * 0.15f, y = in.v * scale;
  const I i0 = floor_int(x), j0 = floor_int(y);
  F nearest = splat(9), second = splat(9), tint = splat(0);
  for (int dj = -1; dj <= 1; ++dj) {
    for (int di = -1; di <= 1; ++di) {
      const I i = i0 + di, j = j0 + dj;
      const U h = finish_hash((as_unsigned(i) * 0x8da6b343u + m.seed) ^ (as_unsigned(j) * 0xd8163841u));
      const F dx = x - to_float(i) - to_float(as_int(h & 0xffffu)) * 0x1p-16f, dy = y - to_float(j) - to_float(as_int(h >> 16)) * 0x1p-16f;
      const F distance = dx * dx + dy * dy;
      const I closer = distance < nearest;
      second = min(second, select(closer, nearest, distance));
      tint = select(closer, to_float(as_int((h >> 4) & 0xffu)) * (1.0f / 256), tint);
      nearest = min(nearest, distance);
    }
  }
  const F fp = in.footprint * scale;
  const F clear = clamp01(2.0f - 2.0f * fp);
  const F inside = mix(splat(0.85f), coverage(sqrt(second) - sqrt(nearest) - m.gap, fp), clear);
  const V face = mix(splat(m.colour_a), splat(m.colour_b), mix(splat(0.5f), tint, clear));
  return mix(splat(m.colour_c), face, inside);
}

SG_INLINE V wood(const Material& m, const PatternInput& in, F rough) {
  // Rings around an axis that lies a little outside the solid, drawn out along it.
  const F y = in.p.y + 0.31f + rough * (0.2f * m.size.x), z = in.p.z + in.p.x * 0.05f + 0.17f;
  const F ring = sqrt(y * y + z * z) * (1.0f / m.size.x), fp = in.footprint * (1.0f / m.size.x);
  const F folded = ring - to_float(floor_int(ring));
  const F saw = mix(splat(0.5f), folded * folded * (1.0f - coverage(folded - 0.9f, splat(0.2f))) * 2.0f, clamp01(2.0f - 3.0f * fp));
  const V stretched{in.p.x * 1.5f, in.p.y * 40.0f, in.p.z * 40.0f};
  const F grain = (noise3(stretched, m.seed) - 0.5f) * resolved(0.03f, in.footprint);
  return mix(splat(m.colour_a), splat(m.colour_b), clamp01(saw + grain * 0.8f));
}

// Something like a poster: large soft shapes in three colours and bars.
SG_INLINE V picture(const Material& m, const PatternInput& in, F rough) {
  const F scale = splat(1.0f / m.size.x);
  const V q{in.u * scale, in.v * scale, splat(0.5f)};
  const F first = noise3(q * splat(1.3f), m.seed), second = noise3(q * splat(2.9f), m.seed + 9u);
  const F fp = in.footprint * scale * 3.0f;
  const V ground = mix(splat(m.colour_a), splat(m.colour_b), coverage(first - 0.5f + 0.1f * rough, fp + 0.02f));
  return mix(ground, splat(m.colour_c), coverage(second - 0.62f, fp + 0.02f));
}

// Reflectance at p (in the solid's frame; normal too, its largest axis tells the plane of u and v).
SG_INLINE V reflectance(const Material& m, V local, V normal, F footprint) {
  PatternInput in;
  in.p = local + splat(m.offset);
  in.footprint = footprint;
  const F nx = abs(normal.x), ny = abs(normal.y), nz = abs(normal.z);
  const I top = (nz >= nx) & (nz >= ny), side = nx >= ny;
  in.u = select(top, in.p.x, select(side, in.p.y, in.p.x));
  in.v = select(top, in.p.y, in.p.z);
  const F rough = octaves(in.p, m.detail_size, m.detail_gain, footprint, m.seed);
  V colour;
  switch (m.pattern) {
    case Pattern::kNoise:
      colour = mix(splat(m.colour_a), splat(m.colour_b), clamp01(0.5f + 0.9f * rough));
      break;
    case Pattern::kBricks:
      colour = bricks(m, in, rough);
      break;
    case Pattern::kStripes:
      colour = stripes(m, in, rough);
      break;
    case Pattern::kChecks:
      colour = checks(m, in);
      break;
    case Pattern::kDots:
      colour = dots(m, in);
      break;
    case Pattern::kCells:
      colour = cells(m, in, rough);
      break;
    case Pattern::kWood:
      colour = wood(m, in, rough);
      break;
    default:
      colour = picture(m, in, rough);
      break;
  }
  return colour * max(1.0f + m.detail * rough, splat(0.15f));
}

}  // namespace pointmap::scene_gen::SG_TARGET
