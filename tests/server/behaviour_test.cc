// What the server does when clients are many, slow, wrong, hostile or gone, and when it is told to stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "server_process.h"

namespace pointmap {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
using Clock = std::chrono::steady_clock;

std::string post_header(size_t content_length, const std::string& more = "") {
  return "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(content_length) +
         "\r\n" + more + "\r\n";
}

bool is_alive(const ServerProcess& server) {
  const httplib::Result health = server.client().Get("/health");
  return health && health->status == 200;
}

json error_of(const httplib::Result& result) {
  return json::parse(result->body, nullptr, false)["error"];
}

TEST(Behaviour, SaysThatItIsLoadingUntilItIsReady) {
  const ServerProcess server({.arguments = {"-m", "synthetic:dust3r-tiny"}, .wait_until_ready = false});
  const httplib::Result health = server.client().Get("/health");
  // Loading takes a second or more; should this machine be quicker than our first question, there is nothing to see.
  if (health->status == 200) GTEST_SKIP() << "loaded before the first question";
  EXPECT_EQ(health->status, 503);
  EXPECT_EQ(error_of(health)["code"], "loading");
  EXPECT_TRUE(health->has_header("Retry-After"));
  EXPECT_EQ(server.client().Post("/predict", "{}", "application/json")->status, 503);
  server.wait_for_event("ready");
  EXPECT_TRUE(is_alive(server));
}

TEST(Behaviour, ExitsWithOneWhenAModelIsNotThere) {
  // "listening" never comes.
  const std::string command = std::string(POINTMAP_PROGRAM) + " serve -m /nowhere/model.safetensors --port 0 2>/dev/null";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(Behaviour, FinishesItsWorkOnSigtermAndExitsWithZero) {
  ServerProcess server;
  json request = pair_request();
  request["preprocess"] = "pad";  // long enough to be interrupted
  int status = 0;
  std::thread asking([&] {
    if (const httplib::Result result = server.client().Post("/predict_npz", request.dump(), "application/json")) status = result->status;
  });
  std::this_thread::sleep_for(150ms);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait_for_exit(60s), 0);
  asking.join();
  EXPECT_EQ(status, 200);
  EXPECT_EQ(server.log().back()["event"], "stopped");
}

TEST(Behaviour, CancelsItsWorkOnSigtermWhenItMayNotDrain) {
  ServerProcess server({.arguments = {"--drain-timeout", "0", "--queue", "8"}});
  json request = pair_request();
  request["preprocess"] = "pad";
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] { server.client().Post("/predict_npz", request.dump(), "application/json"); });
  }
  std::this_thread::sleep_for(100ms);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait_for_exit(30s), 0);
  for (std::thread& client : clients) client.join();
}

