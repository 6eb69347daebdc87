// Transformer blocks, forward and backward. Gradients of weights come after those of activations, from outputs' gradients kept till then.
// Part of fast_ops.cpp, which is one translation unit: hence the namespace without a name.

#pragma once

#include "fast_ops_layers.h"

namespace {

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
  int tokens = 0;  // of an image
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
      multiply_transposed(dy.from_row(row), n, x.from_row(row), p.in, std::min(kSumRows, rows - row), p.gw[part], p.gb[part], s.left,
                          s.right);
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

// Columns are `parts` matrices of heads; out is [image][head][part][token][64]. Columns below `scaled` are queries, below `turned` queries
// or keys.
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

size_t probability_size(int tokens) {
  return size_t(round_up(tokens, 32)) * round_up(tokens, 32);
}

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
        attend(cross_view(s.q, s.kv, i, n), n, s.cross_probabilities + i * probability_size(n), {s.cross_context, row, h * kHead, dim},
               t.attention);
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

// dx [rows, dim] is changed in place; dother gets the gradient of norm_y's output; t.gradients keeps what those of the weights need.
void block_backward(const Block& b, const BlockSaved& s, float* dx, bf16* dother, int rows, const Shared& t) {
  const BlockGradients& g = t.gradients;
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
      attend_backward(self_view(s.qkv, i, n), {g.qkv, row, c, 3 * dim}, {g.qkv, row, dim + c, 3 * dim}, {g.qkv, row, 2 * dim + c, 3 * dim},
                      n, s.probabilities + i * square, t.narrow + size_t(row) * dim + c, dim, t.rope, t.attention);
    }
  input_gradient(b.qkv, blocked(g.qkv, 3 * dim), rows, store_to(t.narrow, dim));
  norm_backward(b.norm1, t.narrow, rows, dim, s.norm1, dx);
}

// After block_backward.
void block_weights(const Block& b, const BlockSaved& s, int rows, const Shared& t) {
  const BlockGradients& g = t.gradients;
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

}  // namespace
