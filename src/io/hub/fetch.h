// Downloads a model from the Hugging Face hub (or a mirror) into the cache.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "io/hub/hub_cache.h"
#include "io/hub/hub_environment.h"
#include "io/hub/model_name.h"

namespace pointmap {

struct FetchProgress {
  std::string file;         // "model.safetensors"
  uint64_t done_bytes = 0;  // of this file, what an earlier run left included
  uint64_t total_bytes = 0;
};

struct FetchOptions {
  // Called in the calling thread for every piece that arrives (some ten KiB): throttle before printing. May throw to stop.
  std::function<void(const FetchProgress&)> on_progress = nullptr;
  const CancelFlag* cancel = nullptr;
  int max_attempts = 6;      // failed attempts in a row that brought less than 1 MiB each
  int first_pause_ms = 500;  // between attempts, doubled each time up to 10 s
  int connect_timeout_ms = 15'000;
  int stall_timeout_s = 30;  // slower than 1 KiB/s for this long counts as a broken connection
  uint64_t max_file_bytes = uint64_t{64} << 30;
};

struct FetchedFile {
  std::string name;
  uint64_t bytes = 0;
  std::string hash;         // 64 hex digits: SHA-256; 40: git blob hash
  bool downloaded = false;  // false: it was in the cache
};

struct FetchedModel {
  ResolvedModel model;             // what resolve_model finds from now on
  std::vector<FetchedFile> files;  // empty when nothing had to be asked of the hub
};

// Makes sure that config.json and the weights (model.safetensors, or model.safetensors.index.json and its shards) of name, which
// must be a repository, are in the cache, whole and with the hash the hub states. An interrupted download goes on where it stopped.
// A branch or tag is looked up on the hub each time; a full commit hash that is in the cache needs no network.
// Throws Error: kNotFound (no such repository, revision or file; or offline and not in the cache), kIoError (network, disk,
// permission: the message says whether HF_TOKEN is needed), kCorruptData (wrong hash or a server that breaks the protocol; nothing of
// the bad file is left), kLimitExceeded, kCancelled, kInvalidArgument.
FetchedModel fetch_model(const ModelName& name, const HubEnvironment& environment, const FetchOptions& options = {});

}  // namespace pointmap
