// Downloads that end well: layout, resuming, redirects, shards, pins, two at once.
#include "io/hub/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "io/hub/digest.h"
#include "io/hub/hub_testing.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(FetchTest, LaysFilesOutAsHuggingfaceHubDoes) {
  const FetchedModel fetched = fetch();
  const std::string sha256 = sha256_of(model_), git = git_hash_of(config_);
  const fs::path snapshot = repo_folder_ / "snapshots" / kTestCommit;
  EXPECT_EQ(read(repo_folder_ / "refs/main"), kTestCommit);
  EXPECT_EQ(fs::read_symlink(snapshot / "config.json"), fs::path("../../blobs") / git);
  EXPECT_EQ(fs::read_symlink(snapshot / "model.safetensors"), fs::path("../../blobs") / sha256);
  EXPECT_EQ(read(snapshot / "config.json"), config_);
  EXPECT_EQ(read(snapshot / "model.safetensors"), model_);
  EXPECT_THAT(blob_names(), testing::UnorderedElementsAre(sha256, git));

  EXPECT_EQ(fetched.model.path, snapshot);
  EXPECT_EQ(fetched.model.commit, kTestCommit);
  ASSERT_THAT(fetched.files, SizeIs(2));
  EXPECT_EQ(fetched.files[1].name, "model.safetensors");
  EXPECT_EQ(fetched.files[1].bytes, kModelBytes);
  EXPECT_EQ(fetched.files[1].hash, sha256);
  EXPECT_TRUE(fetched.files[1].downloaded);
  EXPECT_EQ(resolve_model(parse_model_name("hf:org/name"), environment_).path, snapshot);
}

