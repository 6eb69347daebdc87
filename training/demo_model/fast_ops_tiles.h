// Vectors of 16 floats, packing of bfloat16 matrices into tiles, and products of them with AMX.
//
// A product is cut into blocks of 32 x 32 made of four tiles of sums. Its left operand is read where it lies; the right one is packed, rows
// 2j and 2j + 1 side by side, as the instruction wants it.
// Part of fast_ops.cpp, which is one translation unit: hence the namespace without a name.

#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

namespace {

using bf16 = uint16_t;
constexpr int kTile = 512;  // bfloat16 values of a tile, 16 rows of 32

inline int round_up(int n, int to) {
  return (n + to - 1) / to * to;
}

inline __m512 widen(__m256i v) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}
inline __m512 load16(const bf16* p) {
  return widen(_mm256_loadu_si256((const __m256i*)p));
}
inline __m256i narrow(__m512 v) {
  return (__m256i)_mm512_cvtneps_pbh(v);
}
inline void store16(bf16* p, __m512 v) {
  _mm256_storeu_si256((__m256i*)p, narrow(v));
}
inline void store32(bf16* p, __m512 a, __m512 b) {
  _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(b, a));
}
// Past the caches: for what is read again only much later.
inline void stream32(bf16* p, __m512 a, __m512 b) {
  _mm512_stream_si512((__m512i*)p, (__m512i)_mm512_cvtne2ps_pbh(b, a));
}
inline __m512 set1(float v) {
  return _mm512_set1_ps(v);
}

inline __m512 exp_ps(__m512 x) {
  x = _mm512_min_ps(_mm512_max_ps(x, set1(-87.f)), set1(88.f));
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, set1(1.44269504f)), 0);
  const __m512 r = _mm512_fnmadd_ps(n, set1(-2.12194440e-4f), _mm512_fnmadd_ps(n, set1(0.693359375f), x));
  __m512 p = set1(1.f / 720);
  p = _mm512_fmadd_ps(p, r, set1(1.f / 120));
  p = _mm512_fmadd_ps(p, r, set1(1.f / 24));
  p = _mm512_fmadd_ps(p, r, set1(1.f / 6));
  p = _mm512_fmadd_ps(p, r, set1(.5f));
  p = _mm512_fmadd_ps(p, r, set1(1.f));
  p = _mm512_fmadd_ps(p, r, set1(1.f));
  return _mm512_scalef_ps(p, n);
}

inline __m512 log_ps(__m512 x) {  // x > 0
  const __m512 e = _mm512_getexp_ps(_mm512_mul_ps(x, set1(4.f / 3)));
  const __m512 m = _mm512_scalef_ps(x, _mm512_sub_ps(_mm512_setzero_ps(), e));  // [.75, 1.5)
  const __m512 s = _mm512_div_ps(_mm512_sub_ps(m, set1(1.f)), _mm512_add_ps(m, set1(1.f)));
  const __m512 q = _mm512_mul_ps(s, s);
  __m512 p = _mm512_fmadd_ps(q, set1(2.f / 9), set1(2.f / 7));
  p = _mm512_fmadd_ps(p, q, set1(2.f / 5));
  p = _mm512_fmadd_ps(p, q, set1(2.f / 3));
  p = _mm512_fmadd_ps(p, q, set1(2.f));
  return _mm512_fmadd_ps(p, s, _mm512_mul_ps(e, set1(0.69314718f)));
}

