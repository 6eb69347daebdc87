// Servers that refuse, lie, break or attack: each gives its error, and nothing bad stays in the cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "io/hub/fetch.h"
#include "io/hub/hub_testing.h"
#include "io/hub/remote_repo.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(FetchTest, WrongHashLeavesNothing) {
  hub_.files["model.safetensors"].etag = std::string(64, 'a');
  const std::string got = sha256_of(model_);
  expect_error(kCorruptData, {"/model.safetensors'", got.c_str(), std::string(64, 'a').c_str(), "deleted"});
  EXPECT_THAT(blob_names(), ElementsAre(git_hash_of(config_)));
  EXPECT_FALSE(fs::exists(repo_folder_ / "refs/main"));
  EXPECT_FALSE(fs::is_symlink(repo_folder_ / "snapshots" / kTestCommit / "model.safetensors"));

  hub_.files["config.json"].etag = std::string(40, 'a');
  fs::remove_all(folder_);
  expect_error(kCorruptData, {"/config.json'", std::string(40, 'a').c_str()});
  EXPECT_THAT(blob_names(), IsEmpty());
}

TEST_F(FetchTest, MissingThingsAreNamed) {
  expect_error(kNotFound, {"/org/name/resolve/v9/config.json' answers 404"}, "hf:org/name@v9");
  expect_error(kNotFound, {"'org/other', revision main, has no file 'config.json'"}, "hf:org/other");
  hub_.files.erase("model.safetensors");
  expect_error(kNotFound, {"'org/name'", kTestCommit, "neither model.safetensors nor model.safetensors.index.json"});
  hub_.files.erase("config.json");
  expect_error(kNotFound, {"has no file 'config.json'"});
  hub_.files["config.json"].always = 404;
  hub_.files["config.json"].error_code = "RepoNotFound";
  expect_error(kNotFound, {"answers 404: there is no such repository"});
}

TEST_F(FetchTest, RefusalsSayWhetherATokenMayHelp) {
  for (const int status : {401, 403}) {
    hub_.files["config.json"].always = status;
    environment_.token = "";
    expect_error(kIoError, {"/config.json' answers 40", "if you may read it, set HF_TOKEN"});
    environment_.token = "hf_secret";
    expect_error(kIoError, {"the token in HF_TOKEN may not read it"});
    try {
      fetch();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("hf_secret")));
    }
  }
  hub_.files["config.json"].always = 418;
  expect_error(kIoError, {"answers 418"});
}

TEST_F(FetchTest, TokenThatWouldBreakTheHeaderIsRefused) {
  environment_.token = "a\r\nX-Evil: 1";
  expect_error(kInvalidArgument, {"HF_TOKEN"});
  EXPECT_THAT(hub_.seen(), IsEmpty());
}

TEST_F(FetchTest, RefusalOfTheContentsIsReported) {
  hub_.files["model.safetensors"].body_statuses = {403};
  expect_error(kIoError, {"/model.safetensors' answers 403"});
}

