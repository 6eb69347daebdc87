// Linear layers, layer norm, rotary positions and attention, forward and backward, and the memory they work in.
// Part of fast_ops.cpp, which is one translation unit: hence the namespace without a name.

#pragma once

#include <sys/mman.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fast_ops_tiles.h"

namespace {

constexpr int kHead = 64;      // channels of a head: each quarter is one vector
constexpr int kSumRows = 384;  // rows that go into a weight gradient at once: 32 packed columns of them fit the first cache
constexpr float kNormEps = 1e-6f;

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

// A linear layer, or two that read the same input (keys and values of a cross attention), with its weights packed for both directions.
struct Product {
  int out = 0, in = 0, parts = 1;
  const float *w[2] = {}, *b[2] = {};
  float *gw[2] = {}, *gb[2] = {};
  bf16 *forward = nullptr, *backward = nullptr;
  float* bias = nullptr;
  int part_rows() const { return out / parts; }
};

inline __m512i to_bf16(const float* p) {
  return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(p + 16), _mm512_loadu_ps(p));
}

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
      const __m512 u = _mm512_fmadd_ps(_mm512_loadu_ps(x + i * 16), scale, shift),
                   v = _mm512_fmadd_ps(_mm512_loadu_ps(x + i * 16 + 16), scale, shift);
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
  for (int i = 0; i < padded; i += 32)
    store32(p + i, _mm512_mul_ps(_mm512_load_ps(e + i), scale), _mm512_mul_ps(_mm512_load_ps(e + i + 16), scale));
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
void attend_backward(const HeadView& h, const BlockedHead& dq, const BlockedHead& dk, const BlockedHead& dv, int n,
                     const bf16* probabilities, const bf16* dcontext, int ldc, const Rope& rope, const AttentionScratch& t) {
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
  multiply(tiles(t.packed[0], blocks), n, t.packed[1], kHead, padded,
           [&](int r, int c, __m512 lo, __m512 hi) { store32(dv.at(r, c), lo, hi); });
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

}  // namespace
