// Forward and backward pass of the demo model on one thread with AMX products: training's inner loop, called by fast_ops.py.
//
// Eager PyTorch spends four fifths of a step on element-wise work and copies. Here every product carries its neighbours (bias, rotation,
// GELU, residual) in its epilogue, and pairs go through the network in chunks whose working set stays in the second-level cache. Products
// are bfloat16 with float32 sums; the residual stream, its gradient, the loss and all parameters are float32.
//
// Rows are tokens: the views of a chunk one after the other, each [tokens, channels] row-major. model.py and loss.py are the reference.

#include <immintrin.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using bf16 = uint16_t;
constexpr int kHead = 64;       // channels of a head: each quarter is one vector
constexpr int kTile = 512;      // bfloat16 values of a tile, 16 rows of 32
#ifndef GROUP_ROWS
#define GROUP_ROWS 100000
#endif
constexpr int kGroupRows = GROUP_ROWS;  // about as many rows go through a block together
#ifndef SUM_ROWS
#define SUM_ROWS 384
#endif
constexpr int kSumRows = SUM_ROWS;  // rows that go into a weight gradient at once: 32 packed columns of them fit the first cache
constexpr float kNormEps = 1e-6f;
constexpr float kAlpha = 0.2f;  // CONFIDENCE_ALPHA

int round_up(int n, int to) { return (n + to - 1) / to * to; }

// ---------------------------------------------------------------------------------------------------------------- vectors

inline __m512 widen(__m256i v) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16)); }
inline __m512 load16(const bf16* p) { return widen(_mm256_loadu_si256((const __m256i*)p)); }
inline __m256i narrow(__m512 v) { return (__m256i)_mm512_cvtneps_pbh(v); }
inline void store16(bf16* p, __m512 v) { _mm256_storeu_si256((__m256i*)p, narrow(v)); }
inline void store32(bf16* p, __m512 a, __m512 b) { _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(b, a)); }
// Past the caches: for what is read again only much later.
inline void stream32(bf16* p, __m512 a, __m512 b) { _mm512_stream_si512((__m512i*)p, (__m512i)_mm512_cvtne2ps_pbh(b, a)); }
inline __m512 set1(float v) { return _mm512_set1_ps(v); }

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

inline __m512 sqrt_ps(__m512 x) { return _mm512_sqrt_ps(x); }

