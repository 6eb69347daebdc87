// Sines and cosines of where a pixel lies in the image, added to the maps of a dense head so that convolutions know.
#pragma once

#include "kernels/ops.h"

namespace pointmap {

struct UvGrid {
  int64_t height = 0;  // of the map
  int64_t width = 0;
  double aspect = 1;  // width / height of the image, which the map covers
};

// The embedding is a sum of what depends on the column and what depends on the row: half of the channels each, so that tables of
// (h + w) C/2 numbers hold all of it.
class UvEmbedding {
 public:
  // scale: a factor of all values. channels: a multiple of 4.
  //
  // Column j lies at u = aspect/g (2j + 1 - w)/w, row i at v = 1/g (2i + 1 - h)/h, g = sqrt(aspect^2 + 1): the diagonal has length 2.
  // With n = C/4 and frequencies 100^(-k/n), channels are sin(u), cos(u), sin(v), cos(v) of n frequencies each.
  UvEmbedding(Ops& ops, const UvGrid& grid, int64_t channels, double scale);
  // x [B, h, w, C] += the embedding.
  void add_to(Ops& ops, Tensor& x) const { ops.add_columns_and_rows(x, by_column_, by_row_); }

 private:
  Tensor by_column_;  // [w, C/2]
  Tensor by_row_;     // [h, C/2]
};

}  // namespace pointmap
