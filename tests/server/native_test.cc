// /v1 of a real process: jobs handed in, waited for, watched, cancelled, fetched, lost and found again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "io/npz/npz_file.h"
#include "pointmap/pointmap.h"
#include "server_process.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

httplib::MultipartFormDataItems form(const json& options = nullptr, int seed = 1) {
  httplib::MultipartFormDataItems items = {{"images", test_png(96, 64, seed), "left.png", "image/png"},
                                           {"images", test_png(96, 64, seed + 1), "right.png", "image/png"}};
  if (!options.is_null()) items.push_back({"options", options.dump(), "", "application/json"});
  return items;
}

json body_of(const httplib::Result& result) {
  return json::parse(result->body, nullptr, false);
}

// Until the job is over.
json wait_for(httplib::Client& client, const std::string& location) {
  for (int i = 0; i < 3000; ++i) {
    const json job = body_of(client.Get(location));
    if (job["state"] != "queued" && job["state"] != "running") return job;
    std::this_thread::sleep_for(20ms);
  }
  return nullptr;
}

class NativeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ServerProcess(); }  // NOLINT: GoogleTest's way
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  httplib::Client client_ = server_->client();
  static ServerProcess* server_;
};
ServerProcess* NativeTest::server_ = nullptr;

TEST_F(NativeTest, AnswersASmallRequestWhenItIsDone) {
  const httplib::Result result = client_.Post("/v1/reconstruct", form({{"formats", "npz,glb"}}));
  ASSERT_EQ(result->status, 200) << result->body;
  const json job = body_of(result);
  EXPECT_EQ(job["state"], "done");
  EXPECT_EQ(result->get_header_value("Location"), "/v1/jobs/" + job["id"].get<std::string>());
  std::vector<std::string> names;
  for (const json& artifact : job["artifacts"]) {
    names.push_back(artifact["name"]);
    const httplib::Result file = client_.Get(artifact["url"].get<std::string>());
    EXPECT_EQ(file->status, 200);
    EXPECT_EQ(file->body.size(), artifact["bytes"].get<size_t>());
  }
  EXPECT_THAT(names, testing::ElementsAre("report.json", "scene.glb", "scene.npz"));

  // The archive is the one the library writes.
  const std::string npz = client_.Get(result->get_header_value("Location") + "/artifacts/scene.npz")->body;
  const NpzFile archive = NpzFile::from_bytes(std::as_bytes(std::span(npz)), "scene.npz");
  const auto photo = [](const std::string& png) {
    const auto* begin = reinterpret_cast<const std::byte*>(png.data());
    return Photo{.name = "photo", .bytes = {begin, begin + png.size()}};
  };
  const Reconstruction run = Reconstructor::open("demo").reconstruct({photo(test_png(96, 64, 1)), photo(test_png(96, 64, 2))});
  const auto points = archive.array("pts3d_2").as<float>();
  EXPECT_TRUE(std::equal(points.begin(), points.end(), run.scene.views[1].points.begin(), run.scene.views[1].points.end()));
}

TEST_F(NativeTest, SendsPartsOfArtefacts) {
  const std::string location = client_.Post("/v1/reconstruct", form({{"formats", "npz"}}))->get_header_value("Location");
  const std::string url = location + "/artifacts/scene.npz";
  const std::string whole = client_.Get(url)->body;
  const httplib::Result part = client_.Get(url, {{"Range", "bytes=100-199"}});
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->get_header_value("Content-Range"), "bytes 100-199/" + std::to_string(whole.size()));
  EXPECT_EQ(part->body, whole.substr(100, 100));
  EXPECT_EQ(client_.Get(url, {{"Range", "bytes=-7"}})->body, whole.substr(whole.size() - 7));
  EXPECT_EQ(client_.Get(url, {{"Range", "bytes=999999999-"}})->status, 416);
  EXPECT_EQ(client_.Head(url)->get_header_value("Content-Length"), std::to_string(whole.size()));
  EXPECT_EQ(client_.Get(location + "/artifacts/result.json")->status, 404);
  EXPECT_EQ(client_.Get(location + "/artifacts/..%2f..%2fetc%2fpasswd")->status, 404);
}

TEST_F(NativeTest, TakesAJobAndTellsHowItGoes) {
  const httplib::Result accepted = client_.Post("/v1/reconstruct", form({{"wait", false}, {"preset", "pad512"}}));
  ASSERT_EQ(accepted->status, 202) << accepted->body;
  const std::string location = accepted->get_header_value("Location");
  std::string events;
  client_.Get(location + "/events", [&](const char* data, size_t size) {
    events.append(data, size);
    return true;
  });
  EXPECT_THAT(events, HasSubstr("event: progress\ndata: {\"id\":"));
  EXPECT_THAT(events, HasSubstr("\"stage\":{\"name\":\"encoder"));
  EXPECT_THAT(events, HasSubstr("event: done\n"));
  const json job = wait_for(client_, location);
  EXPECT_EQ(job["state"], "done");
  EXPECT_GT(job["stages"].size(), 3u);
  EXPECT_GT(job["run_ms"], 0);
  EXPECT_EQ(client_.Delete(location)->status, 204);
  EXPECT_EQ(client_.Get(location)->status, 404);
  EXPECT_EQ(client_.Get(location + "/artifacts/scene.npz")->status, 404);
  EXPECT_EQ(client_.Delete(location)->status, 404);
}