// 1 / x to about 28 bits: the estimate and one Newton step.
inline __m512 reciprocal(__m512 x) {
  const __m512 r = _mm512_rcp14_ps(x);
  return _mm512_mul_ps(r, _mm512_fnmadd_ps(x, r, set1(2.f)));
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

// ------------------------------------------------------------------------------------------------------------------ tiles

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

// A bfloat16 matrix by blocks of 32 x 32: either row-major, or blocked, every block being 2 KiB in a row (what only products read), or tiles.
struct Matrix {
  const bf16* data;
  size_t row_block, column_block, half;  // in values: to the next 32 rows, the next 32 columns, and from row 0 to row 16 of a block
  int ld;                                // in values: to the next row
  const bf16* block(int row, int column) const { return data + size_t(row / 32) * row_block + size_t(column / 32) * column_block; }
  Matrix from_row(int row) const { return {block(row, 0), row_block, column_block, half, ld}; }
};
Matrix matrix(const bf16* x, int ld) { return {x, size_t(32) * ld, 32, size_t(16) * ld, ld}; }
Matrix blocked(const bf16* x, int columns) { return {x, size_t(columns) * 32, 1024, 512, 32}; }
Matrix tiles(const bf16* x, int blocks) { return {x, size_t(2) * blocks * kTile, kTile, size_t(blocks) * kTile, 32}; }

inline size_t blocked_index(int row, int column, int columns) {
  return size_t(row / 32) * columns * 32 + size_t(column / 32) * 1024 + size_t(row % 32) * 32;
}

// 16 columns of 32 rows, of which `rows` exist.
inline void load_pairs(const bf16* x, int ld, int rows, __m512i r[16]) {
  if (rows >= 32) {
    for (int j = 0; j < 16; ++j)
      r[j] = interleave(_mm256_loadu_si256((const __m256i*)(x + size_t(2 * j) * ld)), _mm256_loadu_si256((const __m256i*)(x + size_t(2 * j + 1) * ld)));
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

// Left operand of a sum over rows: the transpose of x, tiles [columns / 16][padded / 32]. sums [columns], if any, gets the column sums added.
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

// [rows, columns] = left [rows, depth] x right (packed); every 32 columns of a row go to epilogue(row, column, low 16, high 16). The epilogue of
// a block runs among or after the products of the next one, so that both kinds of unit are busy.
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

// One 32 x 32 block of out (row length ld) += left x right, both packed; the lines of `next`, the block after it, are on their way meanwhile.
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

// out [n, k] float32 += the transpose of dy [rows, n] x [rows, k]; sums [n] += the column sums of dy. The narrower matrix is packed as a whole,
// the other 32 columns at a time, so that its packed form stays in the first cache.
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

// ----------------------------------------------------------------------------------------------------------------- memory

// Buffers of a run, 64-byte aligned, taken in order from one block of huge pages; every buffer has slack for reads past the last row.
class Arena {
 public:
  ~Arena() { release(); }
  void reset() { used_ = 0; }
  template <class T>
  T* take(size_t count) {
    const size_t bytes = (count * sizeof(T) + 63) / 64 * 64 + 256;
    char* p = base_ ? base_ + used_ : nullptr;
    used_ += (bytes + 63) / 64 * 64;
    return reinterpret_cast<T*>(p);
  }
  size_t used() const { return used_; }
  void allocate(size_t bytes) {
    release();
    size_ = (bytes + (2u << 20)) / (2u << 20) * (2u << 20);
    base_ = static_cast<char*>(std::aligned_alloc(2u << 20, size_));
    madvise(base_, size_, MADV_HUGEPAGE);
    std::memset(base_, 0, size_);
    used_ = 0;
  }

 private:
  void release() {
    std::free(base_);
    base_ = nullptr;
  }
  char* base_ = nullptr;
  size_t size_ = 0, used_ = 0;
};

// --------------------------------------------------------------------------------------------------------------- products

// A linear layer, or two that read the same input (keys and values of a cross attention), with its weights packed for both directions.
struct Product {
  int out = 0, in = 0, parts = 1;
  const float *w[2] = {}, *b[2] = {};
  float *gw[2] = {}, *gb[2] = {};
  bf16 *forward = nullptr, *backward = nullptr;
  float* bias = nullptr;
  int part_rows() const { return out / parts; }
};

inline __m512i to_bf16(const float* p) { return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(p + 16), _mm512_loadu_ps(p)); }

void pack_weights(Product& p) {
  const int in_blocks = p.in / 32, out_blocks = p.out / 32;
  for (int n0 = 0; n0 < p.out; n0 += 32) {
    const int part = n0 / p.part_rows();
    const float* w = p.w[part] + size_t(n0 - part * p.part_rows()) * p.in;
    std::memcpy(p.bias + n0, p.b[part] + (n0 - part * p.part_rows()), 128);
    for (int k0 = 0; k0 < p.in; k0 += 32) {
      __m512i rows[32], r[16];
      for (int j = 0; j < 32; ++j) rows[j] = to_bf16(w + size_t(j) * p.in + k0);
      for (int half = 0; half < 2; ++half) {
        for (int j = 0; j < 16; ++j)
          r[j] = half ? interleave(_mm512_extracti64x4_epi64(rows[2 * j], 1), _mm512_extracti64x4_epi64(rows[2 * j + 1], 1))
                      : interleave(_mm512_castsi512_si256(rows[2 * j]), _mm512_castsi512_si256(rows[2 * j + 1]));
        __m512i* out = (__m512i*)(p.backward + (size_t(k0 / 16 + half) * out_blocks + n0 / 32) * kTile);
        for (int j = 0; j < 16; ++j) _mm512_store_si512(out + j, r[j]);
      }
      for (int half = 0; half < 2; ++half) {
        transpose_16x16(rows + half * 16);
        __m512i* out = (__m512i*)(p.forward + (size_t(n0 / 16 + half) * in_blocks + k0 / 32) * kTile);
        for (int j = 0; j < 16; ++j) _mm512_store_si512(out + j, rows[half * 16 + j]);
      }
    }
  }
}

struct Norm {
  const float *w = nullptr, *b = nullptr;
  float *gw = nullptr, *gb = nullptr;
};

// What the backward pass of a layer norm needs.
struct NormSaved {
  bf16 *unit = nullptr, *y = nullptr;  // before and after scale and shift
  float* rstd = nullptr;
};

void norm_forward(const Norm& norm, const float* x, int rows, int dim, const NormSaved& s) {
  const int n = dim / 16;
  for (int r = 0; r < rows; ++r, x += dim) {
    __m512 sum = _mm512_setzero_ps(), sum2 = sum, square = sum, square2 = sum;
    for (int i = 0; i < n; i += 2) {
      const __m512 a = _mm512_loadu_ps(x + i * 16), b = _mm512_loadu_ps(x + i * 16 + 16);
      sum = _mm512_add_ps(sum, a), sum2 = _mm512_add_ps(sum2, b);
      square = _mm512_fmadd_ps(a, a, square), square2 = _mm512_fmadd_ps(b, b, square2);
    }
    const float mean = _mm512_reduce_add_ps(_mm512_add_ps(sum, sum2)) / dim;
    const float variance = _mm512_reduce_add_ps(_mm512_add_ps(square, square2)) / dim - mean * mean;
    const float rstd = 1.f / std::sqrt(std::max(variance, 0.f) + kNormEps);
    s.rstd[r] = rstd;
    const __m512 scale = set1(rstd), shift = set1(-mean * rstd);
    for (int i = 0; i < n; i += 2) {
      const __m512 u = _mm512_fmadd_ps(_mm512_loadu_ps(x + i * 16), scale, shift), v = _mm512_fmadd_ps(_mm512_loadu_ps(x + i * 16 + 16), scale, shift);
      stream32(s.unit + size_t(r) * dim + i * 16, u, v);
      store32(s.y + size_t(r) * dim + i * 16, _mm512_fmadd_ps(u, _mm512_loadu_ps(norm.w + i * 16), _mm512_loadu_ps(norm.b + i * 16)),
              _mm512_fmadd_ps(v, _mm512_loadu_ps(norm.w + i * 16 + 16), _mm512_loadu_ps(norm.b + i * 16 + 16)));
    }
  }
}

// Adds the gradient to dx [rows, dim].
void norm_backward(const Norm& norm, const bf16* dy, int rows, int dim, const NormSaved& s, float* dx) {
  const int n = dim / 16;
  alignas(64) float gw[1024] = {}, gb[1024] = {};
  for (int r = 0; r < rows; ++r, dx += dim) {
    const bf16* g = dy + size_t(r) * dim;
    const bf16* unit = s.unit + size_t(r) * dim;
    __m512 sum = _mm512_setzero_ps(), dot = _mm512_setzero_ps();
    for (int i = 0; i < n; ++i) {
      const __m512 d = load16(g + i * 16), u = load16(unit + i * 16), t = _mm512_mul_ps(d, _mm512_loadu_ps(norm.w + i * 16));
      const __m512 du = _mm512_mul_ps(d, u);
      _mm512_store_ps(gb + i * 16, _mm512_add_ps(_mm512_load_ps(gb + i * 16), d));
      _mm512_store_ps(gw + i * 16, _mm512_add_ps(_mm512_load_ps(gw + i * 16), du));
      sum = _mm512_add_ps(sum, t);
      dot = _mm512_fmadd_ps(t, u, dot);
    }
    const __m512 mean = set1(_mm512_reduce_add_ps(sum) / dim), slope = set1(_mm512_reduce_add_ps(dot) / dim), rstd = set1(s.rstd[r]);
    for (int i = 0; i < n; ++i) {
      const __m512 t = _mm512_fmsub_ps(load16(g + i * 16), _mm512_loadu_ps(norm.w + i * 16), mean);
      const __m512 d = _mm512_fnmadd_ps(load16(unit + i * 16), slope, t);
      _mm512_storeu_ps(dx + i * 16, _mm512_fmadd_ps(d, rstd, _mm512_loadu_ps(dx + i * 16)));
    }
  }
  for (int i = 0; i < dim; ++i) norm.gw[i] += gw[i], norm.gb[i] += gb[i];
}

// Angles of the tokens: [tokens][2 axes][cos, sin][16].
struct Rope {
  std::vector<float> table;
  const float* at(int token, int axis) const { return table.data() + (size_t(token) * 2 + axis) * 32; }
  void turn(int token, int axis, __m512& a, __m512& b) const {
    const __m512 c = _mm512_loadu_ps(at(token, axis)), s = _mm512_loadu_ps(at(token, axis) + 16), a0 = a;
    a = _mm512_fmsub_ps(a0, c, _mm512_mul_ps(b, s));
    b = _mm512_fmadd_ps(b, c, _mm512_mul_ps(a0, s));
  }
  void turn_back(int token, int axis, __m512& a, __m512& b) const {
    const __m512 c = _mm512_loadu_ps(at(token, axis)), s = _mm512_loadu_ps(at(token, axis) + 16), a0 = a;
    a = _mm512_fmadd_ps(a0, c, _mm512_mul_ps(b, s));
    b = _mm512_fmsub_ps(b, c, _mm512_mul_ps(a0, s));
  }
};

void to_bf16(const float* x, size_t count, bf16* y) {
  for (size_t i = 0; i < count; i += 32) store32(y + i, _mm512_loadu_ps(x + i), _mm512_loadu_ps(x + i + 16));
}

// -------------------------------------------------------------------------------------------------------------- attention

struct AttentionScratch {
  bf16 *packed[4] = {}, *ds = nullptr;
  float* scores = nullptr;
};

// One head of one image, each [tokens, 64] in a row. q is scaled and, like k, turned already.
struct HeadView {
  const bf16 *q, *k, *v;
};

// 64 columns of a blocked matrix, from a row on.
struct BlockedHead {
  bf16* base;
  int row, column, columns;
  bf16* at(int r, int c) const { return base + blocked_index(row + r, column + c, columns); }
};

inline void softmax_row(const float* s, int count, bf16* p) {  // padded to 32 columns
  const int padded = round_up(count, 32);
  __m512 top = set1(-3e38f);
  for (int i = 0; i < count; i += 16) {
    const __mmask16 m = count - i >= 16 ? 0xffff : (1u << (count - i)) - 1;
    top = _mm512_mask_max_ps(top, m, top, _mm512_loadu_ps(s + i));
  }
  const __m512 max = set1(_mm512_reduce_max_ps(top));
  alignas(64) float e[512];
  __m512 sum = _mm512_setzero_ps();
  for (int i = 0; i < padded; i += 16) {
    const __mmask16 m = count - i >= 16 ? 0xffff : count > i ? (1u << (count - i)) - 1 : 0;
    const __m512 v = _mm512_maskz_mov_ps(m, exp_ps(_mm512_sub_ps(_mm512_loadu_ps(s + i), max)));
    sum = _mm512_add_ps(sum, v);
    _mm512_store_ps(e + i, v);
  }
  const __m512 scale = set1(1.f / _mm512_reduce_add_ps(sum));
  for (int i = 0; i < padded; i += 32) store32(p + i, _mm512_mul_ps(_mm512_load_ps(e + i), scale), _mm512_mul_ps(_mm512_load_ps(e + i + 16), scale));
}

// probabilities [padded n, padded n]
void attend(const HeadView& h, int n, bf16* probabilities, const BlockedHead& context, const AttentionScratch& t) {
  const int padded = round_up(n, 32);
  pack_columns(h.k, kHead, n, kHead, t.packed[0]);
  pack_rows(matrix(h.v, kHead), n, kHead, t.packed[1]);
  multiply(matrix(h.q, kHead), n, t.packed[0], padded, kHead, [&](int r, int c, __m512 lo, __m512 hi) {
    _mm512_storeu_ps(t.scores + r * padded + c, lo);
    _mm512_storeu_ps(t.scores + r * padded + c + 16, hi);
  });
  for (int r = 0; r < n; ++r) softmax_row(t.scores + r * padded, n, probabilities + r * padded);
  multiply(matrix(probabilities, padded), n, t.packed[1], kHead, padded,
           [&](int r, int c, __m512 lo, __m512 hi) { store32(context.at(r, c), lo, hi); });
}

// dq, dk, dv: where the gradients go, for the unscaled, unturned values. dcontext [n, 64] with row length ldc
void attend_backward(const HeadView& h, const BlockedHead& dq, const BlockedHead& dk, const BlockedHead& dv, int n, const bf16* probabilities,
                     const bf16* dcontext, int ldc, const Rope& rope, const AttentionScratch& t) {
  const int padded = round_up(n, 32), blocks = padded / 32;
  pack_columns(h.v, kHead, n, kHead, t.packed[0]);
  multiply(matrix(dcontext, ldc), n, t.packed[0], padded, kHead, [&](int r, int c, __m512 lo, __m512 hi) {
    _mm512_storeu_ps(t.scores + r * padded + c, lo);
    _mm512_storeu_ps(t.scores + r * padded + c + 16, hi);
  });
  for (int r = 0; r < n; ++r) {
    const bf16* p = probabilities + r * padded;
    const float* s = t.scores + r * padded;
    __m512 dot = _mm512_setzero_ps();
    for (int i = 0; i < padded; i += 16) dot = _mm512_fmadd_ps(load16(p + i), _mm512_loadu_ps(s + i), dot);
    const __m512 mean = set1(_mm512_reduce_add_ps(dot));
    for (int i = 0; i < padded; i += 32)
      store32(t.ds + r * padded + i, _mm512_mul_ps(load16(p + i), _mm512_sub_ps(_mm512_loadu_ps(s + i), mean)),
              _mm512_mul_ps(load16(p + i + 16), _mm512_sub_ps(_mm512_loadu_ps(s + i + 16), mean)));
  }
  pack_rows_transposed(matrix(probabilities, padded), n, padded, t.packed[0], nullptr);
  pack_rows(matrix(dcontext, ldc), n, kHead, t.packed[1]);
  multiply(tiles(t.packed[0], blocks), n, t.packed[1], kHead, padded, [&](int r, int c, __m512 lo, __m512 hi) { store32(dv.at(r, c), lo, hi); });
  pack_rows(matrix(h.k, kHead), n, kHead, t.packed[1]);
  const __m512 scale = set1(1 / std::sqrt(float(kHead)));
  multiply(matrix(t.ds, padded), n, t.packed[1], kHead, padded, [&](int r, int c, __m512 lo, __m512 hi) {
    rope.turn_back(r, c / 32, lo, hi);
    store32(dq.at(r, c), _mm512_mul_ps(lo, scale), _mm512_mul_ps(hi, scale));
  });
  pack_rows_transposed(matrix(t.ds, padded), n, padded, t.packed[0], nullptr);
  pack_rows(matrix(h.q, kHead), n, kHead, t.packed[1]);
  multiply(tiles(t.packed[0], blocks), n, t.packed[1], kHead, padded, [&](int r, int c, __m512 lo, __m512 hi) {
    rope.turn_back(r, c / 32, lo, hi);
    store32(dk.at(r, c), lo, hi);
  });
}

// ----------------------------------------------------------------------------------------------------------------- blocks

struct Block {
  int dim = 0, heads = 0, hidden = 0;
  bool cross = false;
  Norm norm1, norm2, norm_y, norm3;  // an encoder block has norm1 and, before its MLP, norm3
  Product qkv, proj, q, kv, cross_proj, fc1, fc2;
};

// What the backward pass of a block needs.
struct BlockSaved {
  NormSaved norm1, norm2, norm_y, norm3;
  bf16 *qkv, *probabilities, *context;
  bf16 *q, *kv, *cross_probabilities, *cross_context;
  bf16 *hidden, *slope;
};

// Gradients of the products' outputs in the block at hand.
struct BlockGradients {
  bf16 *out, *hidden, *cross_out, *q, *kv, *self_out, *qkv;
};

// Sizes of a chunk and what all layers of it share.
struct Shared {
  int tokens = 0;      // of an image
  int group_rows = 0;  // rows that go through a block together
  Rope rope;
  AttentionScratch attention;
  bf16 *left = nullptr, *right = nullptr;  // packed operands of weight gradients
  bf16 *dy = nullptr, *narrow = nullptr;
  BlockGradients gradients{};
};

void weight_gradient(const Product& p, Matrix dy, const Matrix& x, int rows, const Shared& s) {
  const int n = p.part_rows();
  for (int part = 0; part < p.parts; ++part, dy.data += n / 32 * dy.column_block)
    for (int row = 0; row < rows; row += kSumRows)
      multiply_transposed(dy.from_row(row), n, x.from_row(row), p.in, std::min(kSumRows, rows - row), p.gw[part], p.gb[part], s.left, s.right);
}

void weight_gradient(const Product& p, const bf16* dy, const bf16* x, int rows, const Shared& s) {
  weight_gradient(p, matrix(dy, p.out), matrix(x, p.in), rows, s);
}

template <class Epilogue>
void forward(const Product& p, const Matrix& x, int rows, Epilogue&& epilogue) {
  multiply(x, rows, p.forward, p.out, p.in, [&](int r, int c, __m512 lo, __m512 hi) {
    epilogue(r, c, _mm512_add_ps(lo, _mm512_load_ps(p.bias + c)), _mm512_add_ps(hi, _mm512_load_ps(p.bias + c + 16)));
  });
}

template <class Epilogue>
void forward(const Product& p, const bf16* x, int rows, Epilogue&& epilogue) {
  forward(p, matrix(x, p.in), rows, epilogue);
}

template <class Epilogue>
void input_gradient(const Product& p, const Matrix& dy, int rows, Epilogue&& epilogue) {
  multiply(dy, rows, p.backward, p.in, p.out, epilogue);
}

template <class Epilogue>
void input_gradient(const Product& p, const bf16* dy, int rows, Epilogue&& epilogue) {
  input_gradient(p, matrix(dy, p.out), rows, epilogue);
}

auto store_to(bf16* out, int ld) {
  return [=](int r, int c, __m512 lo, __m512 hi) { store32(out + size_t(r) * ld + c, lo, hi); };
}

auto add_to(float* x, int ld) {
  return [=](int r, int c, __m512 lo, __m512 hi) {
    float* p = x + size_t(r) * ld + c;
    _mm512_storeu_ps(p, _mm512_add_ps(_mm512_loadu_ps(p), lo));
    _mm512_storeu_ps(p + 16, _mm512_add_ps(_mm512_loadu_ps(p + 16), hi));
  };
}

// Columns are `parts` matrices of heads; out is [image][head][part][token][64]. Columns below `scaled` are queries, below `turned` queries or keys.
auto store_heads(bf16* out, int dim, int parts, const Rope& rope, int tokens, int scaled, int turned) {
  return [=, &rope](int r, int c, __m512 lo, __m512 hi) {
    const int image = r / tokens, token = r - image * tokens, part = c / dim, head = (c - part * dim) / kHead;
    if (c < turned) rope.turn(token, c / 32 % 2, lo, hi);
    if (c < scaled) {
      const __m512 scale = set1(1 / std::sqrt(float(kHead)));
      lo = _mm512_mul_ps(lo, scale), hi = _mm512_mul_ps(hi, scale);
    }
    store32(out + (size_t((image * (dim / kHead) + head) * parts + part) * tokens + token) * kHead + c % kHead, lo, hi);
  };
}

// The i-th head of a block's images.
HeadView self_view(const bf16* qkv, int i, int tokens) {
  const size_t size = size_t(tokens) * kHead;
  return {qkv + 3 * i * size, qkv + (3 * i + 1) * size, qkv + (3 * i + 2) * size};
}

HeadView cross_view(const bf16* q, const bf16* kv, int i, int tokens) {
  const size_t size = size_t(tokens) * kHead;
  return {q + i * size, kv + 2 * i * size, kv + (2 * i + 1) * size};
}

size_t probability_size(int tokens) { return size_t(round_up(tokens, 32)) * round_up(tokens, 32); }

// x [rows, dim] is changed in place; a decoder block needs norm_y of the other view done before.
void block_forward(const Block& b, const BlockSaved& s, float* x, int rows, const Shared& t) {
  const int dim = b.dim, n = t.tokens;
  norm_forward(b.norm1, x, rows, dim, s.norm1);
  forward(b.qkv, s.norm1.y, rows, store_heads(s.qkv, dim, 3, t.rope, n, dim, 2 * dim));
  for (int row = 0, i = 0; row < rows; row += n)
    for (int h = 0; h < b.heads; ++h, ++i)
      attend(self_view(s.qkv, i, n), n, s.probabilities + i * probability_size(n), {s.context, row, h * kHead, dim}, t.attention);
  forward(b.proj, blocked(s.context, dim), rows, add_to(x, dim));
  if (b.cross) {
    norm_forward(b.norm2, x, rows, dim, s.norm2);
    forward(b.q, s.norm2.y, rows, store_heads(s.q, dim, 1, t.rope, n, dim, dim));
    forward(b.kv, s.norm_y.y, rows, store_heads(s.kv, dim, 2, t.rope, n, 0, dim));
    for (int row = 0, i = 0; row < rows; row += n)
      for (int h = 0; h < b.heads; ++h, ++i)
        attend(cross_view(s.q, s.kv, i, n), n, s.cross_probabilities + i * probability_size(n), {s.cross_context, row, h * kHead, dim}, t.attention);
    forward(b.cross_proj, blocked(s.cross_context, dim), rows, add_to(x, dim));
  }
  norm_forward(b.norm3, x, rows, dim, s.norm3);
  forward(b.fc1, s.norm3.y, rows, [&](int r, int c, __m512 lo, __m512 hi) {
    __m512 a, b2, da, db;
    gelu_ps(lo, a, da);
    gelu_ps(hi, b2, db);
    const size_t at = blocked_index(r, c, b.hidden);
    store32(s.hidden + at, a, b2);
    stream32(s.slope + at, da, db);
  });
  forward(b.fc2, blocked(s.hidden, b.hidden), rows, add_to(x, dim));
}

// dx [rows, dim] is changed in place; dother gets the gradient of norm_y's output; g keeps what the gradients of the weights need.
void block_backward(const Block& b, const BlockSaved& s, float* dx, bf16* dother, int rows, const BlockGradients& g, const Shared& t) {
  const int dim = b.dim, n = t.tokens;
  const size_t square = probability_size(n);
  to_bf16(dx, size_t(rows) * dim, g.out);
  input_gradient(b.fc2, g.out, rows, [&](int r, int c, __m512 lo, __m512 hi) {
    const size_t at = blocked_index(r, c, b.hidden);
    const bf16* slope = s.slope + at;
    _mm_prefetch((const char*)(slope + 1024), _MM_HINT_T0);
    _mm_prefetch((const char*)(slope + 2048), _MM_HINT_T1);
    store32(g.hidden + at, _mm512_mul_ps(lo, load16(slope)), _mm512_mul_ps(hi, load16(slope + 16)));
  });
  input_gradient(b.fc1, blocked(g.hidden, b.hidden), rows, store_to(t.narrow, dim));
  norm_backward(b.norm3, t.narrow, rows, dim, s.norm3, dx);
  if (b.cross) {
    to_bf16(dx, size_t(rows) * dim, g.cross_out);
    input_gradient(b.cross_proj, g.cross_out, rows, store_to(t.narrow, dim));
    for (int row = 0, i = 0; row < rows; row += n)
      for (int h = 0; h < b.heads; ++h, ++i) {
        const int c = h * kHead;
        attend_backward(cross_view(s.q, s.kv, i, n), {g.q, row, c, dim}, {g.kv, row, c, 2 * dim}, {g.kv, row, dim + c, 2 * dim}, n,
                        s.cross_probabilities + i * square, t.narrow + size_t(row) * dim + c, dim, t.rope, t.attention);
      }
    input_gradient(b.kv, blocked(g.kv, 2 * dim), rows, store_to(dother, dim));
    input_gradient(b.q, blocked(g.q, dim), rows, store_to(t.narrow, dim));
    norm_backward(b.norm2, t.narrow, rows, dim, s.norm2, dx);
  }
  to_bf16(dx, size_t(rows) * dim, g.self_out);
  input_gradient(b.proj, g.self_out, rows, store_to(t.narrow, dim));
  for (int row = 0, i = 0; row < rows; row += n)
    for (int h = 0; h < b.heads; ++h, ++i) {
      const int c = h * kHead;
      attend_backward(self_view(s.qkv, i, n), {g.qkv, row, c, 3 * dim}, {g.qkv, row, dim + c, 3 * dim}, {g.qkv, row, 2 * dim + c, 3 * dim}, n,
                      s.probabilities + i * square, t.narrow + size_t(row) * dim + c, dim, t.rope, t.attention);
    }
  input_gradient(b.qkv, blocked(g.qkv, 3 * dim), rows, store_to(t.narrow, dim));
  norm_backward(b.norm1, t.narrow, rows, dim, s.norm1, dx);
}

void block_weights(const Block& b, const BlockSaved& s, int rows, const BlockGradients& g, const Shared& t) {
  const int dim = b.dim;
  weight_gradient(b.fc2, matrix(g.out, dim), blocked(s.hidden, b.hidden), rows, t);
  weight_gradient(b.fc1, blocked(g.hidden, b.hidden), matrix(s.norm3.y, dim), rows, t);
  if (b.cross) {
    weight_gradient(b.cross_proj, matrix(g.cross_out, dim), blocked(s.cross_context, dim), rows, t);
    weight_gradient(b.q, blocked(g.q, dim), matrix(s.norm2.y, dim), rows, t);
    weight_gradient(b.kv, blocked(g.kv, 2 * dim), matrix(s.norm_y.y, dim), rows, t);
  }
  weight_gradient(b.proj, matrix(g.self_out, dim), blocked(s.context, dim), rows, t);
  weight_gradient(b.qkv, blocked(g.qkv, 3 * dim), matrix(s.norm1.y, dim), rows, t);
}

// The part of a block's buffers that begins at a row, a multiple of 32 and the first of an image.
NormSaved part(const NormSaved& s, size_t row, int dim) { return {s.unit + row * dim, s.y + row * dim, s.rstd + row}; }

BlockSaved part(const Block& b, BlockSaved s, size_t row, int tokens) {
  const size_t dim = b.dim, heads = row / tokens * b.heads * probability_size(tokens);
  s.norm1 = part(s.norm1, row, b.dim), s.norm3 = part(s.norm3, row, b.dim);
  s.qkv += row * 3 * dim, s.probabilities += heads, s.context += row * dim;
  s.hidden += row * b.hidden, s.slope += row * b.hidden;
  if (!b.cross) return s;
  s.norm2 = part(s.norm2, row, b.dim), s.norm_y = part(s.norm_y, row, b.dim);
  s.q += row * dim, s.kv += row * 2 * dim, s.cross_probabilities += heads, s.cross_context += row * dim;
  return s;
}

BlockGradients part(const Block& b, BlockGradients g, size_t row) {
  const size_t dim = b.dim;
  g.out += row * dim, g.self_out += row * dim, g.qkv += row * 3 * dim, g.hidden += row * b.hidden;
  if (b.cross) g.cross_out += row * dim, g.q += row * dim, g.kv += row * 2 * dim;
  return g;
}

// A few images at a time, so that what a block hands on inside stays in the second cache.
void blocks_forward(const Block& b, const BlockSaved& s, float* x, int rows, const Shared& t) {
  for (int row = 0; row < rows; row += t.group_rows)
    block_forward(b, part(b, s, row, t.tokens), x + size_t(row) * b.dim, std::min(t.group_rows, rows - row), t);
}

void blocks_backward(const Block& b, const BlockSaved& s, float* dx, bf16* dother, int rows, const Shared& t) {
  for (int row = 0; row < rows; row += t.group_rows)
    block_backward(b, part(b, s, row, t.tokens), dx + size_t(row) * b.dim, b.cross ? dother + size_t(row) * b.dim : nullptr,
                   std::min(t.group_rows, rows - row), part(b, t.gradients, row), t);
  block_weights(b, s, rows, t.gradients, t);
}

// ------------------------------------------------------------------------------------------------------------------- loss

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
  return sqrt_ps(_mm512_fmadd_ps(x, x, _mm512_fmadd_ps(y, y, _mm512_fmadd_ps(z, z, set1(1e-16f)))));
}

inline __mmask16 valid16(const uint8_t* v) { return _mm_test_epi8_mask(_mm_loadu_si128((const __m128i*)v), _mm_set1_epi8(-1)); }

// Calls visit(pixel 0, pixel 1) for every step that the surface term looks at.
template <class Visit>
void for_each_step(MapSize s, Visit&& visit) {
  const int w = s.width;
  for (int y = 0; y < s.height; ++y)
    for (int x = 15; x + 1 < w; x += 16) visit(y * w + x, y * w + x + 1);
  for (int y = 15; y + 1 < s.height; y += 16)
    for (int x = 0; x < w; ++x) visit(y * w + x, (y + 1) * w + x);
  for (int y = 0; y < s.height; y += 4)
    for (int x = 0; x + 4 < w; x += 4) visit(y * w + x, y * w + x + 4);
  for (int y = 0; y + 4 < s.height; y += 4)
    for (int x = 0; x < w; x += 4) visit(y * w + x, (y + 4) * w + x);
}

inline bool is_smooth(const PairTruth& t, int view, int pixels, float inverse_scale, int a, int b) {
  const float* z = t.points[view] + 2 * pixels;
  return t.valid[view][a] && t.valid[view][b] && std::fabs(z[b] * inverse_scale - z[a] * inverse_scale) < 0.1f * std::fabs(z[a] * inverse_scale);
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
inline size_t raw_index(int token, int c, int dy) { return size_t(token) * 1024 + c * 256 + dy * 16; }

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
  float weight;       // of this order
  double count;       // valid pixels of the batch
  double steps;       // smooth steps of the batch
  float gradient;     // weight of the surface term
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
                    const LossScratch& t, Sums& sums) {
  const int n = size.pixels();
  const float unit = float(w.weight * w.gradient / w.steps);
  const float *p = t.points[view], *q = truth.points[view];
  float* g = t.gradient[view];
  double sum = 0, dot = 0;
  for_each_step(size, [&](int a, int b) {
    if (!is_smooth(truth, view, n, inverse_true_scale, a, b)) return;
    float square = 1e-16f, error = 0, along = 0, sign[3];
    for (int c = 0; c < 3; ++c) {
      const float truth_a = q[c * n + a] * inverse_true_scale, step = (p[c * n + b] - p[c * n + a]) * inverse_scale;
      const float d = step - (q[c * n + b] * inverse_true_scale - truth_a);
      square += truth_a * truth_a;
      error += std::fabs(d);
      sign[c] = float(d > 0) - float(d < 0);
      along += sign[c] * step;
    }
    const float inverse = 1.f / std::sqrt(square);
    sum += error * inverse;
    dot += along * inverse;
    for (int c = 0; c < 3; ++c) {
      g[c * n + b] += sign[c] * inverse * unit;
      g[c * n + a] -= sign[c] * inverse * unit;
    }
  });
  sums.surface += sum;
  return float(dot * unit);
}

// From t.gradient (by normalised points) to the gradient by raw values; pull is that of the scale by the length of each valid point.
void raw_gradient(int view, const float* raw, const PairTruth& truth, MapSize size, float inverse_scale, float pull, const LossScratch& t, bf16* draw) {
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
               const LossScratch& t, bf16* const draw[2], Sums& sums) {
  const float measured = activate_pair(raw, truth, size, count, t), scale = std::max(measured, 1e-6f);
  float dot = 0;
  for (int view = 0; view < 2; ++view) {
    dot += regress(view, raw[view], truth, size, 1 / scale, 1 / true_scale, w, t, draw[view], sums);
    if (w.gradient > 0) dot += compare_steps(view, truth, size, 1 / scale, 1 / true_scale, w, t, sums);
  }
  const float pull = measured > 1e-6f ? -dot / scale / float(std::max(count, 1.0)) : 0.f;
  for (int view = 0; view < 2; ++view) raw_gradient(view, raw[view], truth, size, 1 / scale, pull, t, draw[view]);
}

// ----------------------------------------------------------------------------------------------------------------- engine

struct Sizes {
  int enc_dim, enc_depth, enc_heads, dec_dim, dec_depth, dec_heads, mlp_ratio;
  float rope_base;
};

struct Order {
  int first;  // index of the view that is the reference
  const float* points[2];
  const uint8_t* valid[2];
};

class Engine {
 public:
  explicit Engine(const Sizes& s) : s_(s) {}

  // Parameters and their gradients in the order of Dust3r.named_parameters().
  void bind(float* const* params, float* const* grads) {
    at_ = 0, params_ = params, grads_ = grads;
    products_.clear();
    patch_ = linear(768, s_.enc_dim);
    enc_.resize(s_.enc_depth);
    for (Block& b : enc_) b = block(s_.enc_dim, s_.enc_heads, false);
    enc_norm_ = norm();
    embed_ = linear(s_.enc_dim, s_.dec_dim);
    for (auto& decoder : dec_) {
      decoder.resize(s_.dec_depth);
      for (Block& b : decoder) b = block(s_.dec_dim, s_.dec_heads, true);
    }
    dec_norm_ = norm();
    for (Product& head : head_) head = linear(s_.dec_dim, 1024);
    collect();
    for (int pass = 0; pass < 2; ++pass) {
      for (Product* p : products_) {
        p->forward = weights_.take<bf16>(size_t(p->out) * p->in);
        p->backward = weights_.take<bf16>(size_t(p->out) * p->in);
        p->bias = weights_.take<float>(p->out);
      }
      if (pass == 0) weights_.allocate(weights_.used());
    }
  }

  void step(const float* const images[2], const std::vector<Order>& orders, int batch, MapSize size, float gradient_weight, int chunk_pairs,
            double* result) {
    configure_tiles();
    for (Product* p : products_) pack_weights(*p);
    size_ = size, tokens_ = size.tokens();
    prepare(std::min(chunk_pairs, batch));
    std::vector<Sums> sums(orders.size());
    std::vector<LossWeights> weights(orders.size());
    std::vector<std::vector<double>> counts(orders.size(), std::vector<double>(batch));
    std::vector<std::vector<float>> scales(orders.size(), std::vector<float>(batch));
    for (size_t o = 0; o < orders.size(); ++o) {
      weights[o] = {1.f / orders.size(), 0, 0, gradient_weight};
      for (int pair = 0; pair < batch; ++pair) {
        const PairTruth t = truth(orders[o], pair);
        measure_truth(t, size, counts[o][pair], scales[o][pair]);
        weights[o].count += counts[o][pair];
        if (gradient_weight > 0)
          for (int view = 0; view < 2; ++view)
            for_each_step(size, [&](int a, int b) { weights[o].steps += is_smooth(t, view, size.pixels(), 1 / scales[o][pair], a, b); });
      }
      weights[o].count = std::max(weights[o].count, 1.0), weights[o].steps = std::max(weights[o].steps, 1.0);
    }
    for (int first = 0; first < batch; first += chunk_pairs) {
      const int pairs = std::min(chunk_pairs, batch - first);
      encode(images, first, pairs);
      std::memset(dembed_, 0, size_t(2) * pairs * tokens_ * s_.dec_dim * 4);
      for (size_t o = 0; o < orders.size(); ++o) {
        decode(orders[o].first, pairs);
        for (int pair = 0; pair < pairs; ++pair) {
          const size_t at = size_t(pair) * tokens_ * 1024;
          const float* raw[2] = {raw_[0] + at, raw_[1] + at};
          bf16* draw[2] = {draw_[0] + at, draw_[1] + at};
          pair_loss(raw, truth(orders[o], first + pair), size, counts[o][first + pair], scales[o][first + pair], weights[o], loss_, draw, sums[o]);
        }
        decode_backward(orders[o].first, pairs);
      }
      encode_backward(pairs);
    }
    _tile_release();
    std::fill(result, result + 3, 0.0);
    for (size_t o = 0; o < orders.size(); ++o) {
      const double weighted = sums[o].weighted / weights[o].count, surface = sums[o].surface / weights[o].steps;
      result[0] += (weighted + gradient_weight * surface) / orders.size();
      result[1] += sums[o].plain / weights[o].count / orders.size();
      result[2] += surface / orders.size();
    }
  }

 private:
  PairTruth truth(const Order& o, int pair) const {
    const size_t n = size_.pixels();
    return {{o.points[0] + 3 * n * pair, o.points[1] + 3 * n * pair}, {o.valid[0] + n * pair, o.valid[1] + n * pair}};
  }

  Norm norm() {
    at_ += 2;
    return {params_[at_ - 2], params_[at_ - 1], grads_[at_ - 2], grads_[at_ - 1]};
  }
  Product linear(int in, int out, int parts = 1) {
    Product p;
    p.in = in, p.out = out * parts, p.parts = parts;
    for (int i = 0; i < parts; ++i, at_ += 2) p.w[i] = params_[at_], p.b[i] = params_[at_ + 1], p.gw[i] = grads_[at_], p.gb[i] = grads_[at_ + 1];
    return p;
  }
  Block block(int dim, int heads, bool cross) {
    Block b;
    b.dim = dim, b.heads = heads, b.hidden = s_.mlp_ratio * dim, b.cross = cross;
    b.norm1 = norm();
    b.qkv = linear(dim, 3 * dim);
    b.proj = linear(dim, dim);
    if (cross) {
      b.norm2 = norm();
      b.norm_y = norm();
      b.q = linear(dim, dim);
      b.kv = linear(dim, dim, 2);
      b.cross_proj = linear(dim, dim);
    }
    b.norm3 = norm();
    b.fc1 = linear(dim, b.hidden);
    b.fc2 = linear(b.hidden, dim);
    return b;
  }
  void collect() {
    products_ = {&patch_, &embed_, &head_[0], &head_[1]};
    for (std::vector<Block>* blocks : {&enc_, &dec_[0], &dec_[1]})
      for (Block& b : *blocks) {
        for (Product* p : {&b.qkv, &b.proj, &b.fc1, &b.fc2}) products_.push_back(p);
        if (b.cross)
          for (Product* p : {&b.q, &b.kv, &b.cross_proj}) products_.push_back(p);
      }
  }

  NormSaved take_norm(size_t rows, int dim) { return {arena_.take<bf16>(rows * dim), arena_.take<bf16>(rows * dim), arena_.take<float>(rows)}; }
  BlockSaved take_block(const Block& b, size_t rows) {
    const size_t heads = rows / tokens_ * b.heads * probability_size(tokens_);
    BlockSaved s{};
    s.norm1 = take_norm(rows, b.dim), s.norm3 = take_norm(rows, b.dim);
    s.qkv = arena_.take<bf16>(rows * 3 * b.dim + 64 * b.dim * 3), s.probabilities = arena_.take<bf16>(heads);
    s.context = arena_.take<bf16>((rows + 32) * b.dim);
    if (b.cross) {
      s.norm2 = take_norm(rows + 32, b.dim), s.norm_y = take_norm(rows + 32, b.dim);
      s.q = arena_.take<bf16>((rows + 32) * b.dim), s.kv = arena_.take<bf16>((rows + 32) * 2 * b.dim);
      s.cross_probabilities = arena_.take<bf16>(heads), s.cross_context = arena_.take<bf16>((rows + 32) * b.dim);
    }
    s.hidden = arena_.take<bf16>((rows + 32) * b.hidden), s.slope = arena_.take<bf16>((rows + 32) * b.hidden);
    return s;
  }

  void prepare(int pairs) {
    if (pairs == prepared_pairs_ && size_.height == prepared_.height && size_.width == prepared_.width) return;
    prepared_pairs_ = pairs, prepared_ = size_;
    const int least = 32 / std::__gcd(tokens_, 32) * tokens_;  // whole images and whole blocks of rows
    shared_.tokens = tokens_, shared_.group_rows = least * std::max(1, kGroupRows / least);
    shared_.rope.table.resize(size_t(tokens_) * 64);
    const int grid = size_.width / 16;
    for (int t = 0; t < tokens_; ++t)
      for (int axis = 0; axis < 2; ++axis)
        for (int i = 0; i < 16; ++i) {
          const float frequency = std::pow(s_.rope_base, -float(i) / 16), angle = float(axis == 0 ? t / grid : t % grid) * frequency;
          float* out = shared_.rope.table.data() + (size_t(t) * 2 + axis) * 32 + i;
          out[0] = std::cos(angle), out[16] = std::sin(angle);
        }
    arena_.reset();
    for (int pass = 0; pass < 2; ++pass) {
      take_all(pairs);
      if (pass == 0) arena_.allocate(arena_.used());
    }
  }

  void take_all(int pairs) {
    const size_t rows = size_t(pairs) * tokens_, both = 2 * rows, slack = 32;
    const int widest = std::max(s_.enc_dim, s_.dec_dim), hidden = widest * s_.mlp_ratio;
    const size_t padded = round_up(tokens_, 32);
    patches_ = arena_.take<bf16>((both + slack) * 768);
    x_ = arena_.take<float>(both * s_.enc_dim), dx_ = arena_.take<float>(both * s_.enc_dim);
    enc_norm_saved_ = take_norm(both + slack, s_.enc_dim);
    enc_saved_.clear();
    for (const Block& b : enc_) enc_saved_.push_back(take_block(b, both));
    embedded_ = arena_.take<float>(both * s_.dec_dim), dembed_ = arena_.take<float>(both * s_.dec_dim);
    for (int v = 0; v < 2; ++v) {
      dec_saved_[v].clear();
      for (const Block& b : dec_[v]) dec_saved_[v].push_back(take_block(b, rows));
      dec_x_[v] = arena_.take<float>(rows * s_.dec_dim), dec_dx_[v] = arena_.take<float>(rows * s_.dec_dim);
      dec_norm_saved_[v] = take_norm(rows + slack, s_.dec_dim);
      dother_[v] = arena_.take<bf16>((rows + slack) * s_.dec_dim);
      raw_[v] = arena_.take<float>(rows * 1024), draw_[v] = arena_.take<bf16>((rows + slack) * 1024);
      loss_.points[v] = arena_.take<float>(size_t(3) * size_.pixels()), loss_.gradient[v] = arena_.take<float>(size_t(3) * size_.pixels());
    }
    shared_.left = arena_.take<bf16>((both + slack) * std::max(hidden, 1024)), shared_.right = arena_.take<bf16>((both + slack) * std::max(hidden, 768));
    shared_.dy = arena_.take<bf16>((both + slack) * widest), shared_.narrow = arena_.take<bf16>((both + slack) * widest);
    BlockGradients& g = shared_.gradients;
    for (bf16** p : {&g.out, &g.cross_out, &g.q, &g.self_out}) *p = arena_.take<bf16>((both + slack) * widest);
    g.hidden = arena_.take<bf16>((both + slack) * hidden), g.kv = arena_.take<bf16>((both + slack) * 2 * widest);
    g.qkv = arena_.take<bf16>((both + slack) * 3 * widest);
    for (bf16*& p : shared_.attention.packed) p = arena_.take<bf16>(padded * std::max<size_t>(padded, 64));
    shared_.attention.ds = arena_.take<bf16>(padded * padded), shared_.attention.scores = arena_.take<float>(padded * padded);
  }

  void encode(const float* const images[2], int first, int pairs) {
    const int rows = 2 * pairs * tokens_, grid = size_.width / 16;
    for (int i = 0; i < 2 * pairs; ++i) {
      const float* image = images[i / pairs] + size_t(first + i % pairs) * 3 * size_.pixels();
      for (int t = 0; t < tokens_; ++t)
        for (int c = 0; c < 3; ++c)
          for (int dy = 0; dy < 16; ++dy)
            store16(patches_ + (size_t(i) * tokens_ + t) * 768 + c * 256 + dy * 16,
                    _mm512_loadu_ps(image + c * size_.pixels() + (t / grid * 16 + dy) * size_.width + t % grid * 16));
    }
    const auto set = [](float* x, int ld) {
      return [=](int r, int c, __m512 lo, __m512 hi) {
        _mm512_storeu_ps(x + size_t(r) * ld + c, lo);
        _mm512_storeu_ps(x + size_t(r) * ld + c + 16, hi);
      };
    };
    forward(patch_, patches_, rows, set(x_, s_.enc_dim));
    for (size_t i = 0; i < enc_.size(); ++i) blocks_forward(enc_[i], enc_saved_[i], x_, rows, shared_);
    norm_forward(enc_norm_, x_, rows, s_.enc_dim, enc_norm_saved_);
    forward(embed_, enc_norm_saved_.y, rows, set(embedded_, s_.dec_dim));
  }

  void decode(int first_view, int pairs) {
    const int rows = pairs * tokens_, dim = s_.dec_dim;
    for (int v = 0; v < 2; ++v) std::memcpy(dec_x_[v], embedded_ + size_t(v ^ first_view) * rows * dim, size_t(rows) * dim * 4);
    for (int i = 0; i < s_.dec_depth; ++i) {
      for (int v = 0; v < 2; ++v) norm_forward(dec_[v][i].norm_y, dec_x_[1 - v], rows, dim, dec_saved_[v][i].norm_y);
      for (int v = 0; v < 2; ++v) blocks_forward(dec_[v][i], dec_saved_[v][i], dec_x_[v], rows, shared_);
    }
    for (int v = 0; v < 2; ++v) {
      norm_forward(dec_norm_, dec_x_[v], rows, dim, dec_norm_saved_[v]);
      float* raw = raw_[v];
      forward(head_[v], dec_norm_saved_[v].y, rows, [=](int r, int c, __m512 lo, __m512 hi) {
        _mm512_storeu_ps(raw + size_t(r) * 1024 + c, lo);
        _mm512_storeu_ps(raw + size_t(r) * 1024 + c + 16, hi);
      });
    }
  }

  void decode_backward(int first_view, int pairs) {
    const int rows = pairs * tokens_, dim = s_.dec_dim;
    for (int v = 0; v < 2; ++v) {
      weight_gradient(head_[v], draw_[v], dec_norm_saved_[v].y, rows, shared_);
      input_gradient(head_[v], draw_[v], rows, store_to(shared_.narrow, dim));
      std::memset(dec_dx_[v], 0, size_t(rows) * dim * 4);
      norm_backward(dec_norm_, shared_.narrow, rows, dim, dec_norm_saved_[v], dec_dx_[v]);
    }
    for (int i = s_.dec_depth - 1; i >= 0; --i) {
      for (int v = 0; v < 2; ++v) blocks_backward(dec_[v][i], dec_saved_[v][i], dec_dx_[v], dother_[v], rows, shared_);
      for (int v = 0; v < 2; ++v) norm_backward(dec_[v][i].norm_y, dother_[v], rows, dim, dec_saved_[v][i].norm_y, dec_dx_[1 - v]);
    }
    for (int v = 0; v < 2; ++v) {
      float* out = dembed_ + size_t(v ^ first_view) * rows * dim;
      for (size_t i = 0; i < size_t(rows) * dim; i += 16)
        _mm512_storeu_ps(out + i, _mm512_add_ps(_mm512_loadu_ps(out + i), _mm512_loadu_ps(dec_dx_[v] + i)));
    }
  }

  void encode_backward(int pairs) {
    const int rows = 2 * pairs * tokens_;
    to_bf16(dembed_, size_t(rows) * s_.dec_dim, shared_.dy);
    weight_gradient(embed_, shared_.dy, enc_norm_saved_.y, rows, shared_);
    input_gradient(embed_, shared_.dy, rows, store_to(shared_.narrow, s_.enc_dim));
    std::memset(dx_, 0, size_t(rows) * s_.enc_dim * 4);
    norm_backward(enc_norm_, shared_.narrow, rows, s_.enc_dim, enc_norm_saved_, dx_);
    for (int i = s_.enc_depth - 1; i >= 0; --i) blocks_backward(enc_[i], enc_saved_[i], dx_, nullptr, rows, shared_);
    to_bf16(dx_, size_t(rows) * s_.enc_dim, shared_.dy);
    weight_gradient(patch_, shared_.dy, patches_, rows, shared_);
  }

  Sizes s_;
  size_t at_ = 0;
  float* const* params_ = nullptr;
  float* const* grads_ = nullptr;
  Product patch_, embed_, head_[2];
  std::vector<Block> enc_, dec_[2];
  Norm enc_norm_, dec_norm_;
  std::vector<Product*> products_;
  Arena weights_, arena_;
  MapSize size_{}, prepared_{};
  int tokens_ = 0, prepared_pairs_ = 0;
  Shared shared_;
  bf16 *patches_ = nullptr, *dother_[2] = {}, *draw_[2] = {};
  float *x_ = nullptr, *dx_ = nullptr, *embedded_ = nullptr, *dembed_ = nullptr, *dec_x_[2] = {}, *dec_dx_[2] = {}, *raw_[2] = {};
  NormSaved enc_norm_saved_, dec_norm_saved_[2];
  std::vector<BlockSaved> enc_saved_, dec_saved_[2];
  LossScratch loss_{};
};

// ------------------------------------------------------------------------------------------------------------------- muon

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
      store32(t.mix + r * small + col, _mm512_fmadd_ps(c, lo, _mm512_mul_ps(b, load16(g))), _mm512_fmadd_ps(c, hi, _mm512_mul_ps(b, load16(g + 16))));
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

extern "C" {

// Asks the kernel for the tile registers; 0 when this machine has them.
int fast_ops_prepare() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return int(syscall(SYS_arch_prctl, kRequestPermission, kTileData));
}

void* fast_ops_create(const int* sizes, float rope_base) {
  return new Engine(Sizes{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6], rope_base});
}

