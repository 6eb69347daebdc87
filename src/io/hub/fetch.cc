#include "io/hub/fetch.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/mapped_file.h"
#include "io/hub/blob_download.h"
#include "io/hub/remote_repo.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr uint64_t kMaxTextFileBytes = uint64_t{16} << 20;  // of config.json and the index
constexpr size_t kMaxShards = 1000;

// The files an index names. They become names in our cache and in URLs: plain names only.
std::set<std::string> shards_of_index(const fs::path& index_path) {
  const MappedFile file(index_path);
  const char* text = reinterpret_cast<const char*>(file.bytes().data());
  const auto fail = [&](const std::string& what) { throw Error{kCorruptData, "'" + index_path.string() + "': " + what}; };
  const nlohmann::json index = nlohmann::json::parse(text, text + file.bytes().size(), nullptr, /*allow_exceptions=*/false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) fail("has no weight_map");
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : index["weight_map"].items()) {
    const std::string name = shard.is_string() ? shard.get<std::string>() : "";
    const bool plain = !name.empty() && name.size() < 200 && name.front() != '.' && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    });
    if (!plain) fail("names a shard that is not a plain file name");
    shards.insert(name);
  }
  if (shards.size() > kMaxShards)
    fail("names " + std::to_string(shards.size()) + " shards, at most " + std::to_string(kMaxShards) + " are allowed");
  return shards;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);  // follows the link to the blob
}

bool is_complete_snapshot(const fs::path& snapshot) {
  if (!is_file(snapshot / kConfig)) return false;
  if (is_file(snapshot / kWeights)) return true;
  if (!is_file(snapshot / kIndex)) return false;
  return std::ranges::all_of(shards_of_index(snapshot / kIndex), [&](const std::string& shard) { return is_file(snapshot / shard); });
}

std::optional<ResolvedModel> complete_in_cache(const CachedRepo& repo, const ModelName& name) {
  const std::string commit = repo.commit_of(name.revision);
  if (commit.empty() || !is_complete_snapshot(repo.snapshot(commit))) return std::nullopt;
  return ResolvedModel{repo.snapshot(commit), commit, name.license};
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error{kIoError, "cannot make folder '" + folder.string() + "': " + error.message()};
}

// Puts snapshots/COMMIT/FILE -> ../../blobs/HASH in place in one step, whoever else does the same.
void link_into_snapshot(const fs::path& link, const std::string& hash) {
  static std::atomic<unsigned> counter{0};  // two threads must not share a temporary name
  const fs::path target = fs::path("../../blobs") / hash;
  std::error_code error;
  if (fs::read_symlink(link, error) == target && !error) return;
  fs::path temporary = link;
  temporary += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1));
  fs::create_symlink(target, temporary, error);
  if (!error) {
    fs::rename(temporary, link, error);
    std::error_code ignored;
    if (error) fs::remove(temporary, ignored);
  }
  if (error) throw Error{kIoError, "cannot make link '" + link.string() + "': " + error.message()};
}

class Fetch {
 public:
  Fetch(const ModelName& name, const HubEnvironment& environment, const FetchOptions& options, const CachedRepo& repo)
      : name_(name),
        environment_(environment),
        options_(options),
        repo_(repo),
        client_({.connect_ms = options.connect_timeout_ms, .stall_s = options.stall_timeout_s}, options.cancel),
        remote_(client_, environment, options, name.repo) {}

  FetchedModel run() {
    const RemoteFile config = require(name_.revision, kConfig);
    commit_ = commit_from(config);
    make_folder(repo_.folder() / "blobs");
    make_folder(repo_.snapshot(commit_));
    make_folder(repo_.lock("").parent_path());
    store(kConfig, config, kMaxTextFileBytes);
    if (const std::optional<RemoteFile> weights = remote_.look_up(commit_, kWeights)) {
      store(kWeights, *weights, options_.max_file_bytes);
    } else {
      store(kIndex, require_weights(), kMaxTextFileBytes);
      for (const std::string& shard : shards_of_index(repo_.snapshot(commit_) / kIndex)) {
        store(shard, require(commit_, shard), options_.max_file_bytes);
      }
    }
    if (!is_commit_hash(name_.revision)) write_ref();  // last, so that a ref leads to a whole snapshot
    result_.model = {repo_.snapshot(commit_), commit_, name_.license};
    return std::move(result_);
  }

 private:
  RemoteFile require(const std::string& revision, const std::string& file) const {
    if (std::optional<RemoteFile> found = remote_.look_up(revision, file)) return *found;
    throw Error{kNotFound, "'" + name_.repo + "', revision " + revision + ", has no file '" + file + "' on " + environment_.endpoint};
  }

  RemoteFile require_weights() const {
    if (std::optional<RemoteFile> found = remote_.look_up(commit_, kIndex)) return *found;
    throw Error{kNotFound, "'" + name_.repo + "', commit " + commit_ + ", has neither " + kWeights + " nor " + kIndex + " on " +
                               environment_.endpoint};
  }

  std::string commit_from(const RemoteFile& config) const {
    const bool pinned = is_commit_hash(name_.revision);
    if (config.commit.empty() || (pinned && config.commit != name_.revision)) {
      throw Error{kCorruptData, "'" + remote_.url(name_.revision, kConfig) + "': the server gives commit '" + config.commit +
                                    "' for revision '" + name_.revision + "'"};
    }
    return config.commit;
  }

  void store(const std::string& file, const RemoteFile& remote, uint64_t max_bytes) {
    const std::string url = remote_.url(commit_, file);
    if (remote.bytes > max_bytes) {
      throw Error{kLimitExceeded,
                  "'" + url + "' has " + std::to_string(remote.bytes) + " bytes, at most " + std::to_string(max_bytes) + " are allowed"};
    }
    const bool downloaded = !has_blob(repo_, remote.hash, remote.bytes) &&
                            download_blob(client_, environment_, repo_, {url, file, remote.hash, remote.bytes}, options_);
    link_into_snapshot(repo_.snapshot(commit_) / file, remote.hash);
    result_.files.push_back({file, remote.bytes, remote.hash, downloaded});
  }

  void write_ref() const {
    const fs::path ref = repo_.ref(name_.revision);
    make_folder(ref.parent_path());
    write_file(ref, commit_);
  }

  const ModelName& name_;
  const HubEnvironment& environment_;
  const FetchOptions& options_;
  const CachedRepo& repo_;
  HttpClient client_;
  const RemoteRepo remote_;
  std::string commit_;
  FetchedModel result_;
};

}  // namespace

FetchedModel fetch_model(const ModelName& name, const HubEnvironment& environment, const FetchOptions& options) {
  POINTMAP_CHECK(name.kind == ModelName::Kind::kHub, "'" + name.text + "' is not a repository: there is nothing to fetch");
  const CachedRepo repo(environment, name.repo);
  // A branch may have moved, a commit cannot.
  if (environment.offline || is_commit_hash(name.revision)) {
    if (std::optional<ResolvedModel> cached = complete_in_cache(repo, name)) return {*cached, {}};
  }
  if (environment.offline) {
    throw Error{kNotFound,
                "model '" + name.text + "' is not complete in '" + repo.folder().string() + "', and HF_HUB_OFFLINE forbids to download it"};
  }
  return Fetch(name, environment, options, repo).run();
}

}  // namespace pointmap
