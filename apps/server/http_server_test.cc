// The HTTP layer by itself, with handlers of the test: many clients at once, answers that go on and on, and being stopped in the middle.
#include "apps/server/http_server.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "apps/server/api_error.h"

namespace pointmap::server {
namespace {

using namespace std::chrono_literals;

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    file_ = std::filesystem::path(testing::TempDir()) / ("pointmap_http_" + std::to_string(::getpid()));
    std::ofstream(file_) << std::string(300'000, 'f');
    router_.add({"POST", "/echo", [](const HttpRequest& request) { return HttpResponse{.body = request.body}; }});
    router_.add({"GET", "/file", [this](const HttpRequest&) {
                   HttpResponse response;
                   response.file = std::make_shared<FileBody>(file_.string());
                   response.file_begin = 10;
                   response.file_length = 250'000;
                   return response;
                 }});
    router_.add({"GET", "/count", [](const HttpRequest&) {
                   HttpResponse response;
                   response.stream = [n = 0](std::string& out) mutable {
                     out = std::to_string(n) + ";";
                     return ++n < 100;
                   };
                   return response;
                 }});
    router_.add({"GET", "/slow", [](const HttpRequest&) {
                   std::this_thread::sleep_for(200ms);
                   return HttpResponse{.body = "slow"};
                 }});
    router_.add({"GET", "/bug", [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("a bug"); }});
    settings_.num_threads = 8;
    settings_.on_answer = [this](const Answered& answered) {
      ++num_answered_;
      if (answered.status == 200) ++num_ok_;
    };
  }
  ~HttpServerTest() override { std::filesystem::remove(file_); }

  std::filesystem::path file_;
  Router router_;
  HttpSettings settings_;
  std::atomic<int> num_answered_{0}, num_ok_{0};
};

TEST_F(HttpServerTest, ServesManyAtOnce) {
  HttpServer server(router_, settings_);
  std::string counted;
  for (int n = 0; n < 100; ++n) counted += std::to_string(n) + ";";
  std::vector<std::thread> clients;
  for (int c = 0; c < 12; ++c) {
    clients.emplace_back([&, c] {
      httplib::Client client("127.0.0.1", server.port());
      client.set_keep_alive(c % 2 == 0);
      for (int i = 0; i < 10; ++i) {
        const std::string body(static_cast<size_t>(1000 * c + i), 'x');
        EXPECT_EQ(client.Post("/echo", body, "text/plain")->body, body);
        EXPECT_EQ(client.Get("/count")->body, counted);
        EXPECT_EQ(client.Get("/file")->body.size(), 250'000u);
        EXPECT_EQ(client.Get("/bug")->status, 500);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  server.stop();
  EXPECT_EQ(num_answered_, 480);
  EXPECT_EQ(num_ok_, 360);
  EXPECT_EQ(server.num_in_flight(), 0u);
}

TEST_F(HttpServerTest, SendsAnswersOnTheirWayWhenItIsStopped) {
  HttpServer server(router_, settings_);
  std::atomic<int> num_whole{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&] {
      httplib::Client client("127.0.0.1", server.port());
      const httplib::Result result = client.Get("/slow");
      if (result && result->body == "slow") ++num_whole;
    });
  }
  while (server.num_in_flight() < 4) std::this_thread::sleep_for(1ms);
  server.stop();
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(num_whole, 4);
}

TEST_F(HttpServerTest, RefusesAPortThatIsTaken) {
  const HttpServer first(router_, settings_);
  settings_.port = first.port();
  EXPECT_THROW(HttpServer(router_, settings_), Error);
}

TEST_F(HttpServerTest, TurnsAwayWhatItHasNoRoomFor) {
  settings_.num_threads = 1;
  settings_.max_waiting_connections = 1;
  HttpServer server(router_, settings_);
  std::atomic<int> num_served{0}, num_turned_away{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 10; ++c) {
    clients.emplace_back([&] {
      httplib::Client client("127.0.0.1", server.port());
      client.set_keep_alive(false);
      const httplib::Result result = client.Get("/slow");
      if (result && result->status == 200) ++num_served;
      if (!result || result->status == 503) ++num_turned_away;  // the answer can be lost to the reset that follows it
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_GE(num_served, 2);
  EXPECT_GE(num_turned_away, 1);
  EXPECT_EQ(num_served + num_turned_away, 10);
}

}  // namespace
}  // namespace pointmap::server
