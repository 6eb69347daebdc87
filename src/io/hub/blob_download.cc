#include "io/hub/blob_download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "base/error.h"
#include "io/hub/backoff.h"
#include "io/hub/digest.h"
#include "io/hub/file_lock.h"
#include "io/hub/remote_repo.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBytesThatCountAsProgress = uint64_t{1} << 20;
constexpr size_t kMaxIgnoredBodyBytes = size_t{1} << 20;  // of an error page

// The file that grows: knows its length, writes at its end.
class GrowingFile {
 public:
  explicit GrowingFile(const fs::path& path) : path_(path), fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {
    if (fd_ < 0) throw system_error("cannot write '" + path.string() + "'", errno);
    struct stat info {};
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
      ::close(fd_);
      throw Error{kIoError, "'" + path.string() + "' is not a file we can write"};
    }
    bytes_ = static_cast<uint64_t>(info.st_size);
  }
  ~GrowingFile() { ::close(fd_); }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  uint64_t bytes() const { return bytes_; }

  void append(std::span<const std::byte> piece) {
    while (!piece.empty()) {
      const ssize_t written = ::pwrite(fd_, piece.data(), piece.size(), static_cast<off_t>(bytes_));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw system_error("cannot write '" + path_.string() + "'", errno);
      bytes_ += static_cast<uint64_t>(written);
      piece = piece.subspan(static_cast<size_t>(written));
    }
  }

  void clear() {
    if (::ftruncate(fd_, 0) != 0) throw system_error("cannot empty '" + path_.string() + "'", errno);
    bytes_ = 0;
  }

  // A name in the cache promises whole contents even after a power cut.
  void flush_to_disk() const {
    if (::fsync(fd_) != 0) throw system_error("cannot write '" + path_.string() + "'", errno);
  }

 private:
  const fs::path path_;
  int fd_;
  uint64_t bytes_ = 0;
};

// Whether "bytes BEGIN-END/TOTAL" says this begin and this total.
bool is_content_range(std::string_view text, uint64_t begin, uint64_t total) {
  if (!text.starts_with("bytes ")) return false;
  text.remove_prefix(6);
  const size_t dash = text.find('-'), slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos) return false;
  return text.substr(0, dash) == std::to_string(begin) && text.substr(slash + 1) == std::to_string(total);
}

class Download {
 public:
  Download(HttpClient& client, const HubEnvironment& environment, const BlobRequest& blob, const FetchOptions& options, GrowingFile& file)
      : client_(client), environment_(environment), blob_(blob), options_(options), file_(file) {}

  // Until the file has its announced length.
  void run() {
    Backoff backoff(options_.max_attempts, options_.first_pause_ms, options_.cancel);
    report();
    while (file_.bytes() < blob_.bytes) {
      const uint64_t bytes_before = file_.bytes();
      const std::string trouble = attempt();
      if (file_.bytes() >= blob_.bytes) break;
      if (file_.bytes() >= bytes_before + kBytesThatCountAsProgress) backoff.reset();
      backoff.failed(trouble);
    }
  }

 private:
  // One request for what is missing. Returns why the file is not complete after it, should that be so.
  std::string attempt() {
    at_first_piece_ = true;
    ignored_bytes_ = 0;
    const HttpRequest request = {.url = blob_.url, .token = environment_.token, .range_begin = file_.bytes()};
    const HttpResponse response = send_following_redirects(
        client_, request, [this](const HttpResponse& head, std::span<const std::byte> piece) { take(head, piece); },
        /*stop_at_other_origin=*/false);
    if (!response.broken.empty()) return response.broken;
    const std::string where = "'" + blob_.url + "': ";
    if (response.status == 416) {  // what we have is more than the server has: it is not a beginning of this file
      file_.clear();
      return where + "the server refuses to go on with the download";
    }
    if (is_transient_status(response.status)) return where + "the server answers " + std::to_string(response.status);
    if (response.status != 200 && response.status != 206) throw_for_status(response, blob_.url, !environment_.token.empty());
    return where + "the server ended after " + std::to_string(file_.bytes()) + " of " + std::to_string(blob_.bytes) + " bytes";
  }

