// The loss of loss.py with its gradient by the head's output, in float32: activation, scale of the pair, confidence-weighted distances,
// and steps between neighbouring pixels.
// Part of fast_ops.cpp, which is one translation unit: hence the namespace without a name.

#pragma once

#include <cmath>
#include <vector>

#include "fast_ops_tiles.h"

namespace {

constexpr float kAlpha = 0.2f;  // CONFIDENCE_ALPHA

// One order of a pair: truth in the frame of its first view.
struct PairTruth {
  const float* points[2];   // [3, H, W]
  const uint8_t* valid[2];  // [H, W]
};

struct Sums {
  double weighted = 0, plain = 0, surface = 0;
};

struct LossScratch {
  float *points[2], *gradient[2];  // [3, H, W]
};

struct MapSize {
  int height, width;
  int pixels() const { return height * width; }
  int tokens() const { return pixels() / 256; }
};

inline __m512 length_ps(__m512 x, __m512 y, __m512 z) {
  return _mm512_sqrt_ps(_mm512_fmadd_ps(x, x, _mm512_fmadd_ps(y, y, _mm512_fmadd_ps(z, z, set1(1e-16f)))));
}

inline __mmask16 valid16(const uint8_t* v) {
  return _mm_test_epi8_mask(_mm_loadu_si128((const __m128i*)v), _mm_set1_epi8(-1));
}

// The steps that the surface term looks at: across the borders of patches and between every fourth pixel of one of 16 lattices, by lines and columns. In any
// sixteen in a row no pixel begins two steps, nor ends two; -1 fills up.
struct Steps {
  std::vector<int> from, to;
  void add(int a, int b) { from.push_back(a), to.push_back(b); }
  void fill() {
    while (from.size() % 16) add(-1, -1);
  }
  Steps(MapSize s, int lattice) {
    const int w = s.width, h = s.height, left = lattice % 4, top = lattice / 4;
    for (int y = 0; y < h; ++y)
      for (int x = 15; x + 1 < w; x += 16) add(y * w + x, y * w + x + 1);
    fill();
    for (int y = 15; y + 1 < h; y += 16)
      for (int x = 0; x < w; ++x) add(y * w + x, (y + 1) * w + x);
    fill();
    for (int y = top; y < h; y += 4)
      for (int x = left; x + 4 < w; x += 4) add(y * w + x, y * w + x + 4);
    fill();
    for (int y = top; y + 4 < h; y += 4)
      for (int x = left; x < w; x += 4) add(y * w + x, (y + 4) * w + x);
    fill();
  }
};

inline __m512 gather(__mmask16 m, __m512i index, const float* p) {
  return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), m, index, p, 4);
}

// Which of sixteen steps count: both ends valid and no jump of depth.
inline __mmask16 smooth16(const PairTruth& t, int view, int pixels, __m512 inverse_scale, __m512i from, __m512i to) {
  __mmask16 m = _knot_mask16(_mm512_movepi32_mask(from));
  const __m512i byte = _mm512_set1_epi32(255);
  // Four bytes each: a map has slack only before its end, so the last ones are read from a little earlier.
  const __m512i last = _mm512_set1_epi32(pixels - 4);
  for (const __m512i index : {from, to}) {
    const __m512i at = _mm512_min_epi32(index, last), shift = _mm512_slli_epi32(_mm512_sub_epi32(index, at), 3);
    const __m512i bytes = _mm512_srlv_epi32(_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), m, at, t.valid[view], 1), shift);
    m = _mm512_mask_test_epi32_mask(m, bytes, byte);
  }
  const float* z = t.points[view] + 2 * pixels;
  const __m512 z0 = _mm512_mul_ps(gather(m, from, z), inverse_scale), z1 = _mm512_mul_ps(gather(m, to, z), inverse_scale);
  return _mm512_mask_cmp_ps_mask(m, _mm512_abs_ps(_mm512_sub_ps(z1, z0)), _mm512_mul_ps(set1(0.1f), _mm512_abs_ps(z0)), _CMP_LT_OQ);
}

int count_smooth(const PairTruth& t, MapSize size, float scale, const Steps& steps) {
  int count = 0;
  for (size_t i = 0; i < steps.from.size(); i += 16)
    for (int view = 0; view < 2; ++view)
      count += __builtin_popcount(
          smooth16(t, view, size.pixels(), set1(1 / scale), _mm512_loadu_si512(&steps.from[i]), _mm512_loadu_si512(&steps.to[i])));
  return count;
}

