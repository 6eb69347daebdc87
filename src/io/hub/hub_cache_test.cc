// Where the cache lies for which environment, and what resolve_model finds in it.
#include "io/hub/hub_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/error.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

HubEnvironment environment_of(const std::map<std::string, std::string>& variables) {
  return HubEnvironment::from_variables([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(HubEnvironment, CacheFolderFollowsTheVariables) {
  EXPECT_EQ(environment_of({{"HOME", "/h"}}).cache_folder, "/h/.cache/huggingface/hub");
  EXPECT_EQ(environment_of({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}).cache_folder, "/x/huggingface/hub");
  EXPECT_EQ(environment_of({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "/hf"}}).cache_folder, "/hf/hub");
  EXPECT_EQ(environment_of({{"HF_HOME", "/hf"}, {"HF_HUB_CACHE", "/cache"}}).cache_folder, "/cache");
  EXPECT_EQ(environment_of({{"HF_HOME", "/hf"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache_folder, "/old");
  EXPECT_EQ(environment_of({{"HOME", "/h"}, {"HF_HOME", "~/hf"}}).cache_folder, "/h/hf/hub");
  EXPECT_EQ(environment_of({{"HOME", "/h"}, {"HF_HOME", ""}}).cache_folder, "/h/.cache/huggingface/hub");
  EXPECT_EQ(environment_of({}).cache_folder, "");
}

TEST(HubEnvironment, EndpointTokenAndOffline) {
  EXPECT_EQ(environment_of({}).endpoint, "https://huggingface.co");
  EXPECT_EQ(environment_of({{"HF_ENDPOINT", "http://mirror/hf//"}}).endpoint, "http://mirror/hf");
  EXPECT_EQ(environment_of({{"HF_TOKEN", "t"}}).token, "t");
  for (const char* yes : {"1", "ON", "Yes", "true"}) EXPECT_TRUE(environment_of({{"HF_HUB_OFFLINE", yes}}).offline) << yes;
  for (const char* no : {"", "0", "no", "false"}) EXPECT_FALSE(environment_of({{"HF_HUB_OFFLINE", no}}).offline) << no;
}

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

class HubCacheTest : public testing::Test {
 protected:
  HubCacheTest() : folder_(fs::temp_directory_path() / ("pointmap-hub-cache-" + std::to_string(::getpid()))) {
    environment_.cache_folder = folder_;
    repo_folder_ = folder_ / "models--org--name";
    fs::create_directories(repo_folder_ / "refs");
  }
  ~HubCacheTest() override { fs::remove_all(folder_); }

  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void expect_not_found(const std::string& text, std::initializer_list<std::string> words) const {
    try {
      resolve_model(parse_model_name(text), environment_);
      ADD_FAILURE() << "found " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kNotFound);
      for (const std::string& word : words) EXPECT_THAT(error.what(), HasSubstr(word));
    }
  }

  fs::path folder_, repo_folder_;
  HubEnvironment environment_;
};

TEST_F(HubCacheTest, FindsWhatARefPointsTo) {
  // The tree as huggingface_hub leaves it.
  write(repo_folder_ / "blobs" / std::string(64, 'a'), "weights");
  write(repo_folder_ / "refs/main", kCommit);
  write(repo_folder_ / "refs/refs/pr/1", std::string(kCommit) + "\n");
  fs::create_directories(repo_folder_ / "snapshots" / kCommit);
  fs::create_symlink("../../blobs/" + std::string(64, 'a'), repo_folder_ / "snapshots" / kCommit / "model.safetensors");
  for (const std::string& text :
       {std::string("hf:org/name"), std::string("hf:org/name@refs/pr/1"), std::string("hf:org/name@") + kCommit}) {
    const ResolvedModel model = resolve_model(parse_model_name(text), environment_);
    EXPECT_EQ(model.path, repo_folder_ / "snapshots" / kCommit);
    EXPECT_EQ(model.commit, kCommit);
    EXPECT_EQ(model.license, "");
  }
  fs::remove(repo_folder_ / "blobs" / std::string(64, 'a'));  // a dangling link is no model
  expect_not_found("hf:org/name", {"snapshots", "model.safetensors"});
}

TEST_F(HubCacheTest, SaysWhereItLookedAndWhatToRun) {
  expect_not_found("hf:org/name@v2",
                   {"'hf:org/name@v2'", "org/name, revision v2", (repo_folder_ / "refs/v2").string(), "pointmap fetch hf:org/name@v2"});
  expect_not_found("dust3r", {"naver/DUSt3R_ViTLarge_BaseDecoder_512_dpt", "pointmap fetch dust3r"});
  for (const std::string& rubbish :
       {std::string("../../../etc"), std::string(39, 'a'), std::string(41, 'a'), std::string(1000, 'a'), std::string()}) {
    write(repo_folder_ / "refs/main", rubbish);
    expect_not_found("hf:org/name", {(repo_folder_ / "refs/main").string()});
  }
  write(repo_folder_ / "refs/main", kCommit);
  fs::create_directories(repo_folder_ / "snapshots" / kCommit);
  expect_not_found("hf:org/name", {"snapshots", kCommit});
  environment_.cache_folder.clear();
  expect_not_found("hf:org/name", {"HF_HOME"});
}

TEST_F(HubCacheTest, PathsAndSyntheticModels) {
  write(folder_ / "my.safetensors", "x");
  EXPECT_EQ(resolve_model(parse_model_name((folder_ / "my.safetensors").string()), environment_).path, folder_ / "my.safetensors");
  EXPECT_EQ(resolve_model(parse_model_name(folder_.string()), environment_).path, folder_);
  expect_not_found("naver/model", {"'naver/model'", "dust3r, dust3r-linear, dust3r-224", "hf:ORG/NAME"});
  EXPECT_THROW(resolve_model(parse_model_name("synthetic:tiny"), environment_), Error);
  EXPECT_THROW(resolve_model(parse_model_name("demo"), environment_), Error);
}

}  // namespace
}  // namespace pointmap
