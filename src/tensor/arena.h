// Where activations live: blocks are reused from op to op, and the peak can be asked for.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace pointmap {

// A recycling allocator for large blocks: a released block is kept and given to the next request that it fits, so that a
// forward pass touches fresh pages once. Safe to use from several threads; must outlive its tensors.
class Arena {
 public:
  // limit_bytes bounds what the arena holds from the system, in use or kept: 0 is no limit.
  explicit Arena(size_t limit_bytes = 0) : limit_bytes_(limit_bytes) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // 64-byte aligned memory, not cleared. Throws Error{kLimitExceeded} with the number of bytes needed.
  void* allocate(size_t bytes);
  void release(void* block) noexcept;

  // Gives kept blocks back to the system.
  void trim();

  size_t bytes_in_use() const;       // in tensors that are alive
  size_t peak_bytes_in_use() const;  // highest so far
  size_t bytes_held() const;         // from the system: in use and kept

 private:
  void trim_locked();

  const size_t limit_bytes_;
  mutable std::mutex mutex_;
  std::multimap<size_t, void*> kept_;  // by size
  std::map<void*, size_t> used_;
  size_t in_use_ = 0;
  size_t peak_ = 0;
  size_t held_ = 0;
};

}  // namespace pointmap
