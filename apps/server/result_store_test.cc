// Results on disk: whole or not there, also after a crash, and never what a path from outside says.
#include "apps/server/result_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "apps/server/api_error.h"
#include "apps/server/job_table.h"

namespace pointmap::server {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFirst(32, 'a'), kSecond(32, 'b'), kThird(32, 'c');

class ResultStoreTest : public testing::Test {
 protected:
  ResultStoreTest() : folder_(fs::path(testing::TempDir()) / ("pointmap_results_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
  }
  ~ResultStoreTest() override { fs::remove_all(folder_); }

  std::unique_ptr<ResultStore> open(size_t max_results = 10) {
    faults_.clear();
    return std::make_unique<ResultStore>(ResultStore::Settings{folder_, 100s, max_results},
                                         [this](const std::string& what) { faults_.push_back(what); });
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  static void publish(ResultStore& store, const std::string& id) {
    write(store.begin(id) / "scene.glb", "glTF");
    store.publish(id, {{"model", "demo"}});
  }

  fs::path folder_;
  std::vector<std::string> faults_;
};

TEST_F(ResultStoreTest, KeepsResultsAcrossARestart) {
  {
    const auto store = open();
    publish(*store, kFirst);
    EXPECT_EQ(store->size(), 1u);
  }
  const auto store = open();
  EXPECT_TRUE(faults_.empty());
  const auto result = store->find(kFirst);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->facts["model"], "demo");
  ASSERT_EQ(result->artifacts.size(), 1u);
  EXPECT_EQ(result->artifacts[0].name, "scene.glb");
  EXPECT_EQ(result->artifacts[0].bytes, 4u);
  EXPECT_TRUE(fs::exists(store->artifact_path(kFirst, "scene.glb")));
}

TEST_F(ResultStoreTest, ShowsNothingThatIsNotFinished) {
  {
    const auto store = open();
    write(store->begin(kFirst) / "scene.glb", "half of");
    EXPECT_FALSE(store->find(kFirst));
  }  // killed here
  const auto store = open();
  EXPECT_FALSE(store->find(kFirst));
  EXPECT_TRUE(faults_.empty());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ResultStoreTest, ReportsAndSkipsWhatIsBroken) {
  {
    const auto store = open();
    for (const std::string& id : {kFirst, kSecond, kThird}) publish(*store, id);
  }
  write(folder_ / kFirst / "scene.glb", "cut");
  write(folder_ / kSecond / "result.json", "{\"format\":");
  fs::create_directories(folder_ / "somebody's folder");
  const auto store = open();
  EXPECT_THAT(faults_, testing::UnorderedElementsAre(HasSubstr("3 bytes, its record says 4"), HasSubstr(kSecond)));
  EXPECT_EQ(store->size(), 1u);
  EXPECT_TRUE(store->find(kThird));
  EXPECT_TRUE(fs::exists(folder_ / kFirst)) << "left for someone to look at";
}

TEST_F(ResultStoreTest, DoesNotTrustRecords) {
  {
    const auto store = open();
    publish(*store, kFirst);
    publish(*store, kSecond);
  }
  const std::string times = R"("finished_unix_ms": 1, "facts": {}, )";
  write(folder_ / kFirst / "result.json", R"({"format": 1, "id": ")" + kFirst + R"(", )" + times + R"("artifacts": [{"name": "../)" +
                                              kSecond + R"(/scene.glb", "bytes": 4}]})");
  write(folder_ / kSecond / "result.json", R"({"format": 1, "id": ")" + kFirst + R"(", )" + times + R"("artifacts": []})");
  EXPECT_EQ(open()->size(), 0u);
  EXPECT_EQ(faults_.size(), 2u);
}

TEST_F(ResultStoreTest, FindsArtefactsByNameOnly) {
  const auto store = open();
  publish(*store, kFirst);
  for (const std::string name : {"", "..", "../x", "result.json", "scene.glb/", "/etc/passwd"}) {
    EXPECT_THROW(store->artifact_path(kFirst, name), ApiError) << name;
  }
  EXPECT_THROW(store->artifact_path(kSecond, "scene.glb"), ApiError);
  EXPECT_FALSE(is_job_id("../" + kFirst.substr(3)));
  EXPECT_TRUE(is_job_id(kFirst));
}

TEST_F(ResultStoreTest, ForgetsTheOldAndTheTooMany) {
  const auto store = open(2);
  for (const std::string& id : {kFirst, kSecond, kThird}) publish(*store, id);
  const auto now = std::chrono::system_clock::now();
  EXPECT_EQ(store->expire(now), 1u);
  EXPECT_EQ(store->expire(now), 0u);
  EXPECT_EQ(store->size(), 2u);
  EXPECT_EQ(store->expire(now + 101s), 2u);
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_FALSE(store->remove(kFirst));
}

TEST(OwnResultStore, GoesWithTheServer) {
  fs::path folder;
  {
    ResultStore store({}, [](const std::string&) {});
    folder = store.begin(kFirst).parent_path();
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST(JobTable, KeepsWhatIsNotOver) {
  JobTable table(100s, 1);
  std::vector<std::shared_ptr<Job>> jobs;
  for (const char* id : {"1", "2", "3"}) {
    jobs.push_back(std::make_shared<Job>(id, JobRequest{}));
    table.add(jobs.back());
  }
  jobs[0]->cancel();
  jobs[1]->cancel();
  table.expire(Job::Clock::now());
  EXPECT_EQ(table.find("1"), nullptr);
  EXPECT_NE(table.find("2"), nullptr);
  table.expire(Job::Clock::now() + 101s);
  EXPECT_EQ(table.find("2"), nullptr);
  EXPECT_NE(table.find("3"), nullptr);
}

}  // namespace
}  // namespace pointmap::server
