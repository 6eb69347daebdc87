// Tokens to four raw values per pixel: x, y, z and confidence before activation.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/dust3r/config.h"
#include "models/dust3r/decoder.h"
#include "nn/conv.h"
#include "nn/dpt.h"
#include "nn/linear.h"

namespace pointmap {

class Head {
 public:
  virtual ~Head() = default;
  // features: the encoder's output of this view, [B, N, enc C]; decoded: the decoder's -> [B, H, W, 4]
  virtual Tensor forward(Ops& ops, TensorView features, const DecodedView& decoded) const = 0;
};

// Which entries of DecodedView::tokens the head of this configuration reads.
std::vector<int64_t> head_layers(const Dust3rConfig& config);
// number: 1 or 2, for the view; w: the scope of its weights.
std::unique_ptr<Head> make_head(const WeightScope& w, const Dust3rConfig& config, int number);

// DPT: token maps of four depths become a pyramid that is refined and merged from coarse to fine.
class DptHead : public Head {
 public:
  DptHead(const WeightScope& w, const Dust3rConfig& config, int number);
  Tensor forward(Ops& ops, TensorView features, const DecodedView& decoded) const override;

 private:
  std::vector<int64_t> hooks_;
  int number_;
  std::vector<ReassembleBlock> act_postprocess;  // finest level first
  PyramidFusion scratch;
  Conv2d head_0;
  Conv2d head_2;
  Conv2d head_4;
};

// One projection per token to the values of all its pixels.
class LinearHead : public Head {
 public:
  LinearHead(const WeightScope& w, const Dust3rConfig& config, int number);
  Tensor forward(Ops& ops, TensorView features, const DecodedView& decoded) const override;

 private:
  int64_t patch_size_;
  int number_;
  Linear proj;
};

}  // namespace pointmap