  void take(const HttpResponse& head, std::span<const std::byte> piece) {
    if (head.status != 200 && head.status != 206) {
      ignored_bytes_ += piece.size();
      if (ignored_bytes_ > kMaxIgnoredBodyBytes)
        throw Error{kIoError, "'" + blob_.url + "' answers " + std::to_string(head.status) + " at length"};
      return;
    }
    if (at_first_piece_) begin_body(head);
    at_first_piece_ = false;
    if (piece.size() > blob_.bytes - file_.bytes()) {
      throw Error{kCorruptData, "'" + blob_.url + "': the server sends more than the announced " + std::to_string(blob_.bytes) + " bytes"};
    }
    file_.append(piece);
    report();
  }

  void begin_body(const HttpResponse& head) {
    if (head.status == 200) {
      if (file_.bytes() > 0) file_.clear();  // the server knows no ranges and sends all again
    } else if (!is_content_range(head.header("content-range"), file_.bytes(), blob_.bytes)) {
      throw Error{kCorruptData, "'" + blob_.url + "': asked for bytes from " + std::to_string(file_.bytes()) + " of " +
                                    std::to_string(blob_.bytes) + ", the server sends others"};
    }
  }

  void report() const {
    if (options_.on_progress) options_.on_progress({blob_.file, file_.bytes(), blob_.bytes});
  }

  HttpClient& client_;
  const HubEnvironment& environment_;
  const BlobRequest& blob_;
  const FetchOptions& options_;
  GrowingFile& file_;
  bool at_first_piece_ = true;
  size_t ignored_bytes_ = 0;
};

void check_disk_space(const fs::path& folder, uint64_t wanted_bytes) {
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  if (!unknown && space.available < wanted_bytes) {
    throw Error{kIoError, "'" + folder.string() + "' has room for " + std::to_string(space.available) + " bytes, " +
                              std::to_string(wanted_bytes) + " are missing"};
  }
}

// Downloads until the length is right and tells whether the hash is.
bool fill(HttpClient& client, const HubEnvironment& environment, const fs::path& incomplete, const BlobRequest& blob,
          const FetchOptions& options, std::string* got_hash) {
  GrowingFile file(incomplete);
  if (file.bytes() > blob.bytes) file.clear();
  check_disk_space(incomplete.parent_path(), blob.bytes - file.bytes());
  Download(client, environment, blob, options, file).run();
  *got_hash = content_hash_of_file(incomplete, blob.hash, options.cancel);
  if (*got_hash == blob.hash) file.flush_to_disk();
  return *got_hash == blob.hash;
}

}  // namespace

bool has_blob(const CachedRepo& repo, const std::string& hash, uint64_t bytes) {
  std::error_code absent;
  const uint64_t found_bytes = fs::file_size(repo.blob(hash), absent);
  return !absent && found_bytes == bytes;
}

bool download_blob(HttpClient& client, const HubEnvironment& environment, const CachedRepo& repo, const BlobRequest& blob,
                   const FetchOptions& options) {
  const FileLock lock(repo.lock(blob.hash), options.cancel);
  if (has_blob(repo, blob.hash, blob.bytes)) return false;
  const fs::path incomplete = repo.blob(blob.hash + ".incomplete");
  std::error_code none;
  bool had_left_over = fs::file_size(incomplete, none) > 0 && !none;
  while (true) {
    std::string got_hash;
    try {
      if (fill(client, environment, incomplete, blob, options, &got_hash)) break;
    } catch (const Error& error) {
      if (error.code() == kCorruptData) fs::remove(incomplete, none);  // after other errors the next run goes on from here
      throw;
    }
    fs::remove(incomplete, none);
    if (!had_left_over) {
      throw Error{kCorruptData,
                  "'" + blob.url + "': the downloaded file has hash " + got_hash + ", wanted " + blob.hash + "; it was deleted"};
    }
    had_left_over = false;  // an earlier run may have left damaged bytes: once more from nothing
  }
  fs::rename(incomplete, repo.blob(blob.hash), none);
  if (none) throw Error{kIoError, "cannot write '" + repo.blob(blob.hash).string() + "': " + none.message()};
  return true;
}

}  // namespace pointmap
