// Clients that keep the HTTP layer waiting: none of its waits is without an end, and what ends it is the client's own connection only.
#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "apps/server/http_server.h"

namespace pointmap::server {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A connection that says what it is told to and reads only when asked.
class Connection {
 public:
  explicit Connection(int port, int receive_buffer_bytes = 0) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer_bytes > 0) ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof(receive_buffer_bytes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~Connection() { ::close(descriptor_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(const std::string& bytes) const {
    EXPECT_EQ(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void finish_sending() const { ::shutdown(descriptor_, SHUT_WR); }
  // All that comes until the server closes.
  std::string read_all() const {
    std::string all;
    char bytes[4096];
    for (ssize_t got; (got = ::recv(descriptor_, bytes, sizeof(bytes), 0)) > 0;) all.append(bytes, static_cast<size_t>(got));
    return all;
  }

 private:
  int descriptor_;
};

class HttpWaitsTest : public testing::Test {
 protected:
  HttpWaitsTest() {
    file_ = std::filesystem::path(testing::TempDir()) / ("pointmap_http_waits_" + std::to_string(::getpid()));
    std::ofstream(file_).close();
    std::filesystem::resize_file(file_, kFileBytes);
    router_.add({"POST", "/echo", [](const HttpRequest& request) { return HttpResponse{.body = request.body}; }});
    router_.add({"GET", "/file", [this](const HttpRequest&) {
                   HttpResponse response;
                   response.file = std::make_shared<FileBody>(file_.string());
                   response.file_length = kFileBytes;
                   return response;
                 }});
    settings_.num_threads = 2;
    settings_.idle_time = 300ms;
    settings_.stream.header_time = settings_.stream.grace = 300ms;
    settings_.stream.min_bytes_per_second = 1u << 30;  // the grace is all there is
    settings_.on_answer = [this](const Answered& answered) {
      if (answered.route == "/file") file_bytes_out_ = answered.bytes_out;
    };
  }
  ~HttpWaitsTest() override { std::filesystem::remove(file_); }

  static constexpr uint64_t kFileBytes = 64 << 20;  // more than sockets hold for a reader that does not read
  std::filesystem::path file_;
  Router router_;
  HttpSettings settings_;
  std::atomic<uint64_t> file_bytes_out_{0};
};

TEST_F(HttpWaitsTest, CutsOffAClientThatDoesNotReadItsAnswer) {
  HttpServer server(router_, settings_);
  const Connection deaf(server.port(), 4096);
  deaf.send("GET /file HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto started = Clock::now();
  while (file_bytes_out_ == 0 && Clock::now() - started < 20s) {
    std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(httplib::Client("127.0.0.1", server.port()).Post("/echo", "others", "text/plain"));
  }
  EXPECT_GT(file_bytes_out_, 0u);
  EXPECT_LT(file_bytes_out_, kFileBytes);
  EXPECT_LT(deaf.read_all().size(), kFileBytes);
}

TEST_F(HttpWaitsTest, ClosesConnectionsThatSayNothing) {
  HttpServer server(router_, settings_);
  const Connection silent(server.port());
  EXPECT_EQ(silent.read_all(), "");
  const Connection silent_afterwards(server.port());
  silent_afterwards.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_TRUE(silent_afterwards.read_all().ends_with("\r\n\r\nhi"));
}

TEST_F(HttpWaitsTest, GivesUpOnHeadersAndBodiesThatStop) {
  HttpServer server(router_, settings_);
  const Connection header(server.port());
  header.send("POST /echo HT");
  const Connection body(server.port());
  body.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
  header.read_all();
  EXPECT_TRUE(body.read_all().starts_with("HTTP/1.1 408"));
  EXPECT_EQ(server.num_in_flight(), 0u);
}

// Half of each is all there will be: no reason to wait for the rest of the time.
TEST_F(HttpWaitsTest, KnowsAHalfClosedConnection) {
  settings_.idle_time = settings_.stream.header_time = settings_.stream.grace = 60s;
  HttpServer server(router_, settings_);
  const auto started = Clock::now();
  const Connection nothing(server.port()), header(server.port()), body(server.port()), whole(server.port());
  nothing.finish_sending();
  nothing.read_all();
  header.send("POST /echo HT");
  header.finish_sending();
  header.read_all();
  body.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
  body.finish_sending();
  EXPECT_TRUE(body.read_all().starts_with("HTTP/1.1 400"));
  whole.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nwhole");
  whole.finish_sending();
  EXPECT_TRUE(whole.read_all().ends_with("\r\n\r\nwhole"));
  EXPECT_LT(Clock::now() - started, 15s);
}

}  // namespace
}  // namespace pointmap::server