// What the truth alone says: valid pixels and the scale of a pair.
void measure_truth(const PairTruth& t, MapSize size, double& count, float& scale) {
  __m512 sum = _mm512_setzero_ps();
  const int n = size.pixels();
  long valid = 0;
  for (int view = 0; view < 2; ++view)
    for (int i = 0; i < n; i += 16) {
      const float* p = t.points[view] + i;
      const __mmask16 m = valid16(t.valid[view] + i);
      valid += __builtin_popcount(m);
      sum = _mm512_mask_add_ps(sum, m, sum, length_ps(_mm512_loadu_ps(p), _mm512_loadu_ps(p + n), _mm512_loadu_ps(p + 2 * n)));
    }
  count = double(valid);
  scale = std::max(_mm512_reduce_add_ps(sum) / float(std::max(valid, 1L)), 1e-6f);
}

// Value of channel c, line dy of a token's raw values.
inline size_t raw_index(int token, int c, int dy) {
  return size_t(token) * 1024 + c * 256 + dy * 16;
}

// f = expm1(n) / n and h = f'(n) / n of the map from raw xyz to points, by series where n is small.
inline void stretch(__m512 n, __m512& f, __m512& h) {
  const __m512 e = exp_ps(n), m1 = _mm512_sub_ps(e, set1(1.f)), inverse = _mm512_div_ps(set1(1.f), n);
  const __mmask16 small = _mm512_cmp_ps_mask(n, set1(0.25f), _CMP_LT_OQ);
  f = _mm512_mul_ps(m1, inverse);
  __m512 slope = _mm512_mul_ps(_mm512_sub_ps(e, f), inverse);
  __m512 p = _mm512_fmadd_ps(n, set1(1.f / 5040), set1(1.f / 720));
  p = _mm512_fmadd_ps(p, n, set1(1.f / 120));
  p = _mm512_fmadd_ps(p, n, set1(1.f / 24));
  p = _mm512_fmadd_ps(p, n, set1(1.f / 6));
  p = _mm512_fmadd_ps(p, n, set1(.5f));
  p = _mm512_fmadd_ps(p, n, set1(1.f));
  __m512 q = _mm512_fmadd_ps(n, set1(6.f / 5040), set1(5.f / 720));
  q = _mm512_fmadd_ps(q, n, set1(4.f / 120));
  q = _mm512_fmadd_ps(q, n, set1(3.f / 24));
  q = _mm512_fmadd_ps(q, n, set1(2.f / 6));
  q = _mm512_fmadd_ps(q, n, set1(.5f));
  f = _mm512_mask_mov_ps(f, small, p);
  slope = _mm512_mask_mov_ps(slope, small, q);
  h = _mm512_mul_ps(slope, inverse);
}

struct LossWeights {
  float weight;    // of this order
  double count;    // valid pixels of the batch
  double steps;    // smooth steps of the batch
  float gradient;  // weight of the surface term
};

// Activated points of both views to t.points; returns the predicted scale before clamping.
float activate_pair(const float* const raw[2], const PairTruth& truth, MapSize size, double count, const LossScratch& t) {
  __m512 sum = _mm512_setzero_ps();
  const int n = size.pixels(), grid = size.width / 16;
  for (int view = 0; view < 2; ++view)
    for (int token = 0; token < size.tokens(); ++token)
      for (int dy = 0; dy < 16; ++dy) {
        const int at = (token / grid * 16 + dy) * size.width + token % grid * 16;
        const float* r = raw[view] + raw_index(token, 0, dy);
        const __m512 x = _mm512_loadu_ps(r), y = _mm512_loadu_ps(r + 256), z = _mm512_loadu_ps(r + 512);
        __m512 f, h;
        stretch(length_ps(x, y, z), f, h);
        const __m512 px = _mm512_mul_ps(x, f), py = _mm512_mul_ps(y, f), pz = _mm512_mul_ps(z, f);
        float* p = t.points[view] + at;
        _mm512_storeu_ps(p, px);
        _mm512_storeu_ps(p + n, py);
        _mm512_storeu_ps(p + 2 * n, pz);
        sum = _mm512_mask_add_ps(sum, valid16(truth.valid[view] + at), sum, length_ps(px, py, pz));
      }
  return _mm512_reduce_add_ps(sum) / float(std::max(count, 1.0));
}

