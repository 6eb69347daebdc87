#include "io/hub/hub_testing.h"

#include <gmock/gmock.h>
#include <httplib.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <thread>

namespace pointmap {
namespace {

namespace fs = std::filesystem;

std::string hex_digest(const std::string& data, const EVP_MD* kind) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(data.data(), data.size(), digest, &size, kind, nullptr);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", digest[i]);
    hex += two;
  }
  return hex;
}

}  // namespace

std::string sha256_of(const std::string& contents) {
  return hex_digest(contents, EVP_sha256());
}
std::string git_hash_of(const std::string& contents) {
  return hex_digest("blob " + std::to_string(contents.size()) + std::string(1, '\0') + contents, EVP_sha1());
}

struct FakeHub::Servers {
  FakeHub& hub;
  httplib::Server hub_server, storage_server;
  int hub_port = 0, storage_port = 0;
  std::thread hub_thread, storage_thread;
  std::atomic<bool> stopping{false};
  mutable std::mutex mutex;  // guards seen and the lists that files' lies are taken from
  std::vector<SeenRequest> seen;

  explicit Servers(FakeHub& owner) : hub(owner) {
    hub_server.Get(R"(/org/name/resolve/(.+)/([^/]+))", [this](const httplib::Request& request, httplib::Response& response) {
      note("hub", request);
      answer(request, response);
    });
    // An old name of the repository.
    hub_server.Get(R"(/org/old/(.*))", [this](const httplib::Request& request, httplib::Response& response) {
      note("hub", request);
      response.set_redirect("/org/name/" + request.matches[1].str(), 307);
    });
    // Contents alone, without the headers about them.
    hub_server.Get(R"(/plain/([^/]+))", [this](const httplib::Request& request, httplib::Response& response) {
      note("hub", request);
      send_contents(request, response, hub.files.at(request.matches[1].str()));
    });
    storage_server.Get(R"(/([^/]+))", [this](const httplib::Request& request, httplib::Response& response) {
      note("storage", request);
      send_contents(request, response, hub.files.at(request.matches[1].str()));
    });
    for (httplib::Server* server : {&hub_server, &storage_server}) {
      server->set_tcp_nodelay(true);
      server->set_keep_alive_timeout(1);
    }
    hub_port = hub_server.bind_to_any_port("127.0.0.1");
    storage_port = storage_server.bind_to_any_port("127.0.0.1");
    hub_thread = std::thread([this] { hub_server.listen_after_bind(); });
    storage_thread = std::thread([this] { storage_server.listen_after_bind(); });
    while (!hub_server.is_running() || !storage_server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  ~Servers() {
    stopping = true;
    hub_server.stop();
    storage_server.stop();
    hub_thread.join();
    storage_thread.join();
  }

  void note(const std::string& server, const httplib::Request& request) {
    const std::lock_guard lock(mutex);
    seen.push_back({server, request.method, request.path, request.get_header_value("Authorization"), request.get_header_value("Range")});
  }

  template <typename T>
  T take_first(std::vector<T>& list, T otherwise) {
    const std::lock_guard lock(mutex);
    if (list.empty()) return otherwise;
    const T first = list.front();
    list.erase(list.begin());
    return first;
  }

  void answer(const httplib::Request& request, httplib::Response& response) {
    const std::string revision = request.matches[1], name = request.matches[2];
    const auto found = hub.files.find(name);
    if (revision != "main" && revision != "refs/pr/1" && revision != hub.commit) {
      response.set_header("X-Error-Code", "RevisionNotFound");
      response.status = 404;
      return;
    }
    if (found == hub.files.end()) {
      response.set_header("X-Error-Code", "EntryNotFound");
      response.status = 404;
      return;
    }
    FakeFile& file = found->second;
    const int status = file.always != 0 ? file.always : request.method == "HEAD" ? take_first(file.statuses, 0) : 0;
    if (!file.error_code.empty()) response.set_header("X-Error-Code", file.error_code);
    if (status != 0) {
      response.status = status;
      return;
    }
    response.set_header("X-Repo-Commit", file.commit.empty() ? hub.commit : file.commit);
    const std::string hash = !file.etag.empty() ? file.etag : file.large ? sha256_of(file.contents) : git_hash_of(file.contents);
    const std::string size = file.size.empty() ? std::to_string(file.contents.size()) : file.size;
    for (size_t bytes = 0; bytes < file.extra_header_bytes; bytes += 1000) response.set_header("X-More", std::string(1000, 'x'));
    if (file.large || !file.redirect.empty()) {
      response.set_header("X-Linked-Etag", '"' + hash + '"');
      response.set_header("X-Linked-Size", size);
      response.set_header("ETag", "\"not-of-the-file\"");
      response.set_redirect(!file.redirect.empty() ? file.redirect : "http://127.0.0.1:" + std::to_string(storage_port) + "/" + name);
    } else {
      response.set_header("ETag", "W/\"" + hash + '"');
      send_contents(request, response, file);
    }
  }

  void send_contents(const httplib::Request& request, httplib::Response& response, FakeFile& file) {
    const bool is_get = request.method == "GET";
    if (const int status = is_get ? take_first(file.body_statuses, 0) : 0; status != 0) {
      response.status = status;
      return;
    }
    if (file.ignores_range || !file.content_range.empty()) {
      const_cast<httplib::Request&>(request).ranges.clear();  // or the library would answer the range by itself
    }
    if (!file.content_range.empty()) {
      response.status = 206;
      response.set_header("Content-Range", file.content_range);
    }
    const size_t most = is_get ? take_first(file.break_after, file.contents.size()) : file.contents.size();
    // The library may still be sending when the client has enough and the test changes the file.
    response.set_content_provider(
        file.contents.size(), "application/octet-stream",
        [this, contents = file.contents, stalls = file.stalls, most](size_t offset, size_t length, httplib::DataSink& sink) {
          const size_t bytes = std::min({length, most, stalls ? size_t{10} : length});
          sink.write(contents.data() + offset, bytes);
          for (int i = 0; stalls && i < 200 && !stopping; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
          return bytes == length;
        });
  }
};

FakeHub::FakeHub() : servers_(std::make_unique<Servers>(*this)) {}
FakeHub::~FakeHub() = default;
std::string FakeHub::url() const {
  return "http://127.0.0.1:" + std::to_string(servers_->hub_port);
}
void FakeHub::stop() {
  servers_->hub_server.stop();
  servers_->storage_server.stop();
}
std::vector<SeenRequest> FakeHub::seen() const {
  const std::lock_guard lock(servers_->mutex);
  return servers_->seen;
}
std::vector<SeenRequest> FakeHub::seen(const std::string& method, const std::string& file) const {
  std::vector<SeenRequest> matching;
  for (const SeenRequest& request : seen()) {
    if (request.method == method && request.path.ends_with("/" + file)) matching.push_back(request);
  }
  return matching;
}

FetchTest::FetchTest() {
  static std::atomic<int> counter{0};
  folder_ = fs::temp_directory_path() / ("pointmap-fetch-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
  repo_folder_ = folder_ / "models--org--name";
  environment_.cache_folder = folder_;
  environment_.endpoint = hub_.url();
  options_.first_pause_ms = 1;
  options_.connect_timeout_ms = 2000;
  std::mt19937 random(7);
  model_.resize(kModelBytes);
  for (char& byte : model_) byte = static_cast<char>(random());
  hub_.files["config.json"].contents = config_;
  hub_.files["model.safetensors"] = {.contents = model_, .large = true};
}

FetchTest::~FetchTest() {
  fs::remove_all(folder_);
}

void FetchTest::expect_error(ErrorCode code, std::initializer_list<const char*> words, const std::string& text) const {
  try {
    fetch(text);
    ADD_FAILURE() << "no error, wanted " << error_code_name(code);
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
    for (const char* word : words) EXPECT_THAT(error.what(), testing::HasSubstr(word));
  }
}

std::string FetchTest::read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

std::vector<std::string> FetchTest::blob_names() const {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(repo_folder_ / "blobs", none)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace pointmap