void fast_ops_destroy(void* engine) { delete static_cast<Engine*>(engine); }

void fast_ops_bind(void* engine, float* const* params, float* const* grads) { static_cast<Engine*>(engine)->bind(params, grads); }

// Per order: the index of the reference view, and two pointers each in points and valid.
void fast_ops_step(void* engine, const float* const* images, int num_orders, const int* first, const float* const* points,
                   const uint8_t* const* valid, int batch, int height, int width, float gradient_weight, int chunk_pairs, double* result) {
  std::vector<Order> orders;
  for (int o = 0; o < num_orders; ++o) orders.push_back({first[o], {points[2 * o], points[2 * o + 1]}, {valid[2 * o], valid[2 * o + 1]}});
  const float* const both[2] = {images[0], images[1]};
  static_cast<Engine*>(engine)->step(both, orders, batch, MapSize{height, width}, gradient_weight, chunk_pairs, result);
}

// gradients[0] becomes the mean of the `count` gradients of n values, the others zero; returns the sum of its squares.
double fast_ops_mean(int count, float* const* gradients, long n) {
  double total = 0;
  const __m512 share = set1(1.f / count), zero = _mm512_setzero_ps();
  for (long begin = 0; begin < n; begin += 4096) {
    __m512 square = zero;
    for (long i = begin; i < std::min(n, begin + 4096); i += 16) {
      const __mmask16 m = n - i >= 16 ? 0xffff : (1u << (n - i)) - 1;
      __m512 sum = _mm512_maskz_loadu_ps(m, gradients[0] + i);
      for (int k = 1; k < count; ++k) {
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(m, gradients[k] + i));
        _mm512_mask_storeu_ps(gradients[k] + i, m, zero);
      }
      sum = _mm512_mul_ps(sum, share);
      square = _mm512_fmadd_ps(sum, sum, square);
      _mm512_mask_storeu_ps(gradients[0] + i, m, sum);
    }
    total += _mm512_reduce_add_ps(square);
  }
  return total;
}

// numbers: momentum, weight decay, then a, b, c of the iteration; rates holds one learning rate per matrix, shapes two sides.
void fast_ops_muon(int count, float* const* params, const float* const* gradients, float* const* momenta, const int* shapes, const float* rates,
                   const float* numbers, int steps) {
  static thread_local MuonScratch scratch;
  configure_tiles();
  for (int i = 0; i < count; ++i) {
    const int rows = shapes[2 * i], columns = shapes[2 * i + 1];
    const float rate = rates[i] * 0.2f * std::sqrt(float(std::max(rows, columns)));
    muon_step(params[i], gradients[i], momenta[i], rows, columns,
              {numbers[0], 1 - rates[i] * numbers[1], rate, {numbers[2], numbers[3], numbers[4]}, steps}, scratch);
  }
  _tile_release();
}

}  // extern "C"
