// How much, and how slowly, one connection may send.
#pragma once

#include <chrono>
#include <cstdint>

namespace pointmap::server {

struct StreamLimits {
  std::chrono::milliseconds header_time{10'000};  // from the first byte of a request to the end of its header
  // The body, and the answer, may take this long plus a second for so many bytes; only time spent waiting for the client counts.
  std::chrono::milliseconds grace{10'000};
  uint64_t min_bytes_per_second = 16 << 10;
  uint64_t max_header_bytes = 64 << 10;
  uint64_t max_body_bytes = uint64_t{64} << 20;  // as sent, chunk headers included
};

}  // namespace pointmap::server
