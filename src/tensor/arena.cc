#include "tensor/arena.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/check.h"
#include "base/process_memory.h"

namespace pointmap {
namespace {

constexpr size_t kAlignment = 64;
// Kernels walk large tensors with strides of a page and more, where each step would else walk the page table too.
constexpr size_t kHugePageBlock = size_t{4} << 20;
// A kept block serves a request of at least 3/4 of its size: less waste than reuse saves.
constexpr size_t fits_up_to(size_t bytes) {
  return bytes + bytes / 3;
}

size_t rounded_up(size_t bytes) {
  return std::max(kAlignment, checked_add(bytes, kAlignment - 1) / kAlignment * kAlignment);
}

}  // namespace

Arena::~Arena() {
  trim();
  // Blocks still in use belong to tensors that outlived the arena: a bug of the owner, but leaking is better than dangling.
}

void* Arena::allocate(size_t requested_bytes) {
  const size_t bytes = rounded_up(requested_bytes);
  const std::lock_guard lock(mutex_);
  void* block = nullptr;
  size_t block_bytes = bytes;
  if (const auto fit = kept_.lower_bound(bytes); fit != kept_.end() && fit->first <= fits_up_to(bytes)) {
    block = fit->second;
    block_bytes = fit->first;
    kept_.erase(fit);
  } else {
    if (limit_bytes_ != 0 && held_ + bytes > limit_bytes_) trim_locked();
    if (limit_bytes_ != 0 && held_ + bytes > limit_bytes_) {
      throw Error{kLimitExceeded,
                  "activations need " + std::to_string(held_ + bytes) + " bytes, the limit is " + std::to_string(limit_bytes_)};
    }
    block = std::aligned_alloc(kAlignment, bytes);
    if (block == nullptr) throw Error{kLimitExceeded, "the system has no " + std::to_string(bytes) + " bytes for a tensor"};
    if (bytes >= kHugePageBlock) advise_huge_pages(block, bytes);
    held_ += bytes;
  }
  used_.emplace(block, block_bytes);
  in_use_ += block_bytes;
  peak_ = std::max(peak_, in_use_);
  return block;
}

void Arena::release(void* block) noexcept {
  if (block == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(block);
  if (found == used_.end()) return;
  in_use_ -= found->second;
  kept_.emplace(found->second, block);
  used_.erase(found);
}

void Arena::trim() {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void Arena::trim_locked() {
  for (const auto& [bytes, block] : kept_) {
    std::free(block);
    held_ -= bytes;
  }
  kept_.clear();
}

size_t Arena::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

size_t Arena::peak_bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

size_t Arena::bytes_held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace pointmap