// GELU and its derivative by Abramowitz and Stegun 7.1.25 (error of erf below 2.5e-5), good enough for results in bfloat16.
inline void gelu_ps(__m512 h, __m512& value, __m512& slope) {
  const __m512 w = _mm512_mul_ps(_mm512_mul_ps(h, h), set1(-.72134752f));  // e = exp(-h h / 2) = 2^w
  const __m512 n = _mm512_roundscale_ps(w, 0), f = _mm512_sub_ps(w, n);
  __m512 e = _mm512_fmadd_ps(f, set1(0.009618129f), set1(0.055504109f));
  e = _mm512_fmadd_ps(e, f, set1(0.240226507f));
  e = _mm512_fmadd_ps(e, f, set1(0.693147181f));
  e = _mm512_scalef_ps(_mm512_fmadd_ps(e, f, set1(1.f)), n);
  const __m512 t = _mm512_rcp14_ps(_mm512_fmadd_ps(_mm512_abs_ps(h), set1(0.47047f * 0.70710678f), set1(1.f)));
  __m512 p = _mm512_fmadd_ps(t, set1(0.5f * 0.7478556f), set1(0.5f * -0.0958798f));
  p = _mm512_fmadd_ps(p, t, set1(0.5f * 0.3480242f));
  const __m512 tail = _mm512_mul_ps(_mm512_mul_ps(p, t), e);  // Phi(-|h|)
  const __mmask16 positive = _knot_mask16(_mm512_movepi32_mask(_mm512_castps_si512(h)));
  const __m512 phi = _mm512_mask_sub_ps(tail, positive, set1(1.f), tail);
  value = _mm512_mul_ps(h, phi);
  slope = _mm512_fmadd_ps(_mm512_mul_ps(h, e), set1(0.39894228f), phi);
}

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

void configure_tiles() {
  TileConfig config;
  for (int t = 0; t < 8; ++t) config.row_bytes[t] = 64, config.rows[t] = 16;
  _tile_loadconfig(&config);
}

// Rows 2j and 2j + 1 side by side: value c of the result holds (row 2j, row 2j + 1) of column c.
inline __m512i interleave(__m256i even, __m256i odd) {
  return _mm512_or_si512(_mm512_cvtepu16_epi32(even), _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16));
}