TEST_F(FetchTest, HashesAreThoseOfGitAndSha256sum) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "hello") << "hello\n";
  // git hash-object, sha256sum
  EXPECT_EQ(content_hash_of_file(folder_ / "hello", std::string(40, '0'), nullptr), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(content_hash_of_file(folder_ / "hello", std::string(64, '0'), nullptr),
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
}

TEST_F(FetchTest, SecondTimeAsksButDownloadsNothing) {
  fetch();
  const FetchedModel again = fetch();
  EXPECT_FALSE(again.files[0].downloaded || again.files[1].downloaded);
  EXPECT_THAT(hub_.seen("GET", "config.json"), SizeIs(1));
  EXPECT_THAT(hub_.seen("GET", "model.safetensors"), SizeIs(2));  // hub, then storage, both of the first time
}

TEST_F(FetchTest, ProgressGrowsToTheWholeFile) {
  std::map<std::string, std::vector<uint64_t>> done;
  options_.on_progress = [&](const FetchProgress& progress) {
    EXPECT_EQ(progress.total_bytes, progress.file == "config.json" ? config_.size() : kModelBytes);
    done[progress.file].push_back(progress.done_bytes);
  };
  fetch();
  ASSERT_THAT(done, SizeIs(2));
  for (const auto& [file, bytes] : done) {
    EXPECT_TRUE(std::ranges::is_sorted(bytes));
    EXPECT_EQ(bytes.front(), 0u);
    EXPECT_EQ(bytes.back(), file == "config.json" ? config_.size() : kModelBytes);
  }
}

TEST_F(FetchTest, TokenGoesToTheEndpointOnly) {
  environment_.token = "hf_secret";
  fetch();
  size_t hub_requests = 0, storage_requests = 0;
  for (const SeenRequest& request : hub_.seen()) {
    ++(request.server == "hub" ? hub_requests : storage_requests);
    EXPECT_EQ(request.authorization, request.server == "hub" ? "Bearer hf_secret" : "") << request.path;
  }
  EXPECT_GE(hub_requests, 4u);
  EXPECT_EQ(storage_requests, 1u);
}

TEST_F(FetchTest, GoesOnAfterBrokenConnections) {
  hub_.files["model.safetensors"].break_after = {100'000, 0, 50'000};
  fetch();
  EXPECT_EQ(read(repo_folder_ / "snapshots" / kTestCommit / "model.safetensors"), model_);
  std::vector<std::string> ranges;
  for (const SeenRequest& request : hub_.seen("GET", "model.safetensors")) {
    if (request.server == "storage") ranges.push_back(request.range);
  }
  EXPECT_THAT(ranges, ElementsAre("", "bytes=100000-", "bytes=100000-", "bytes=150000-"));
}

TEST_F(FetchTest, GoesOnWhereAnEarlierRunStopped) {
  hub_.files["model.safetensors"].break_after = {123'456};
  options_.max_attempts = 1;
  expect_error(kIoError, {"/model.safetensors'", "gave up after 1 attempts"});
  const fs::path incomplete = repo_folder_ / "blobs" / (sha256_of(model_) + ".incomplete");
  EXPECT_EQ(read(incomplete), model_.substr(0, 123'456));
  EXPECT_THROW(resolve_model(parse_model_name("hf:org/name"), environment_), Error);
  fetch();
  EXPECT_EQ(hub_.seen("GET", "model.safetensors").back().range, "bytes=123456-");
  EXPECT_EQ(read(repo_folder_ / "snapshots" / kTestCommit / "model.safetensors"), model_);
  EXPECT_FALSE(fs::exists(incomplete));
}

TEST_F(FetchTest, StartsOverWhenTheServerKnowsNoRanges) {
  hub_.files["model.safetensors"].ignores_range = true;
  hub_.files["model.safetensors"].break_after = {100'000};
  fetch();
  EXPECT_EQ(read(repo_folder_ / "snapshots" / kTestCommit / "model.safetensors"), model_);
}

TEST_F(FetchTest, LeftOversThatAreDamagedOrTooLongAreReplaced) {
  for (const size_t bytes : {size_t{1000}, kModelBytes, kModelBytes + 1}) {
    fs::remove_all(folder_);
    fs::create_directories(repo_folder_ / "blobs");
    std::ofstream(repo_folder_ / "blobs" / (sha256_of(model_) + ".incomplete")) << std::string(bytes, 'x');
    fetch();
    EXPECT_EQ(read(repo_folder_ / "snapshots" / kTestCommit / "model.safetensors"), model_) << bytes;
    EXPECT_THAT(blob_names(), SizeIs(2));
  }
}

TEST_F(FetchTest, WaitsOutABusyServer) {
  hub_.files["model.safetensors"].statuses = {503, 429};
  hub_.files["model.safetensors"].body_statuses = {500, 502};
  fetch();
  EXPECT_EQ(read(repo_folder_ / "snapshots" / kTestCommit / "model.safetensors"), model_);
}

TEST_F(FetchTest, FollowsARenamedRepository) {
  const FetchedModel fetched = fetch("hf:org/old");
  EXPECT_EQ(fetched.model.path, folder_ / "models--org--old/snapshots" / kTestCommit);
  EXPECT_EQ(read(fetched.model.path / "model.safetensors"), model_);
}

TEST_F(FetchTest, KeepsWhatARedirectWithinTheHubSaysOfTheFile) {
  hub_.files["config.json"].redirect = "/plain/config.json";
  EXPECT_EQ(read(fetch().model.path / "config.json"), config_);
}

TEST_F(FetchTest, Shards) {
  hub_.files.erase("model.safetensors");
  hub_.files["model.safetensors.index.json"].contents =
      R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}})";
  hub_.files["model-1.safetensors"] = {.contents = "one", .large = true};
  hub_.files["model-2.safetensors"] = {.contents = "two", .large = true};
  const FetchedModel fetched = fetch();
  EXPECT_THAT(fetched.files, SizeIs(4));
  EXPECT_EQ(read(fetched.model.path / "model-1.safetensors"), "one");
  EXPECT_EQ(read(fetched.model.path / "model-2.safetensors"), "two");
  environment_.offline = true;
  EXPECT_EQ(fetch().model.path, fetched.model.path);
  fs::remove(fetched.model.path / "model-2.safetensors");
  expect_error(kNotFound, {"not complete", "HF_HUB_OFFLINE"});
}

TEST_F(FetchTest, PinnedCommitInTheCacheNeedsNoNetwork) {
  const std::string pinned = std::string("hf:org/name@") + kTestCommit;
  const FetchedModel fetched = fetch(pinned);
  EXPECT_FALSE(fs::exists(repo_folder_ / "refs" / kTestCommit));
  const size_t num_requests = hub_.seen().size();
  EXPECT_EQ(fetch(pinned).model.path, fetched.model.path);
  EXPECT_EQ(hub_.seen().size(), num_requests);
}

TEST_F(FetchTest, RevisionWithSlashes) {
  fetch("hf:org/name@refs/pr/1");
  EXPECT_EQ(read(repo_folder_ / "refs/refs/pr/1"), kTestCommit);
  EXPECT_EQ(resolve_model(parse_model_name("hf:org/name@refs/pr/1"), environment_).commit, kTestCommit);
}

TEST_F(FetchTest, BranchThatMovedGetsANewSnapshot) {
  fetch();
  hub_.commit = std::string(40, 'b');
  hub_.files["config.json"].contents = "{}";
  const FetchedModel moved = fetch();
  EXPECT_EQ(moved.model.path, repo_folder_ / "snapshots" / hub_.commit);
  EXPECT_EQ(read(moved.model.path / "config.json"), "{}");
  EXPECT_TRUE(moved.files[0].downloaded);
  EXPECT_FALSE(moved.files[1].downloaded);
  EXPECT_EQ(read(repo_folder_ / "snapshots" / kTestCommit / "config.json"), config_);  // the old one stays whole
  EXPECT_EQ(read(repo_folder_ / "refs/main"), hub_.commit);
}

TEST_F(FetchTest, SeveralAtOnceDownloadOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] { EXPECT_EQ(read(fetch().model.path / "model.safetensors"), model_); });
  }
  for (std::thread& thread : threads) thread.join();
  size_t storage_requests = 0;
  for (const SeenRequest& request : hub_.seen()) storage_requests += request.server == "storage";
  EXPECT_EQ(storage_requests, 1u);
  EXPECT_THAT(blob_names(), SizeIs(2));
  for (const auto& entry : fs::directory_iterator(repo_folder_ / "snapshots" / kTestCommit)) {
    EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos);
  }
}

TEST_F(FetchTest, OfflineUsesTheCacheOrSaysSo) {
  environment_.offline = true;
  expect_error(kNotFound, {"'hf:org/name'", repo_folder_.c_str(), "HF_HUB_OFFLINE"});
  environment_.offline = false;
  fetch();
  const size_t num_requests = hub_.seen().size();
  environment_.offline = true;
  EXPECT_EQ(fetch().model.commit, kTestCommit);
  EXPECT_EQ(hub_.seen().size(), num_requests);
}

}  // namespace
}  // namespace pointmap
