// Forward and backward pass of the demo model on one thread with AMX products: training's inner loop, called by fast_ops.py.
//
// Eager PyTorch spends four fifths of a step on element-wise work and copies. Here every product carries its neighbours (bias, rotation,
// GELU, residual) in its epilogue, and pairs go through the network in chunks: larger ones fall out of the caches, smaller ones read
// weights and gradients more often. What is left is bound by memory about as much as by arithmetic. Products are bfloat16 with float32
// sums; the residual stream, its gradient, the loss and all parameters are float32.
//
// Rows are tokens, those of all first views of a chunk before those of the second. model.py and loss.py are the reference.

#include <sys/syscall.h>
#include <unistd.h>

#include "fast_ops_blocks.h"
#include "fast_ops_loss.h"
#include "fast_ops_muon.h"

namespace {

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

  void step(const float* const images[2], const std::vector<Order>& orders, int batch, MapSize size, float gradient_weight, int lattice,
            int chunk_pairs, double* result) {
    configure_tiles();
    for (Product* p : products_) pack_weights(*p);
    size_ = size, tokens_ = size.tokens();
    prepare(std::min(chunk_pairs, batch));
    const Steps steps(size, lattice);
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
        if (gradient_weight > 0) weights[o].steps += count_smooth(t, size, scales[o][pair], steps);
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
          pair_loss(raw, truth(orders[o], first + pair), size, counts[o][first + pair], scales[o][first + pair], weights[o], steps, loss_,
                    draw, sums[o]);
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
    for (int i = 0; i < parts; ++i, at_ += 2)
      p.w[i] = params_[at_], p.b[i] = params_[at_ + 1], p.gw[i] = grads_[at_], p.gb[i] = grads_[at_ + 1];
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

  NormSaved take_norm(size_t rows, int dim) {
    return {arena_.take<bf16>(rows * dim), arena_.take<bf16>(rows * dim), arena_.take<float>(rows)};
  }
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
    shared_.tokens = tokens_;
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
    shared_.left = arena_.take<bf16>((both + slack) * std::max(hidden, 1024)),
    shared_.right = arena_.take<bf16>((both + slack) * std::max(hidden, 768));
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
    for (size_t i = 0; i < enc_.size(); ++i) block_forward(enc_[i], enc_saved_[i], x_, rows, shared_);
    norm_forward(enc_norm_, x_, rows, s_.enc_dim, enc_norm_saved_);
    forward(embed_, enc_norm_saved_.y, rows, set(embedded_, s_.dec_dim));
  }

  void decode(int first_view, int pairs) {
    const int rows = pairs * tokens_, dim = s_.dec_dim;
    for (int v = 0; v < 2; ++v) std::memcpy(dec_x_[v], embedded_ + size_t(v ^ first_view) * rows * dim, size_t(rows) * dim * 4);
    for (int i = 0; i < s_.dec_depth; ++i) {
      for (int v = 0; v < 2; ++v) norm_forward(dec_[v][i].norm_y, dec_x_[1 - v], rows, dim, dec_saved_[v][i].norm_y);
      for (int v = 0; v < 2; ++v) block_forward(dec_[v][i], dec_saved_[v][i], dec_x_[v], rows, shared_);
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
      for (int v = 0; v < 2; ++v) {
        block_backward(dec_[v][i], dec_saved_[v][i], dec_dx_[v], dother_[v], rows, shared_);
        block_weights(dec_[v][i], dec_saved_[v][i], rows, shared_);
      }
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
    for (int i = s_.enc_depth - 1; i >= 0; --i) {
      block_backward(enc_[i], enc_saved_[i], dx_, nullptr, rows, shared_);
      block_weights(enc_[i], enc_saved_[i], rows, shared_);
    }
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

void fast_ops_destroy(void* engine) {
  delete static_cast<Engine*>(engine);
}

void fast_ops_bind(void* engine, float* const* params, float* const* grads) {
  static_cast<Engine*>(engine)->bind(params, grads);
}

// Per order: the index of the reference view, and two pointers each in points and valid.
void fast_ops_step(void* engine, const float* const* images, int num_orders, const int* first, const float* const* points,
                   const uint8_t* const* valid, int batch, int height, int width, float gradient_weight, int lattice,
                   int chunk_pairs, double* result) {
  std::vector<Order> orders;
  for (int o = 0; o < num_orders; ++o) orders.push_back({first[o], {points[2 * o], points[2 * o + 1]}, {valid[2 * o], valid[2 * o + 1]}});
  const float* const both[2] = {images[0], images[1]};
  static_cast<Engine*>(engine)->step(both, orders, batch, MapSize{height, width}, gradient_weight, lattice, chunk_pairs, result);
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
void fast_ops_muon(int count, float* const* params, const float* const* gradients, float* const* momenta, const int* shapes,
                   const float* rates, const float* numbers, int steps) {
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