inline void transpose_16x16(__m512i r[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

// A bfloat16 matrix by blocks of 32 x 32: either row-major, or blocked, every block being 2 KiB in a row (what only products read), or
// tiles.
struct Matrix {
  const bf16* data;
  size_t row_block, column_block, half;  // in values: to the next 32 rows, the next 32 columns, and from row 0 to row 16 of a block
  int ld;                                // in values: to the next row
  const bf16* block(int row, int column) const { return data + size_t(row / 32) * row_block + size_t(column / 32) * column_block; }
  Matrix from_row(int row) const { return {block(row, 0), row_block, column_block, half, ld}; }
};
Matrix matrix(const bf16* x, int ld) {
  return {x, size_t(32) * ld, 32, size_t(16) * ld, ld};
}
Matrix blocked(const bf16* x, int columns) {
  return {x, size_t(columns) * 32, 1024, 512, 32};
}
Matrix tiles(const bf16* x, int blocks) {
  return {x, size_t(2) * blocks * kTile, kTile, size_t(blocks) * kTile, 32};
}

inline size_t blocked_index(int row, int column, int columns) {
  return size_t(row / 32) * columns * 32 + size_t(column / 32) * 1024 + size_t(row % 32) * 32;
}

// 16 columns of 32 rows, of which `rows` exist.
inline void load_pairs(const bf16* x, int ld, int rows, __m512i r[16]) {
  if (rows >= 32) {
    for (int j = 0; j < 16; ++j)
      r[j] = interleave(_mm256_loadu_si256((const __m256i*)(x + size_t(2 * j) * ld)),
                        _mm256_loadu_si256((const __m256i*)(x + size_t(2 * j + 1) * ld)));
    return;
  }
  for (int j = 0; j < 16; ++j) {
    const __m256i even = 2 * j < rows ? _mm256_loadu_si256((const __m256i*)(x + size_t(2 * j) * ld)) : _mm256_setzero_si256();
    const __m256i odd = 2 * j + 1 < rows ? _mm256_loadu_si256((const __m256i*)(x + size_t(2 * j + 1) * ld)) : _mm256_setzero_si256();
    r[j] = interleave(even, odd);
  }
}

inline void prefetch_rows(const bf16* x, int ld) {
  for (int j = 0; j < 32; ++j) _mm_prefetch((const char*)(x + size_t(j) * ld), _MM_HINT_T0);
}

// Right operand of a sum over rows: x [rows, columns] -> tiles [columns / 16][padded / 32]; rows past the end are zero.
void pack_rows(const Matrix& x, int rows, int columns, bf16* tiles) {
  const int blocks = round_up(rows, 32) / 32;
  for (int b = 0; b < blocks; ++b)
    for (int c = 0; c < columns / 16; ++c) {
      __m512i r[16];
      const bf16* block = x.block(b * 32, c * 16);
      if (c % 2 == 0) prefetch_rows(block + x.row_block, x.ld);
      load_pairs(block + c % 2 * 16, x.ld, rows - b * 32, r);
      __m512i* out = (__m512i*)(tiles + (size_t(c) * blocks + b) * kTile);
      for (int j = 0; j < 16; ++j) _mm512_store_si512(out + j, r[j]);
    }
}

// Left operand of a sum over rows: the transpose of x, tiles [columns / 16][padded / 32]. sums [columns], if any, gets the column sums
// added.
void pack_rows_transposed(const Matrix& x, int rows, int columns, bf16* tiles, float* sums) {
  const int blocks = round_up(rows, 32) / 32;
  const __m512bh ones = (__m512bh)_mm512_set1_epi16(0x3f80);
  for (int b = 0; b < blocks; ++b)
    for (int c = 0; c < columns / 16; ++c) {
      __m512i r[16];
      const bf16* block = x.block(b * 32, c * 16);
      if (c % 2 == 0) prefetch_rows(block + x.row_block, x.ld);
      load_pairs(block + c % 2 * 16, x.ld, rows - b * 32, r);
      if (sums) {
        __m512 even = _mm512_loadu_ps(sums + c * 16), odd = _mm512_setzero_ps();
        for (int j = 0; j < 16; j += 2) {
          even = _mm512_dpbf16_ps(even, (__m512bh)r[j], ones);
          odd = _mm512_dpbf16_ps(odd, (__m512bh)r[j + 1], ones);
        }
        _mm512_storeu_ps(sums + c * 16, _mm512_add_ps(even, odd));
      }
      transpose_16x16(r);
      __m512i* out = (__m512i*)(tiles + (size_t(c) * blocks + b) * kTile);
      for (int j = 0; j < 16; ++j) _mm512_store_si512(out + j, r[j]);
    }
}

// Right operand of a sum over columns: x [rows, columns] -> tiles [padded / 16][columns / 32], zero past the end.
void pack_columns(const bf16* x, int ld, int rows, int columns, bf16* tiles) {
  const int blocks = columns / 32;
  for (int n = 0; n < round_up(rows, 32) / 16; ++n)
    for (int b = 0; b < blocks; ++b) {
      __m512i r[16];
      for (int j = 0; j < 16; ++j)
        r[j] = n * 16 + j < rows ? _mm512_loadu_si512(x + size_t(n * 16 + j) * ld + b * 32) : _mm512_setzero_si512();
      transpose_16x16(r);
      __m512i* out = (__m512i*)(tiles + (size_t(n) * blocks + b) * kTile);
      for (int j = 0; j < 16; ++j) _mm512_store_si512(out + j, r[j]);
    }
}

inline void multiply_block(const Matrix& a, int m0, const bf16* b0, const bf16* b1, int blocks) {
  const bf16* a0 = a.block(m0, 0);
  const bf16* a1 = a0 + a.half;
  const size_t row_bytes = size_t(a.ld) * 2;
  for (int k = 0; k < blocks; ++k) {
    _tile_loadd(4, a0 + k * a.column_block, row_bytes);
    _tile_loadd(6, b0 + k * kTile, 64);
    _tile_loadd(7, b1 + k * kTile, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, a1 + k * a.column_block, row_bytes);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

// [rows, columns] = left [rows, depth] x right (packed); every 32 columns of a row go to epilogue(row, column, low 16, high 16). The
// epilogue of a block runs among or after the products of the next one, so that both kinds of unit are busy.
template <class Epilogue>
void multiply(const Matrix& a, int rows, const bf16* b, int columns, int depth, Epilogue&& epilogue) {
  alignas(64) float buffer[2][32 * 32];
  const int blocks = depth / 32;
  int turn = 0, last_m = 0, last_n = 0, last_rows = 0;
  asm volatile("" ::: "memory");  // tile loads do not tell the compiler what they read
  const auto finish = [&](int from, int to) {
    const float* c = buffer[turn];
    for (int r = from; r < std::min(to, last_rows); ++r)
      epilogue(last_m + r, last_n, _mm512_load_ps(c + r * 32), _mm512_load_ps(c + r * 32 + 16));
  };
  for (int m0 = 0; m0 < rows; m0 += 32)
    for (int n0 = 0; n0 < columns; n0 += 32) {
      const bf16 *b0 = b + size_t(n0 / 16) * blocks * kTile, *b1 = b0 + size_t(blocks) * kTile;
      const bf16 *a0 = a.block(m0, 0), *a1 = a0 + a.half;
      const size_t row_bytes = size_t(a.ld) * 2;
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      for (int k = 0, done = 0; k < blocks; ++k) {
        _tile_loadd(4, a0 + k * a.column_block, row_bytes);
        _tile_loadd(6, b0 + k * kTile, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b1 + k * kTile, 64);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a1 + k * a.column_block, row_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
        if (blocks >= 8) {
          const int next = 32 * (k + 1) / blocks;
          finish(done, next);
          done = next;
        }
      }
      if (blocks < 8) finish(0, 32);
      float* c = buffer[turn ^= 1];
      _tile_stored(0, c, 128);
      _tile_stored(1, c + 16, 128);
      _tile_stored(2, c + 16 * 32, 128);
      _tile_stored(3, c + 16 * 32 + 16, 128);
      last_m = m0, last_n = n0, last_rows = std::min(32, rows - m0);
    }
  finish(0, 32);
}

// One 32 x 32 block of out (row length ld) += left x right, both packed; the lines of `next`, the block after it, are on their way
// meanwhile.
inline void multiply_add_block(const bf16* a, const bf16* b, int blocks, float* out, int ld, const float* next) {
  const size_t row_bytes = size_t(ld) * 4;
  for (int r = 0; r < 32; ++r) {
    _mm_prefetch((const char*)(next + size_t(r) * ld), _MM_HINT_T0);
    _mm_prefetch((const char*)(next + size_t(r) * ld + 16), _MM_HINT_T0);
  }
  float* low = out + size_t(16) * ld;
  asm volatile("" ::: "memory");
  _tile_loadd(0, out, row_bytes);
  _tile_loadd(1, out + 16, row_bytes);
  _tile_loadd(2, low, row_bytes);
  _tile_loadd(3, low + 16, row_bytes);
  multiply_block(tiles(a, blocks), 0, b, b + size_t(blocks) * kTile, blocks);
  _tile_stored(0, out, row_bytes);
  _tile_stored(1, out + 16, row_bytes);
  _tile_stored(2, low, row_bytes);
  _tile_stored(3, low + 16, row_bytes);
}

// out [n, k] float32 += the transpose of dy [rows, n] x [rows, k]; sums [n] += the column sums of dy. The narrower matrix is packed as a
// whole, the other 32 columns at a time, so that its packed form stays in the first cache.
void multiply_transposed(const Matrix& dy, int n, const Matrix& x, int k, int rows, float* out, float* sums, bf16* whole, bf16* panel) {
  const int blocks = round_up(rows, 32) / 32;
  const size_t pair = size_t(2) * blocks * kTile;
  const auto at = [](const Matrix& m, int column) {
    Matrix part = m;
    part.data += size_t(column / 32) * m.column_block;
    return part;
  };
  if (n >= k) {
    pack_rows(x, rows, k, whole);
    for (int m0 = 0; m0 < n; m0 += 32) {
      pack_rows_transposed(at(dy, m0), rows, 32, panel, sums + m0);
      float* c = out + size_t(m0) * k;
      for (int k0 = 0; k0 < k; k0 += 32)
        multiply_add_block(panel, whole + k0 / 32 * pair, blocks, c + k0, k, k0 + 32 < k ? c + k0 + 32 : c + size_t(32) * k);
    }
  } else {
    pack_rows_transposed(dy, rows, n, whole, sums);
    for (int k0 = 0; k0 < k; k0 += 32) {
      pack_rows(at(x, k0), rows, 32, panel);
      for (int m0 = 0; m0 < n; m0 += 32) {
        float* c = out + size_t(m0) * k + k0;
        multiply_add_block(whole + m0 / 32 * pair, panel, blocks, c, k, m0 + 32 < n ? c + size_t(32) * k : out + k0 + 32);
      }
    }
  }
}

}  // namespace
