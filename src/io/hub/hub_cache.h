// The folder where huggingface_hub and we keep downloaded repositories:
//   models--ORG--NAME/blobs/HASH                    contents, named by their hash
//   models--ORG--NAME/snapshots/COMMIT/FILE         relative links to blobs
//   models--ORG--NAME/refs/REVISION                 text: the commit a branch or tag meant when last looked up
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/hub/hub_environment.h"
#include "io/hub/model_name.h"

namespace pointmap {

// 40 lowercase hex digits.
bool is_commit_hash(std::string_view text);

// Where one repository lies in the cache. Paths only; nothing need exist.
class CachedRepo {
 public:
  // Throws Error{kNotFound} when the environment names no cache folder.
  CachedRepo(const HubEnvironment& environment, const std::string& repo);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path blob(const std::string& hash) const { return folder_ / "blobs" / hash; }
  std::filesystem::path snapshot(const std::string& commit) const { return folder_ / "snapshots" / commit; }
  std::filesystem::path ref(const std::string& revision) const { return folder_ / "refs" / revision; }
  std::filesystem::path lock(const std::string& hash) const { return locks_folder_ / (hash + ".lock"); }

  // The commit that `revision` means according to the cache: itself when it is one, else from refs/. Empty when unknown.
  std::string commit_of(const std::string& revision) const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path locks_folder_;
};

struct ResolvedModel {
  std::filesystem::path path;  // a folder with config.json and weights, or a single file: what Checkpoint::open takes
  std::string commit;          // of the repository; empty for a path
  std::string license;         // of the weights; empty when unknown
};

// Finds the model on this machine, without a network. Throws Error{kNotFound} that says where it looked and which command
// fetches the model, Error{kInvalidArgument} for a synthetic model and the demo, which have no files.
ResolvedModel resolve_model(const ModelName& name, const HubEnvironment& environment);

}  // namespace pointmap
