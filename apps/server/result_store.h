// Results of native jobs as folders of files: there whole or not at all, also after a crash, and gone after their time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pointmap::server {

struct Artifact {
  std::string name;
  uint64_t bytes = 0;
};

struct StoredResult {
  std::string id;
  std::chrono::system_clock::time_point finished;
  nlohmann::ordered_json facts;  // what the job says about itself
  std::vector<Artifact> artifacts;
};

// Thread-safe.
class ResultStore {
 public:
  struct Settings {
    std::filesystem::path folder;  // empty: one of its own below the system's for temporary files, which goes with this object
    std::chrono::seconds ttl{3600};
    size_t max_results = 1000;  // the oldest make room
  };

  // Takes over what an earlier process left: whole results are there again, unfinished ones are removed, and of broken ones on_fault is
  // told which and why; they stay where they are and are not served. Throws Error{kIoError} when the folder cannot be made.
  ResultStore(Settings settings, const std::function<void(const std::string& what)>& on_fault);
  ~ResultStore();
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;

  // A folder to write into, seen by nobody until publish() puts it in place. `id` is one of ours.
  std::filesystem::path begin(const std::string& id);
  // All files in the folder become artefacts. Throws Error{kIoError}.
  StoredResult publish(const std::string& id, nlohmann::ordered_json facts);
  void discard(const std::string& id);

  std::optional<StoredResult> find(const std::string& id) const;
  // Path of an artefact that is there. Throws ApiError 404.
  std::string artifact_path(const std::string& id, const std::string& name) const;
  bool remove(const std::string& id);
  // Removes what is too old, and returns how many that were.
  size_t expire(std::chrono::system_clock::time_point now);
  size_t size() const;

 private:
  void take_over(const std::function<void(const std::string& what)>& on_fault);

  Settings settings_;
  bool is_own_folder_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, StoredResult> results_;
};

// Whether `id` can be the id of a job: what is in a path from outside and is not is never looked for.
bool is_job_id(const std::string& id);

}  // namespace pointmap::server
