// What the encoder said about pictures, so that a photo in several pairs is encoded once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/progress.h"
#include "io/image/image.h"
#include "kernels/ops.h"
#include "models/dust3r/dust3r.h"

namespace pointmap {

// Of one network: the features of the pictures seen last. A picture is known by its pixels, all of them, so no two are ever mixed up.
class FeatureCache {
 public:
  // max_pictures: at least 2. A picture at 512x512 takes 5 MB.
  explicit FeatureCache(size_t max_pictures = 8);

  // Features [1, N, C] of both pictures, valid until the next call; those that are not known are encoded, in one batch if they can be.
  // `network` is the same in every call. Throws Error{kCancelled} and keeps what it knew.
  std::array<TensorView, 2> encode_pair(const Dust3r& network, Ops& ops, const std::array<const Image*, 2>& pictures,
                                        const Progress& progress);

  uint64_t num_encoded() const { return num_encoded_; }  // pictures that went through the encoder so far
  uint64_t bytes() const;                                // held

 private:
  struct Entry {
    Image picture;
    // [B, N, C]. Pictures encoded together are the parts of one batch, which lives until the last of them is forgotten.
    std::shared_ptr<const Tensor> batch;
    int64_t index = 0;  // in the batch
  };

  const Entry* find(const Image& picture);
  void encode(const Dust3r& network, Ops& ops, const std::vector<const Image*>& pictures, const Progress& progress);

  size_t max_pictures_;
  std::vector<Entry> entries_;  // used last at the end
  uint64_t num_encoded_ = 0;
};

}  // namespace pointmap
