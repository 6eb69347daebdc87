#include "apps/server/result_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "apps/server/api_error.h"

namespace pointmap::server {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using SystemClock = std::chrono::system_clock;

constexpr const char* kRecord = "result.json";
constexpr const char* kUnfinished = ".new-";
constexpr uintmax_t kMaxRecordBytes = 4 << 20;

int64_t unix_ms(SystemClock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

ordered_json record_of(const StoredResult& result) {
  ordered_json artifacts = ordered_json::array();
  for (const Artifact& artifact : result.artifacts) artifacts.push_back({{"name", artifact.name}, {"bytes", artifact.bytes}});
  return {
      {"format", 1}, {"id", result.id}, {"finished_unix_ms", unix_ms(result.finished)}, {"facts", result.facts}, {"artifacts", artifacts}};
}

// Throws when the folder does not hold what its record says.
StoredResult read_result(const fs::path& folder) {
  const fs::path path = folder / kRecord;
  if (fs::file_size(path) > kMaxRecordBytes) throw Error{kCorruptData, path.string() + " is too large"};
  std::ifstream file(path);
  const ordered_json record = ordered_json::parse(file);
  StoredResult result;
  result.id = record.at("id").get<std::string>();
  if (record.at("format") != 1 || result.id != folder.filename()) throw Error{kCorruptData, path.string() + " is of another format or job"};
  result.finished = SystemClock::time_point(std::chrono::milliseconds(record.at("finished_unix_ms").get<int64_t>()));
  result.facts = record.at("facts");
  if (!result.facts.is_object()) throw Error{kCorruptData, path.string() + ": facts are no object"};
  for (const ordered_json& entry : record.at("artifacts")) {
    Artifact artifact{entry.at("name").get<std::string>(), entry.at("bytes").get<uint64_t>()};
    if (artifact.name.find('/') != std::string::npos)
      throw Error{kCorruptData, path.string() + ": '" + artifact.name + "' is no plain name"};
    const uintmax_t bytes = fs::file_size(folder / artifact.name);
    if (bytes != artifact.bytes) {
      throw Error{kCorruptData, (folder / artifact.name).string() + " has " + std::to_string(bytes) + " bytes, its record says " +
                                    std::to_string(artifact.bytes)};
    }
    result.artifacts.push_back(std::move(artifact));
  }
  return result;
}

// So that a power cut leaves no folder in place whose files are empty.
void sync_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error{kIoError, "cannot make the folder '" + folder.string() + "': " + error.message()};
}

fs::path make_own_folder() {
  std::string name = (fs::temp_directory_path() / "pointmap-results-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw Error{kIoError, "cannot make a folder like " + name};
  return name;
}

}  // namespace

bool is_job_id(const std::string& id) {
  return id.size() == 32 && std::all_of(id.begin(), id.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

ResultStore::ResultStore(Settings settings, const std::function<void(const std::string& what)>& on_fault)
    : settings_(std::move(settings)), is_own_folder_(settings_.folder.empty()) {
  if (is_own_folder_) settings_.folder = make_own_folder();
  make_folder(settings_.folder);
  take_over(on_fault);
}

ResultStore::~ResultStore() {
  std::error_code ignored;
  if (is_own_folder_) fs::remove_all(settings_.folder, ignored);
}

void ResultStore::take_over(const std::function<void(const std::string& what)>& on_fault) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (fs::directory_iterator entry(settings_.folder, error), end; !error && entry != end; entry.increment(error))
    folders.push_back(entry->path());
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    if (name.starts_with(kUnfinished)) {
      fs::remove_all(folder, error);
    } else if (is_job_id(name)) {
      try {
        results_[name] = read_result(folder);
      } catch (const std::exception& fault) {
        on_fault(name + ": " + fault.what());
      }
    }
  }
}

fs::path ResultStore::begin(const std::string& id) {
  const fs::path folder = settings_.folder / (kUnfinished + id);
  make_folder(folder);
  return folder;
}

StoredResult ResultStore::publish(const std::string& id, ordered_json facts) {
  const fs::path folder = settings_.folder / (kUnfinished + id);
  StoredResult result{.id = id, .finished = SystemClock::now(), .facts = std::move(facts), .artifacts = {}};
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    sync_to_disk(entry.path());
    result.artifacts.push_back({entry.path().filename().string(), entry.file_size()});
  }
  std::sort(result.artifacts.begin(), result.artifacts.end(), [](const Artifact& a, const Artifact& b) { return a.name < b.name; });
  {
    std::ofstream file(folder / kRecord);
    file << record_of(result).dump(1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
    if (!file.flush()) throw Error{kIoError, "cannot write " + (folder / kRecord).string()};
  }
  sync_to_disk(folder / kRecord);
  std::error_code error;
  fs::rename(folder, settings_.folder / id, error);
  if (error) throw Error{kIoError, "cannot rename '" + folder.string() + "': " + error.message()};
  sync_to_disk(settings_.folder);
  const std::lock_guard lock(mutex_);
  results_[id] = result;
  return result;
}

void ResultStore::discard(const std::string& id) {
  std::error_code ignored;
  fs::remove_all(settings_.folder / (kUnfinished + id), ignored);
}

std::optional<StoredResult> ResultStore::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = results_.find(id);
  return found == results_.end() ? std::nullopt : std::optional(found->second);
}

std::string ResultStore::artifact_path(const std::string& id, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = results_.find(id);
  if (found == results_.end()) throw ApiError{404, "not_found", "no results of such a job; they may have expired"};
  // By comparing with what is known, so that no path from outside ever reaches the file system.
  const auto& artifacts = found->second.artifacts;
  if (std::none_of(artifacts.begin(), artifacts.end(), [&](const Artifact& artifact) { return artifact.name == name; })) {
    throw ApiError{404, "not_found", "this job has no artefact of that name"};
  }
  return (settings_.folder / id / name).string();
}

bool ResultStore::remove(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    if (results_.erase(id) == 0) return false;
  }
  // Out of sight first, in one step: removing takes many, and a crash between them must not leave a part.
  const fs::path hidden = settings_.folder / (kUnfinished + id);
  std::error_code ignored;
  fs::rename(settings_.folder / id, hidden, ignored);
  fs::remove_all(hidden, ignored);
  return true;
}

size_t ResultStore::expire(SystemClock::time_point now) {
  std::vector<std::pair<SystemClock::time_point, std::string>> kept;
  std::vector<std::string> old;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, result] : results_) {
      if (now - result.finished >= settings_.ttl) {
        old.push_back(id);
      } else {
        kept.emplace_back(result.finished, id);
      }
    }
  }
  std::sort(kept.begin(), kept.end());
  for (size_t i = 0; kept.size() - i > settings_.max_results; ++i) old.push_back(kept[i].second);
  size_t count = 0;
  for (const std::string& id : old) count += remove(id) ? 1 : 0;
  return count;
}

size_t ResultStore::size() const {
  const std::lock_guard lock(mutex_);
  return results_.size();
}

}  // namespace pointmap::server
