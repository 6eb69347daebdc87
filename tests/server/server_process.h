// A real `pointmap serve` process on a port of its own, its log, and ways to talk to it, polite and not.
#pragma once

#include <httplib.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pointmap {

// Serves "demo" unless the arguments name models; without warm-up unless asked for.
class ServerProcess {
 public:
  struct Options {
    std::vector<std::string> arguments = {};
    std::vector<std::string> environment = {};  // "NAME=value", beside ours
    bool wait_until_ready = true;
  };
  explicit ServerProcess(const Options& options);
  ServerProcess() : ServerProcess(Options{}) {}
  // Stops it if it still runs. Fails the test when it does not end with 0, or wrote anything but events: a sanitizer's report, say.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  int port() const { return port_; }
  pid_t pid() const { return pid_; }
  httplib::Client client() const;

  void signal(int number) const;
  // The exit code, or -number of the signal; -1000 when it still runs after `timeout`.
  int wait_for_exit(std::chrono::milliseconds timeout);
  // The lines of the log so far, each parsed.
  std::vector<nlohmann::json> log() const;
  // The first event of that name; waits for it, and fails the test when it does not come.
  nlohmann::json wait_for_event(const std::string& event, std::chrono::milliseconds timeout = std::chrono::seconds(60)) const;
  std::string log_text() const;
  // Resident bytes now.
  size_t resident_bytes() const;

 private:
  pid_t pid_ = -1;
  int port_ = 0;
  std::filesystem::path log_path_;
};

// A connection where a test says every byte.
class RawSocket {
 public:
  explicit RawSocket(int port);
  ~RawSocket();
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  bool send(const std::string& bytes) const;  // false: the other side is gone
  void finish_sending() const;
  // Until the other side closes, or for `timeout`.
  std::string read_all(std::chrono::milliseconds timeout) const;
  bool is_closed_within(std::chrono::milliseconds timeout) const;

 private:
  int descriptor_ = -1;
};

// A PNG of a smooth pattern as bytes; other seeds give other pictures.
std::string test_png(int width, int height, int seed);
std::string base64_of(const std::string& bytes);
// {"image1", "image2", "preprocess": "keep"}: two pictures of that size for demo.
nlohmann::json pair_request(int width = 96, int height = 64, int seed = 1);

}  // namespace pointmap
