// The step of optimizer.py's Muon for one matrix.
// Part of fast_ops.cpp, which is one translation unit: hence the namespace without a name.

#pragma once

#include <cmath>
#include <vector>

#include "fast_ops_blocks.h"

namespace {

// Work space of one orthogonalisation: small x large, small <= large, multiples of 32.
struct MuonScratch {
  std::vector<float> ahead;
  bf16 *x = nullptr, *packed = nullptr, *gram = nullptr, *mix = nullptr;
  Arena arena;
  size_t large_size = 0, small_size = 0;
  void reserve(size_t large, size_t small) {
    if (large <= large_size && small <= small_size) return;
    large_size = std::max(large, large_size), small_size = std::max(small, small_size);
    for (int pass = 0; pass < 2; ++pass) {
      x = arena.take<bf16>(large_size), packed = arena.take<bf16>(large_size);
      gram = arena.take<bf16>(small_size), mix = arena.take<bf16>(small_size);
      if (pass == 0) arena.allocate(arena.used());
    }
    ahead.resize(large_size);
  }
};

void transpose_bf16(const float* in, int rows, int columns, float scale, bf16* out) {
  for (int r = 0; r < rows; r += 16)
    for (int c = 0; c < columns; c += 16) {
      __m512i v[16];
      for (int j = 0; j < 16; ++j) v[j] = _mm512_castps_si512(_mm512_loadu_ps(in + size_t(r + j) * columns + c));
      transpose_16x16(v);
      for (int j = 0; j < 16; ++j) store16(out + size_t(c + j) * rows + r, _mm512_mul_ps(_mm512_castsi512_ps(v[j]), set1(scale)));
    }
}

// x [small, large] towards the nearest matrix with orthonormal rows: x <- a x + (b g + c g g) x with g = x x^T.
void newton_schulz(int small, int large, const float* abc, int steps, MuonScratch& t) {
  const __m512 a = set1(abc[0]), b = set1(abc[1]), c = set1(abc[2]);
  for (int step = 0; step < steps; ++step) {
    pack_columns(t.x, large, small, large, t.packed);
    multiply(matrix(t.x, large), small, t.packed, small, large, store_to(t.gram, small));
    pack_rows(matrix(t.gram, small), small, small, t.packed);
    multiply(matrix(t.gram, small), small, t.packed, small, small, [&](int r, int col, __m512 lo, __m512 hi) {
      const bf16* g = t.gram + r * small + col;
      store32(t.mix + r * small + col, _mm512_fmadd_ps(c, lo, _mm512_mul_ps(b, load16(g))),
              _mm512_fmadd_ps(c, hi, _mm512_mul_ps(b, load16(g + 16))));
    });
    pack_rows(matrix(t.x, large), small, large, t.packed);
    multiply(matrix(t.mix, small), small, t.packed, large, small, [&](int r, int col, __m512 lo, __m512 hi) {
      bf16* x = t.x + size_t(r) * large + col;
      store32(x, _mm512_fmadd_ps(a, load16(x), lo), _mm512_fmadd_ps(a, load16(x + 16), hi));
    });
  }
}

struct MuonRule {
  float momentum, keep, rate;  // keep: what weight decay leaves of a parameter
  float abc[3];
  int steps;
};

void muon_step(float* p, const float* gradient, float* momentum, int rows, int columns, const MuonRule& rule, MuonScratch& t) {
  const size_t n = size_t(rows) * columns;
  const int small = std::min(rows, columns), large = std::max(rows, columns);
  t.reserve(n, size_t(small) * small);
  __m512 square = _mm512_setzero_ps();
  const __m512 m = set1(rule.momentum);
  for (size_t i = 0; i < n; i += 16) {
    const __m512 g = _mm512_loadu_ps(gradient + i);
    const __m512 v = _mm512_fmadd_ps(m, _mm512_sub_ps(_mm512_loadu_ps(momentum + i), g), g);
    const __m512 ahead = _mm512_fmadd_ps(m, _mm512_sub_ps(v, g), g);
    _mm512_storeu_ps(momentum + i, v);
    _mm512_storeu_ps(t.ahead.data() + i, ahead);
    square = _mm512_fmadd_ps(ahead, ahead, square);
  }
  const float scale = 1 / (std::sqrt(_mm512_reduce_add_ps(square)) + 1e-7f);
  const bool tall = rows > columns;
  if (tall)
    transpose_bf16(t.ahead.data(), rows, columns, scale, t.x);
  else
    for (size_t i = 0; i < n; i += 16) store16(t.x + i, _mm512_mul_ps(_mm512_loadu_ps(t.ahead.data() + i), set1(scale)));
  newton_schulz(small, large, rule.abc, rule.steps, t);
  const __m512 keep = set1(rule.keep), rate = set1(rule.rate);
  for (int r = 0; r < small; r += 16)
    for (int c = 0; c < large; c += 16) {
      __m512i v[16];
      for (int j = 0; j < 16; ++j) v[j] = _mm512_castps_si512(load16(t.x + size_t(r + j) * large + c));
      if (tall) transpose_16x16(v);
      for (int j = 0; j < 16; ++j) {
        float* at = tall ? p + size_t(c + j) * columns + r : p + size_t(r + j) * columns + c;
        _mm512_storeu_ps(at, _mm512_fnmadd_ps(rate, _mm512_castsi512_ps(v[j]), _mm512_mul_ps(keep, _mm512_loadu_ps(at))));
      }
    }
}

}  // namespace