TEST_F(FetchTest, HostileHashesAreRefused) {
  for (const std::string& etag : {std::string("../../../../tmp/evil"), std::string("a/b"), std::string("."),
                                  std::string("d41d8cd98f00b204e9800998ecf8427e"), std::string(63, 'a'), std::string(65, 'a'),
                                  std::string(64, 'g'), std::string(64, '/'), std::string(39, 'a') + "\t", std::string(10'000, 'a')}) {
    hub_.files["model.safetensors"].etag = etag;
    expect_error(kCorruptData, {"/model.safetensors'", "as hash of the file"});
    hub_.files["config.json"].etag = etag;
    expect_error(kCorruptData, {"/config.json'", "as hash of the file"});
    hub_.files["config.json"].etag = "";
  }
  EXPECT_THAT(blob_names(), ElementsAre(git_hash_of(config_)));
}

TEST_F(FetchTest, HostileCommitsAreRefused) {
  for (const char* commit : {"../../../x", "main", "0123", "0123456789ABCDEF0123456789ABCDEF01234567"}) {
    hub_.files["config.json"].commit = commit;
    expect_error(kCorruptData, {"/config.json'", "commit"});
  }
  hub_.files["config.json"].commit = std::string(40, 'c');
  expect_error(kCorruptData, {"the server gives commit 'cccc"}, std::string("hf:org/name@") + kTestCommit);
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(FetchTest, HostileRedirectsAreRefused) {
  for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "scp://127.0.0.1/x",
                          "http://user:pw@127.0.0.1/x", "data:text/plain,x"}) {
    hub_.files["config.json"].redirect = url;
    expect_error(kCorruptData, {"/config.json' redirects, but", "is not a"});
  }
  hub_.files["config.json"].redirect = "/org/name/resolve/main/config.json";
  expect_error(kCorruptData, {"more than 5 redirects"});
  EXPECT_THAT(blob_names(), IsEmpty());
}

TEST(Redirect, NeverLeavesTls) {
  EXPECT_EQ(origin_after_redirect("https://a/x", "https://b/y"), "https://b:443");
  EXPECT_EQ(origin_after_redirect("http://a/x", "https://a/x"), "https://a:443");
  EXPECT_EQ(origin_after_redirect("http://a:8080/x", "http://a/x"), "http://a:80");
  EXPECT_THROW(origin_after_redirect("https://a/x", "http://a/x"), Error);
  EXPECT_THROW(origin_after_redirect("https://a/x", ""), Error);
}

TEST_F(FetchTest, HugeHeadersAreRefused) {
  hub_.files["config.json"].extra_header_bytes = 100'000;
  expect_error(kCorruptData, {"headers are longer than 65536 bytes"});
}

TEST_F(FetchTest, SizesThatAreNoneAreRefused) {
  for (const char* size : {"-1", "1e3", "99999999999999999999", "12x", " "}) {
    hub_.files["model.safetensors"].size = size;
    expect_error(kCorruptData, {"/model.safetensors'", "how long the file is"});
  }
  hub_.files["model.safetensors"].size = "9223372036854775807";
  expect_error(kLimitExceeded, {"has 9223372036854775807 bytes"});
  hub_.files["model.safetensors"].size = "60000000000000";
  options_.max_file_bytes = uint64_t{1} << 62;
  expect_error(kIoError, {"has room for"});
}

TEST_F(FetchTest, MoreThanAnnouncedIsRefusedAndDeleted) {
  hub_.files["model.safetensors"].size = "200000";
  expect_error(kCorruptData, {"/model.safetensors'", "more than the announced 200000 bytes"});
  EXPECT_THAT(blob_names(), ElementsAre(git_hash_of(config_)));
}

TEST_F(FetchTest, LessThanAnnouncedGivesUp) {
  hub_.files["model.safetensors"].size = "300001";
  expect_error(kIoError, {"/model.safetensors'", "gave up after 6 attempts"});
}

TEST_F(FetchTest, WrongRangeIsRefused) {
  for (const char* range : {"bytes 0-299999/300000", "bytes 100000-299999/300001", "bytes */300000", "items 1-2/3", "bytes 100000"}) {
    fs::remove_all(folder_);
    fs::create_directories(repo_folder_ / "blobs");
    std::ofstream(repo_folder_ / "blobs" / (sha256_of(model_) + ".incomplete")) << model_.substr(0, 100'000);
    hub_.files["model.safetensors"].content_range = range;
    expect_error(kCorruptData, {"asked for bytes from 100000 of 300000"});
    EXPECT_THAT(blob_names(), ElementsAre(git_hash_of(config_)));
  }
}

TEST_F(FetchTest, HostileShardNamesAreRefused) {
  hub_.files.erase("model.safetensors");
  for (const char* index : {R"({"weight_map":{"a":"../../evil"}})", R"({"weight_map":{"a":"/etc/passwd"}})", R"({"weight_map":{"a":".."}})",
                            R"({"weight_map":{"a":".hidden"}})", R"({"weight_map":{"a":"x?y"}})", R"({"weight_map":{"a":"x\u0000y"}})",
                            R"({"weight_map":{"a":3}})", R"({"weight_map":{"a":""}})", R"({"weight_map":[]})", R"([])", R"({)", "\xff"}) {
    hub_.files["model.safetensors.index.json"].contents = index;
    expect_error(kCorruptData, {"model.safetensors.index.json"});
  }
  std::string many = R"({"weight_map":{"a":"a")";
  for (int i = 0; i < 1001; ++i) many.append(",\"").append(std::to_string(i)).append("\":\"s").append(std::to_string(i)).append("\"");
  hub_.files["model.safetensors.index.json"].contents = many + "}}";
  expect_error(kCorruptData, {"names 1002 shards"});
}

TEST_F(FetchTest, CancelKeepsWhatCameSoFar) {
  CancelFlag cancel;
  options_.cancel = &cancel;
  options_.on_progress = [&](const FetchProgress& progress) {
    if (progress.file == "model.safetensors" && progress.done_bytes > 0) cancel.request();
  };
  expect_error(kCancelled, {});
  EXPECT_TRUE(fs::exists(repo_folder_ / "blobs" / (sha256_of(model_) + ".incomplete")));
  expect_error(kCancelled, {});  // and again at once: the flag is still up
}

TEST_F(FetchTest, StalledConnectionTimesOut) {
  hub_.files["model.safetensors"].stalls = true;
  options_.stall_timeout_s = 1;
  options_.max_attempts = 1;
  const auto start = std::chrono::steady_clock::now();
  expect_error(kIoError, {"gave up after 1 attempts"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(read(repo_folder_ / "blobs" / (sha256_of(model_) + ".incomplete")), model_.substr(0, 10));
}

TEST_F(FetchTest, NobodyListensGivesUp) {
  hub_.stop();
  options_.max_attempts = 3;
  expect_error(kIoError, {hub_.url().c_str(), "gave up after 3 attempts"});
}

TEST_F(FetchTest, UnwritableCacheIsNamed) {
  fs::create_directories(folder_);
  std::ofstream(repo_folder_) << "a file where the folder should be";
  expect_error(kIoError, {repo_folder_.c_str()});
  expect_error(kInvalidArgument, {"not a repository"}, "/some/path");
}

}  // namespace
}  // namespace pointmap
