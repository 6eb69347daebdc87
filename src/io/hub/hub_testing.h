// A hub of our own on 127.0.0.1, as honest or as hostile as a test wants it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/hub/fetch.h"

namespace pointmap {

constexpr const char* kTestCommit = "0123456789abcdef0123456789abcdef01234567";

std::string sha256_of(const std::string& contents);
std::string git_hash_of(const std::string& contents);  // of a blob

struct FakeFile {
  std::string contents;
  bool large = false;  // contents lie at the storage server, the hub redirects there with X-Linked-*
  // Lies; empty is the truth.
  std::string etag = {}, size = {}, commit = {}, redirect = {}, content_range = {}, error_code = {};
  std::vector<int> statuses = {};        // of the first answers to HEAD, then as usual
  std::vector<int> body_statuses = {};   // of the first answers to GET of the contents
  int always = 0;                        // every answer of the hub has this status
  std::vector<size_t> break_after = {};  // the n-th GET of the contents ends after so many bytes
  bool ignores_range = false;
  bool stalls = false;  // sends 10 bytes, then nothing for two seconds
  size_t extra_header_bytes = 0;
};

struct SeenRequest {
  std::string server;  // "hub" or "storage"
  std::string method, path, authorization, range;
};

// Serves files[NAME] at /org/name/resolve/{main,refs/pr/1,COMMIT}/NAME, at /org/old/... by a redirect, and bare at /plain/NAME. Change
// `files` and `commit` only between requests.
class FakeHub {
 public:
  FakeHub();
  ~FakeHub();
  FakeHub(const FakeHub&) = delete;
  FakeHub& operator=(const FakeHub&) = delete;

  std::string url() const;
  void stop();
  std::vector<SeenRequest> seen() const;
  // Requests of this method for this file's contents or headers, at either server.
  std::vector<SeenRequest> seen(const std::string& method, const std::string& file) const;

  std::map<std::string, FakeFile> files;
  std::string commit = kTestCommit;

 private:
  struct Servers;
  std::unique_ptr<Servers> servers_;
};

// A hub with config.json and a model.safetensors of model_bytes, an empty cache, and options that do not wait long.
class FetchTest : public testing::Test {
 protected:
  FetchTest();
  ~FetchTest() override;

  FetchedModel fetch(const std::string& text = "hf:org/name") const { return fetch_model(parse_model_name(text), environment_, options_); }
  // Fetches and expects an Error of this code whose message holds the words.
  void expect_error(ErrorCode code, std::initializer_list<const char*> words, const std::string& text = "hf:org/name") const;

  static std::string read(const std::filesystem::path& path);
  std::vector<std::string> blob_names() const;  // sorted

  static constexpr size_t kModelBytes = 300'000;
  FakeHub hub_;
  std::filesystem::path folder_, repo_folder_;
  HubEnvironment environment_;
  FetchOptions options_;
  std::string model_;  // contents of model.safetensors
  const std::string config_ = "{\"enc_depth\": 24}\n";
};

}  // namespace pointmap