// The confidence-weighted term of one view: gradients by normalised points to t.gradient and by the raw confidence to draw.
// Returns the sum of gradient times normalised point.
float regress(int view, const float* raw, const PairTruth& truth, MapSize size, float inverse_scale, float inverse_true_scale,
              const LossWeights& w, const LossScratch& t, bf16* draw, Sums& sums) {
  const int n = size.pixels(), grid = size.width / 16;
  const __m512 is = set1(inverse_scale), it = set1(inverse_true_scale), unit = set1(float(w.weight / w.count)), one = set1(1.f);
  __m512 weighted = _mm512_setzero_ps(), plain = weighted, dot = weighted;
  for (int token = 0; token < size.tokens(); ++token)
    for (int dy = 0; dy < 16; ++dy) {
      const int at = (token / grid * 16 + dy) * size.width + token % grid * 16;
      const __mmask16 m = valid16(truth.valid[view] + at);
      const float *p = t.points[view] + at, *q = truth.points[view] + at;
      __m512 point[3], d[3];
      for (int c = 0; c < 3; ++c) {
        point[c] = _mm512_mul_ps(_mm512_loadu_ps(p + c * n), is);
        d[c] = _mm512_fnmadd_ps(_mm512_loadu_ps(q + c * n), it, point[c]);
      }
      const __m512 distance = length_ps(d[0], d[1], d[2]);
      const __m512 e = exp_ps(_mm512_loadu_ps(raw + raw_index(token, 3, dy))), conf = _mm512_add_ps(e, one);
      const __m512 term = _mm512_fmsub_ps(conf, distance, _mm512_mul_ps(set1(kAlpha), log_ps(conf)));
      weighted = _mm512_mask_add_ps(weighted, m, weighted, term);
      plain = _mm512_mask_add_ps(plain, m, plain, distance);
      const __m512 g = _mm512_maskz_div_ps(m, _mm512_mul_ps(conf, unit), distance);
      for (int c = 0; c < 3; ++c) {
        const __m512 gradient = _mm512_mul_ps(g, d[c]);
        dot = _mm512_fmadd_ps(gradient, point[c], dot);
        _mm512_storeu_ps(t.gradient[view] + at + c * n, gradient);
      }
      const __m512 dconf = _mm512_sub_ps(distance, _mm512_div_ps(set1(kAlpha), conf));
      store16(draw + raw_index(token, 3, dy), _mm512_maskz_mul_ps(m, _mm512_mul_ps(dconf, e), unit));
    }
  sums.weighted += _mm512_reduce_add_ps(weighted);
  sums.plain += _mm512_reduce_add_ps(plain);
  return _mm512_reduce_add_ps(dot);
}