TEST_F(NativeTest, CancelsJobsThatWaitAndThatRun) {
  std::vector<std::string> locations;
  for (int i = 0; i < 3; ++i) {
    const httplib::Result accepted = client_.Post("/v1/reconstruct", form({{"wait", false}, {"preset", "pad512"}}, 40 + i));
    locations.push_back(accepted->get_header_value("Location"));
  }
  EXPECT_EQ(client_.Delete(locations[2])->status, 202);
  EXPECT_EQ(client_.Delete(locations[0])->status, 202);
  EXPECT_EQ(wait_for(client_, locations[0])["state"], "cancelled");
  EXPECT_EQ(wait_for(client_, locations[1])["state"], "done");
  EXPECT_EQ(wait_for(client_, locations[2])["state"], "cancelled");
}

TEST_F(NativeTest, ReportsFailures) {
  httplib::MultipartFormDataItems items = form({{"wait", false}});
  items[1].content = items[1].content.substr(0, 200);
  const std::string location = client_.Post("/v1/reconstruct", items)->get_header_value("Location");
  const json job = wait_for(client_, location);
  EXPECT_EQ(job["state"], "failed");
  EXPECT_EQ(job["error"]["field"], "images[1]");
  items[2].content = "{}";
  const httplib::Result sync = client_.Post("/v1/reconstruct", items);
  EXPECT_EQ(sync->status, 422);
  EXPECT_EQ(body_of(sync)["error"]["field"], "images[1]");
  EXPECT_EQ(client_.Post("/v1/reconstruct", "{}", "application/json")->status, 415);
  EXPECT_EQ(client_.Get("/v1/jobs/nothing")->status, 404);
  EXPECT_EQ(client_.Get("/v1/jobs/nothing/events")->status, 404);
}

TEST_F(NativeTest, CountsWhatItDoes) {
  client_.Get("/health");
  client_.Post("/v1/reconstruct", form());
  client_.Get("/nowhere");
  const httplib::Result result = client_.Get("/metrics");
  EXPECT_THAT(result->get_header_value("Content-Type"), testing::StartsWith("text/plain; version=0.0.4"));
  for (const char* line : {"pointmap_http_requests_total{method=\"GET\",route=\"/health\",status=\"200\"}",
                           "pointmap_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"}", "pointmap_queue_length 0",
                           "pointmap_queue_capacity 16", "pointmap_ready 1", "pointmap_result_faults_total 0",
                           "pointmap_jobs_total{model=\"demo\",state=\"done\"}", "pointmap_stage_seconds_bucket{", "stage=\"encoder\"",
                           "process_resident_memory_bytes", "pointmap_model_info{", "pointmap_http_bytes_total{direction=\"out\"}"}) {
    EXPECT_THAT(result->body, HasSubstr(line));
  }
}

class KilledServerTest : public testing::Test {
 protected:
  KilledServerTest() : folder_(fs::path(testing::TempDir()) / ("pointmap_killed_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
  }
  ~KilledServerTest() override { fs::remove_all(folder_); }
  ServerProcess::Options options() const { return {.arguments = {"--results-dir", folder_.string(), "--queue", "50"}}; }
  fs::path folder_;
};

// Killed at a moment of no one's choosing while jobs run and results are written; what is there afterwards is whole.
TEST_F(KilledServerTest, HasWholeResultsOnlyAfterwards) {
  std::string finished;
  {
    ServerProcess server(options());
    httplib::Client client = server.client();
    finished = client.Post("/v1/reconstruct", form())->get_header_value("Location");
    for (int i = 0; i < 20; ++i) client.Post("/v1/reconstruct", form({{"wait", false}}, 2 * i));
    std::this_thread::sleep_for(137ms);
    server.signal(SIGKILL);
    EXPECT_EQ(server.wait_for_exit(10s), -SIGKILL);
  }
  fs::create_directories(folder_ / (".new-" + std::string(32, 'e')));  // as if the moment had been this one
  std::ofstream(folder_ / (".new-" + std::string(32, 'e')) / "scene.npz") << "half";
  const std::string broken(32, 'd');
  fs::create_directories(folder_ / broken);
  std::ofstream(folder_ / broken / "result.json") << "{";

  const ServerProcess server(options());
  httplib::Client client = server.client();
  EXPECT_EQ(body_of(client.Get(finished))["state"], "done");
  EXPECT_EQ(server.wait_for_event("broken_result")["message"].get<std::string>().substr(0, 32), broken);
  EXPECT_EQ(client.Get("/v1/jobs/" + broken)->status, 404);
  size_t num_whole = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    const std::string id = entry.path().filename().string();
    ASSERT_FALSE(id.starts_with(".")) << id;
    if (id == broken) continue;
    ++num_whole;
    const json job = body_of(client.Get("/v1/jobs/" + id));
    EXPECT_EQ(job["state"], "done");
    for (const json& artifact : job["artifacts"]) {
      EXPECT_EQ(client.Get(artifact["url"].get<std::string>())->body.size(), artifact["bytes"].get<size_t>());
    }
  }
  EXPECT_GE(num_whole, 1u);
}

TEST_F(KilledServerTest, LetsResultsExpire) {
  ServerProcess::Options short_lived = options();
  short_lived.arguments.insert(short_lived.arguments.end(), {"--results-ttl", "1"});
  const ServerProcess server(short_lived);
  httplib::Client client = server.client();
  const std::string location = client.Post("/v1/reconstruct", form())->get_header_value("Location");
  for (int i = 0; i < 200 && client.Get(location)->status == 200; ++i) std::this_thread::sleep_for(50ms);
  EXPECT_EQ(client.Get(location)->status, 404);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace pointmap
