// Pairs as a stream of fixed-size records, for the trainer; the layout is a table in README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "pair.h"

namespace pointmap::scene_gen {

struct StreamOptions {
  PairOptions pair;
  uint64_t first = 0;
  uint64_t count = 0;  // 0: until the reader goes away
  size_t num_threads = 1;
};

inline constexpr size_t kHeaderBytes = 24;
inline constexpr size_t kRecordFloats = 26;
size_t record_bytes(int width, int height);

// Takes bytes in order; false when the reader has gone.
using ByteSink = std::function<bool(std::span<const std::byte>)>;

// Header, then the records of pairs first, first + 1, ...; the same bytes for any number of threads. Returns when all are written or the
// sink refuses. Throws Error{kInvalidArgument} for a size out of range or no threads.
void stream_pairs(const Kernel& kernel, const StreamOptions& options, const ByteSink& sink);

}  // namespace pointmap::scene_gen
