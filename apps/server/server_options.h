// Everything an operator can set. The command line and POINTMAP_* variables fill it: apps/cli/serve.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pointmap::server {

struct ModelChoice {
  std::string model;  // as Reconstructor::open takes it
  std::string name;   // what requests call it
};

// "MODEL" or "MODEL=NAME"; the name is the model's own without one. Throws Error{kInvalidArgument} when either is empty.
ModelChoice parse_model_choice(const std::string& text);

struct ServerOptions {
  std::vector<ModelChoice> models;  // the first one serves requests that name none
  std::string host = "127.0.0.1";
  int port = 8000;  // 0: any free one; the log says which

  // Work.
  int num_threads = 0;  // of the executor; 0: all cores
  uint64_t memory_limit_bytes = 0;
  bool warm_up = true;
  size_t queue_length = 16;                            // jobs that wait beside the one that runs
  size_t jobs_per_client = 0;                          // unfinished at a time for one key or address; 0: no limit of its own
  std::chrono::milliseconds request_timeout{600'000};  // of a job, from the moment it is accepted
  std::chrono::milliseconds drain_timeout{30'000};     // after SIGTERM, before what still runs is cancelled

  // What a request may bring.
  uint64_t max_body_bytes = uint64_t{64} << 20;
  uint64_t max_pixels = uint64_t{64} << 20;  // of one photo
  size_t max_views = 32;
  uint64_t sync_below_bytes = uint64_t{8} << 20;  // larger native requests are answered 202 at once
  bool compress_npz = false;                      // when a request does not say

  // Connections.
  size_t http_threads = 48;                          // each serves one connection at a time
  std::chrono::milliseconds client_timeout{10'000};  // for the header of a request; see StreamLimits for the rest
  std::string api_key_file;                          // one key a line; empty: open to all who reach the port
  std::string cors_origin;                           // "https://example.org" or "*"; empty: no CORS headers

  // Results of native jobs.
  std::string results_dir;  // empty: a folder of its own that goes with the process
  std::chrono::seconds results_ttl{3600};
  size_t max_results = 1000;
};

}  // namespace pointmap::server
