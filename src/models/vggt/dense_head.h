// DPT head: the tokens of one frame to raw values per pixel. The depth head and the point head are two of these.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/vggt/aggregator.h"
#include "models/vggt/config.h"
#include "nn/conv.h"
#include "nn/dpt.h"
#include "nn/layer_norm.h"

namespace pointmap {

class DenseHead {
 public:
  // name: what the stages are called, "depth_head".
  DenseHead(const WeightScope& w, const VggtConfig& config, int64_t num_raw_channels, std::string name);
  // -> [1, H, W, raw channels], before activation; the last channel is the confidence
  Tensor forward(Ops& ops, const Aggregated& aggregated, int64_t frame) const;

 private:
  int64_t patch_size_;
  std::string name_;
  LayerNorm norm;                           // one for all four levels
  std::vector<ReassembleBlock> reassemble;  // projects.k and resize_layers.k, finest level first
  PyramidFusion scratch;
  Conv2d output_conv1;
  Conv2d output_conv2_0;
  Conv2d output_conv2_2;
};

}  // namespace pointmap