TEST(Behaviour, RefusesWhatDoesNotFitIntoTheQueueAndLosesNothingElse) {
  const ServerProcess server({.arguments = {"--queue", "1"}});
  std::atomic<int> num_ok{0}, num_full{0}, num_other{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 10; ++i) {
    clients.emplace_back([&, i] {
      httplib::Client client = server.client();
      for (int k = 0; k < 3; ++k) {
        const httplib::Result result = client.Post("/predict_npz", pair_request(96, 64, 3 * i + k).dump(), "application/json");
        if (result && result->status == 200) {
          ++num_ok;
        } else if (result && result->status == 503 && error_of(result)["code"] == "queue_full" && result->has_header("Retry-After")) {
          ++num_full;
        } else {
          ++num_other;
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(num_other, 0);
  EXPECT_GE(num_ok, 2);
  EXPECT_GE(num_full, 1);
  EXPECT_EQ(num_ok + num_full, 30);
  EXPECT_TRUE(is_alive(server));
}

TEST(Behaviour, GivesUpOnWorkThatTakesTooLong) {
  const ServerProcess server({.arguments = {"--request-timeout", "0.1"}});
  json request = pair_request();
  request["preprocess"] = "pad";
  const httplib::Result result = server.client().Post("/predict", request.dump(), "application/json");
  EXPECT_EQ(result->status, 503);
  EXPECT_EQ(error_of(result)["code"], "timeout");
  EXPECT_TRUE(is_alive(server));
}

TEST(Behaviour, AsksForAKey) {
  const std::string file = testing::TempDir() + "/pointmap_keys_" + std::to_string(::getpid());
  std::ofstream(file) << "# keys\ncorrect-horse\n";
  const ServerProcess server({.arguments = {"--api-key-file", file}});
  httplib::Client client = server.client();
  EXPECT_EQ(client.Get("/health")->status, 200);
  const httplib::Result refused = client.Get("/info");
  EXPECT_EQ(refused->status, 401);
  EXPECT_EQ(refused->get_header_value("WWW-Authenticate"), "Bearer");
  client.set_bearer_token_auth("wrong-horses");
  EXPECT_EQ(client.Post("/predict", pair_request().dump(), "application/json")->status, 401);
  client.set_bearer_token_auth("correct-horse");
  EXPECT_EQ(client.Get("/info")->status, 200);
  EXPECT_EQ(client.Get("/health")->status, 200);  // on the same connection: by now the line about the one before is written
  bool is_named = false;
  for (const json& line : server.log()) is_named = is_named || line.value("client", "") == "key 1";
  EXPECT_TRUE(is_named);
  std::filesystem::remove(file);
}

// One server for all that should not harm it: each test ends by asking whether it still works.
class HostileTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ =
        new ServerProcess({.arguments = {"--max-body", "1M", "--http-threads", "8", "--client-timeout", "2"}});  // NOLINT: GoogleTest's way
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void TearDown() override {
    EXPECT_TRUE(is_alive(*server_));
    EXPECT_EQ(server_->client().Post("/predict_npz", pair_request().dump(), "application/json")->status, 200);
  }
  static ServerProcess* server_;
};
ServerProcess* HostileTest::server_ = nullptr;

TEST_F(HostileTest, KnowsItsRoutes) {
  httplib::Client client = server_->client();
  EXPECT_EQ(client.Get("/nowhere")->status, 404);
  EXPECT_EQ(client.Get("/predict")->status, 405);
  EXPECT_EQ(client.Post("/health", "{}", "application/json")->status, 405);
  EXPECT_EQ(client.Put("/predict", "{}", "application/json")->status, 405);
  EXPECT_EQ(client.Get("/%0A%0d")->status, 404);
  EXPECT_EQ(client.Get("/" + std::string(4000, 'a'))->status, 404);
  EXPECT_EQ(client.Head("/health")->status, 200);
  EXPECT_FALSE(client.Get("/health")->has_header("Access-Control-Allow-Origin"));
}

TEST_F(HostileTest, RefusesABodyBeforeItIsSent) {
  const RawSocket announced(server_->port());
  announced.send(post_header(2 << 20));
  const std::string answer = announced.read_all(5s);  // nothing was sent, the answer is there all the same
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(answer, HasSubstr("body_too_large"));
  const RawSocket polite(server_->port());
  polite.send(post_header(2 << 20, "Expect: 100-continue\r\n"));
  EXPECT_THAT(polite.read_all(5s), StartsWith("HTTP/1.1 413"));
}

TEST_F(HostileTest, RefusesABodyThatGrowsChunkByChunk) {
  const RawSocket socket(server_->port());
  socket.send("POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  for (int i = 0; i < 64 && socket.send(chunk); ++i) {
  }
  EXPECT_THAT(socket.read_all(5s), StartsWith("HTTP/1.1 413"));
}

TEST_F(HostileTest, TakesAChunkedBodyThatFits) {
  const std::string body = pair_request().dump();
  char size[16];
  std::snprintf(size, sizeof(size), "%zx\r\n", body.size());
  const RawSocket socket(server_->port());
  socket.send("POST /predict_npz HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
              std::string(size) + body + "\r\n0\r\n\r\n");
  EXPECT_THAT(socket.read_all(20s), StartsWith("HTTP/1.1 200"));
}

TEST_F(HostileTest, RefusesBombsOfJson) {
  httplib::Client client = server_->client();
  const size_t before = server_->resident_bytes();
  std::string deep(900'000, '[');
  EXPECT_EQ(client.Post("/predict", deep, "application/json")->status, 400);
  std::string wide = "[0";
  while (wide.size() < 900'000) wide += ",0";
  EXPECT_EQ(client.Post("/predict", wide + "]", "application/json")->status, 400);
  EXPECT_EQ(
      client.Post("/predict", "{\"image1\": \"" + std::string(900'000, '*') + "\", \"image2\": \"Zm9v\"}", "application/json")->status,
      422);
  EXPECT_LT(server_->resident_bytes(), before + (64u << 20));
}

TEST_F(HostileTest, RefusesACompressedBody) {
  httplib::Client client = server_->client();
  const httplib::Result result = client.Post("/predict", {{"Content-Encoding", "gzip"}}, std::string("\x1F\x8B\x08"), "application/json");
  EXPECT_EQ(result->status, 415);
}

TEST_F(HostileTest, RefusesTwoLengths) {
  const RawSocket socket(server_->port());
  socket.send(
      "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /info HTTP/1.1\r\n\r\n");
  const std::string answer = socket.read_all(5s);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(answer.find("HTTP/1.1", 8), std::string::npos) << "the rest was taken for a request";
}

TEST_F(HostileTest, AnswersNonsense) {
  for (const std::string bytes :
       {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n", "GET /nowhere HTTP/1.1\r\nno colon\r\n\r\n"}) {
    const RawSocket socket(server_->port());
    socket.send(bytes);
    const std::string answer = socket.read_all(3s);
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 4")) << answer;
  }
}

TEST_F(HostileTest, AnswersAClientThatHasFinishedSending) {
  const RawSocket socket(server_->port());
  const std::string body = pair_request().dump();
  socket.send(post_header(body.size()) + body);
  socket.finish_sending();
  EXPECT_THAT(socket.read_all(20s), StartsWith("HTTP/1.1 200"));
}

TEST_F(HostileTest, OutlivesClientsThatLeave) {
  const std::string body = pair_request().dump();
  for (int i = 0; i < 5; ++i) {
    { const RawSocket in_the_header(server_->port()); }
    {
      const RawSocket in_the_body(server_->port());
      in_the_body.send(post_header(body.size()) + body.substr(0, body.size() / 2));
    }
    {
      const RawSocket before_the_answer(server_->port());
      before_the_answer.send(post_header(body.size()) + body);
    }
  }
}

TEST_F(HostileTest, KeepsConnectionsInStep) {
  const RawSocket socket(server_->port());
  // A refused POST whose body looks like a request, then a real one: were the body not skipped, three answers would come.
  const std::string inner = "GET /info HTTP/1.1\r\nHost: x\r\n\r\n";
  socket.send("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(inner.size()) + "\r\n\r\n" + inner);
  const std::string answer = socket.read_all(3s);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404"));
  EXPECT_EQ(answer.find("HTTP/1.1", 8), std::string::npos);
}

TEST_F(HostileTest, ServesPipelinedRequests) {
  const RawSocket socket(server_->port());
  const std::string get = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
  socket.send(get + get + "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answers = socket.read_all(5s);
  size_t count = 0;
  for (size_t at = answers.find("HTTP/1.1 200"); at != std::string::npos; at = answers.find("HTTP/1.1 200", at + 1)) ++count;
  EXPECT_EQ(count, 3u);
}

// Slowloris: more slow clients than threads, each dripping a byte now and then. Others are served, and the slow ones are cut off.
TEST_F(HostileTest, IsNotHeldUpBySlowClients) {
  std::vector<std::unique_ptr<RawSocket>> slow;
  for (int i = 0; i < 6; ++i) {
    slow.push_back(std::make_unique<RawSocket>(server_->port()));
    slow.back()->send(i % 2 == 0 ? "GET /health HTTP/1.1\r\nX-Slow: " : post_header(100'000) + "{");
  }
  for (int i = 0; i < 4; ++i) slow.push_back(std::make_unique<RawSocket>(server_->port()));  // and some that say nothing
  const auto started = Clock::now();
  size_t num_cut_off = 0;
  while (num_cut_off < 6 && Clock::now() - started < 20s) {
    num_cut_off = 0;
    for (int i = 0; i < 6; ++i) {
      if (!slow[static_cast<size_t>(i)]->send("a")) ++num_cut_off;
    }
    const auto asked = Clock::now();
    EXPECT_TRUE(is_alive(*server_));
    EXPECT_LT(Clock::now() - asked, 5s);
    std::this_thread::sleep_for(500ms);
  }
  EXPECT_EQ(num_cut_off, 6u);
}

TEST_F(HostileTest, LogsEveryRequestAsOneLineOfJson) {
  httplib::Client client = server_->client();
  client.Get("/health", {{"X-Request-Id", "find-me"}});
  client.Get("/a\"b\n", {{"X-Request-Id", "bad id\""}});
  bool is_found = false;
  for (const json& line : server_->log()) {
    ASSERT_TRUE(line.is_object());
    if (line.value("request_id", "") != "find-me") continue;
    is_found = true;
    EXPECT_EQ(line["method"], "GET");
    EXPECT_EQ(line["path"], "/health");
    EXPECT_EQ(line["status"], 200);
    EXPECT_GT(line["bytes_out"], 100);
    EXPECT_GE(line["ms"], 0);
  }
  EXPECT_TRUE(is_found);
}

TEST(Behaviour, LetsOnePageInWhenToldTo) {
  const ServerProcess server({.arguments = {"--cors-origin", "https://example.org"}});
  httplib::Client client = server.client();
  EXPECT_EQ(client.Get("/health")->get_header_value("Access-Control-Allow-Origin"), "https://example.org");
  const httplib::Result preflight = client.Options("/predict");
  EXPECT_EQ(preflight->status, 204);
  EXPECT_THAT(preflight->get_header_value("Access-Control-Allow-Headers"), HasSubstr("Content-Type"));
}

}  // namespace
}  // namespace pointmap