// The surface term of one view, added to t.gradient. Returns the sum of gradient times normalised point.
float compare_steps(int view, const PairTruth& truth, MapSize size, float inverse_scale, float inverse_true_scale, const LossWeights& w,
                    const Steps& steps, const LossScratch& t, Sums& sums) {
  const int n = size.pixels();
  const float unit = float(w.weight * w.gradient / w.steps);
  const __m512 is = set1(inverse_scale), it = set1(inverse_true_scale), zero = _mm512_setzero_ps();
  const float *p = t.points[view], *q = truth.points[view];
  __m512 sum = zero, dot = zero;
  for (size_t i = 0; i < steps.from.size(); i += 16) {
    const __m512i from = _mm512_loadu_si512(&steps.from[i]), to = _mm512_loadu_si512(&steps.to[i]);
    const __mmask16 m = smooth16(truth, view, n, it, from, to);
    if (!m) continue;
    __m512 square = set1(1e-16f), error = zero, along = zero;
    __mmask16 up[3], down[3];
    for (int c = 0; c < 3; ++c) {
      const __m512 t0 = _mm512_mul_ps(gather(m, from, q + c * n), it), t1 = _mm512_mul_ps(gather(m, to, q + c * n), it);
      const __m512 step = _mm512_mul_ps(_mm512_sub_ps(gather(m, to, p + c * n), gather(m, from, p + c * n)), is);
      const __m512 d = _mm512_sub_ps(step, _mm512_sub_ps(t1, t0));
      square = _mm512_fmadd_ps(t0, t0, square);
      error = _mm512_add_ps(error, _mm512_abs_ps(d));
      up[c] = _mm512_cmp_ps_mask(d, zero, _CMP_GT_OQ), down[c] = _mm512_cmp_ps_mask(d, zero, _CMP_LT_OQ);
      along = _mm512_mask_add_ps(along, up[c], along, step);
      along = _mm512_mask_sub_ps(along, down[c], along, step);
    }
    const __m512 inverse = _mm512_div_ps(set1(1.f), _mm512_sqrt_ps(square)), pull = _mm512_mul_ps(inverse, set1(unit));
    sum = _mm512_mask3_fmadd_ps(error, inverse, sum, m);
    dot = _mm512_mask3_fmadd_ps(along, inverse, dot, m);
    for (int c = 0; c < 3; ++c) {
      float* g = t.gradient[view] + c * n;
      const __m512 d = _mm512_mask_sub_ps(_mm512_maskz_mov_ps(up[c], pull), down[c], zero, pull);
      _mm512_mask_i32scatter_ps(g, m, to, _mm512_add_ps(gather(m, to, g), d), 4);
      _mm512_mask_i32scatter_ps(g, m, from, _mm512_sub_ps(gather(m, from, g), d), 4);
    }
  }
  sums.surface += _mm512_reduce_add_ps(sum);
  return _mm512_reduce_add_ps(dot) * unit;
}

// From t.gradient (by normalised points) to the gradient by raw values; pull is that of the scale by the length of each valid point.
void raw_gradient(int view, const float* raw, const PairTruth& truth, MapSize size, float inverse_scale, float pull, const LossScratch& t,
                  bf16* draw) {
  const int n = size.pixels(), grid = size.width / 16;
  for (int token = 0; token < size.tokens(); ++token)
    for (int dy = 0; dy < 16; ++dy) {
      const int at = (token / grid * 16 + dy) * size.width + token % grid * 16;
      const float* r = raw + raw_index(token, 0, dy);
      const __m512 xyz[3] = {_mm512_loadu_ps(r), _mm512_loadu_ps(r + 256), _mm512_loadu_ps(r + 512)};
      const __m512 norm = length_ps(xyz[0], xyz[1], xyz[2]);
      __m512 f, h, p[3], d[3];
      stretch(norm, f, h);
      for (int c = 0; c < 3; ++c) p[c] = _mm512_loadu_ps(t.points[view] + at + c * n);
      const __m512 toward = _mm512_maskz_div_ps(valid16(truth.valid[view] + at), set1(pull), length_ps(p[0], p[1], p[2]));
      __m512 dot = _mm512_setzero_ps();
      for (int c = 0; c < 3; ++c) {
        d[c] = _mm512_fmadd_ps(_mm512_loadu_ps(t.gradient[view] + at + c * n), set1(inverse_scale), _mm512_mul_ps(p[c], toward));
        dot = _mm512_fmadd_ps(d[c], xyz[c], dot);
      }
      const __m512 radial = _mm512_mul_ps(dot, h);
      for (int c = 0; c < 3; ++c) store16(draw + raw_index(token, c, dy), _mm512_fmadd_ps(xyz[c], radial, _mm512_mul_ps(d[c], f)));
    }
}

void pair_loss(const float* const raw[2], const PairTruth& truth, MapSize size, double count, float true_scale, const LossWeights& w,
               const Steps& steps, const LossScratch& t, bf16* const draw[2], Sums& sums) {
  const float measured = activate_pair(raw, truth, size, count, t), scale = std::max(measured, 1e-6f);
  float dot = 0;
  for (int view = 0; view < 2; ++view) {
    dot += regress(view, raw[view], truth, size, 1 / scale, 1 / true_scale, w, t, draw[view], sums);
    if (w.gradient > 0) dot += compare_steps(view, truth, size, 1 / scale, 1 / true_scale, w, steps, t, sums);
  }
  const float pull = measured > 1e-6f ? -dot / scale / float(std::max(count, 1.0)) : 0.f;
  for (int view = 0; view < 2; ++view) raw_gradient(view, raw[view], truth, size, 1 / scale, pull, t, draw[view]);
}

}  // namespace
