#include "recon/feature_cache.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/check.h"
#include "recon/preprocess.h"

namespace pointmap {
namespace {

bool same_size(const Image& a, const Image& b) {
  return a.width == b.width && a.height == b.height;
}

bool same_picture(const Image& a, const Image& b) {
  return same_size(a, b) && a.rgb == b.rgb;
}

// Pictures of one size as [B, H, W, 3] in [-1, 1].
Tensor network_input(const std::vector<const Image*>& pictures, Arena& arena) {
  const Image& first = *pictures[0];
  Tensor input(arena, DType::kF32, {static_cast<int64_t>(pictures.size()), first.height, first.width, 3});
  float* out = input.data<float>();
  for (const Image* picture : pictures) {
    normalize_rgb(*picture, out);
    out += picture->rgb.size();
  }
  return input;
}

}  // namespace

FeatureCache::FeatureCache(size_t max_pictures) : max_pictures_(max_pictures) {
  POINTMAP_CHECK(max_pictures >= 2, "a feature cache for " + std::to_string(max_pictures) + " pictures, want 2 or more");
}

const FeatureCache::Entry* FeatureCache::find(const Image& picture) {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return same_picture(entry.picture, picture); });
  if (found == entries_.end()) return nullptr;
  std::rotate(found, found + 1, entries_.end());
  return &entries_.back();
}

void FeatureCache::encode(const Dust3r& network, Ops& ops, const std::vector<const Image*>& pictures, const Progress& progress) {
  const auto batch = std::make_shared<const Tensor>(network.encode(ops, network_input(pictures, ops.context().activations), progress));
  for (size_t i = 0; i < pictures.size(); ++i) entries_.push_back({*pictures[i], batch, static_cast<int64_t>(i)});
  num_encoded_ += pictures.size();
}

std::array<TensorView, 2> FeatureCache::encode_pair(const Dust3r& network, Ops& ops, const std::array<const Image*, 2>& pictures,
                                                    const Progress& progress) {
  const bool is_one_picture = same_picture(*pictures[0], *pictures[1]);
  std::vector<const Image*> unknown;
  for (const Image* picture : pictures) {
    if (find(*picture) == nullptr && !(is_one_picture && !unknown.empty())) unknown.push_back(picture);
  }
  if (unknown.size() == 2 && same_size(*unknown[0], *unknown[1])) {
    encode(network, ops, unknown, progress);  // every weight is read from memory once for both
  } else {
    for (const Image* picture : unknown) encode(network, ops, {picture}, progress);
  }
  std::array<TensorView, 2> features;
  for (size_t v = 0; v < 2; ++v) {
    const Entry* entry = find(*pictures[v]);
    features[v] = entry->batch->view().slice_first(entry->index, entry->index + 1);
  }
  // The two just used are at the end.
  if (entries_.size() > max_pictures_) {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(entries_.size() - max_pictures_));
  }
  return features;
}

uint64_t FeatureCache::bytes() const {
  uint64_t bytes = 0;
  std::set<const Tensor*> counted;
  for (const Entry& entry : entries_) {
    bytes += entry.picture.rgb.size();
    if (counted.insert(entry.batch.get()).second) bytes += entry.batch->num_bytes();
  }
  return bytes;
}

}  // namespace pointmap
