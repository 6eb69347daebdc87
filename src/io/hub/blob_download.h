// One file of known length and hash, from a URL into the cache. Private to this folder.
#pragma once

#include <cstdint>
#include <string>

#include "io/hub/fetch.h"
#include "io/hub/http_client.h"
#include "io/hub/hub_cache.h"

namespace pointmap {

struct BlobRequest {
  std::string url;
  std::string file;  // for progress and messages
  std::string hash;  // is_content_hash(): also its name in the cache
  uint64_t bytes = 0;
};

// Whether the whole blob is there, by length: it got its name only after its hash was checked.
bool has_blob(const CachedRepo& repo, const std::string& hash, uint64_t bytes);

// Downloads into blobs/HASH.incomplete, from where an earlier attempt stopped, checks the hash, renames to blobs/HASH. Holds the
// lock of the hash meanwhile; if another process finished first there is nothing left to do. Returns whether it downloaded.
// Throws like fetch_model.
bool download_blob(HttpClient& client, const HubEnvironment& environment, const CachedRepo& repo, const BlobRequest& blob,
                   const FetchOptions& options);

}  // namespace pointmap
