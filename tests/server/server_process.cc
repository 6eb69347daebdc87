#include "server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "pointmap/encode.h"

extern char** environ;

namespace pointmap {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

ServerProcess::ServerProcess(const Options& options) {
  static std::atomic<int> counter{0};
  log_path_ = std::filesystem::temp_directory_path() /
              ("pointmap_server_" + std::to_string(::getpid()) + "_" + std::to_string(counter.fetch_add(1)) + ".log");
  std::vector<std::string> arguments = {POINTMAP_PROGRAM, "serve", "--port", "0", "--no-warm-up"};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  if (std::find(arguments.begin(), arguments.end(), "-m") == arguments.end()) arguments.insert(arguments.end(), {"-m", "demo"});
  std::vector<char*> argv, envp;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<std::string> environment = options.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  for (std::string& variable : environment) envp.push_back(variable.data());
  envp.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, log_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  const int error = ::posix_spawn(&pid_, POINTMAP_PROGRAM, &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " POINTMAP_PROGRAM);
  port_ = wait_for_event("listening").value("port", 0);
  if (options.wait_until_ready) wait_for_event("ready");
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    // Not kill -9: sanitizers tell of leaks at the end of main, and of races with the exit code.
    signal(SIGTERM);
    EXPECT_EQ(wait_for_exit(std::chrono::seconds(60)), 0) << log_text();
  }
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const nlohmann::json& line : log()) EXPECT_TRUE(line.is_object()) << "not an event, but a complaint? " << log_text();
  std::error_code ignored;
  std::filesystem::remove(log_path_, ignored);
}

httplib::Client ServerProcess::client() const {
  httplib::Client client("127.0.0.1", port_);
  client.set_read_timeout(120);
  client.set_keep_alive(true);
  return client;
}

void ServerProcess::signal(int number) const {
  ::kill(pid_, number);
}

int ServerProcess::wait_for_exit(milliseconds timeout) {
  for (const auto until = Clock::now() + timeout; Clock::now() < until; std::this_thread::sleep_for(milliseconds(5))) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  return -1000;
}

std::vector<nlohmann::json> ServerProcess::log() const {
  std::ifstream file(log_path_);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    lines.push_back(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false));
  }
  return lines;
}

std::string ServerProcess::log_text() const {
  std::ostringstream text;
  text << std::ifstream(log_path_).rdbuf();
  return text.str();
}

nlohmann::json ServerProcess::wait_for_event(const std::string& event, milliseconds timeout) const {
  for (const auto until = Clock::now() + timeout; Clock::now() < until; std::this_thread::sleep_for(milliseconds(5))) {
    for (const nlohmann::json& line : log()) {
      if (line.is_object() && line.value("event", "") == event) return line;
    }
  }
  ADD_FAILURE() << "no event '" << event << "' in:\n" << log_text();
  return nlohmann::json::object();
}

size_t ServerProcess::resident_bytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

RawSocket::RawSocket(int port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) throw std::runtime_error("cannot connect");
}

RawSocket::~RawSocket() {
  ::close(descriptor_);
}

bool RawSocket::send(const std::string& bytes) const {
  return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

void RawSocket::finish_sending() const {
  ::shutdown(descriptor_, SHUT_WR);
}

std::string RawSocket::read_all(milliseconds timeout) const {
  std::string all;
  const auto until = Clock::now() + timeout;
  while (Clock::now() < until) {
    pollfd entry{.fd = descriptor_, .events = POLLIN, .revents = 0};
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (::poll(&entry, 1, static_cast<int>(left.count())) <= 0) break;
    char bytes[65536];
    const ssize_t got = ::recv(descriptor_, bytes, sizeof(bytes), 0);
    if (got <= 0) break;
    all.append(bytes, static_cast<size_t>(got));
  }
  return all;
}

bool RawSocket::is_closed_within(milliseconds timeout) const {
  const auto until = Clock::now() + timeout;
  read_all(timeout);
  return Clock::now() < until;
}

std::string test_png(int width, int height, int seed) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) image.rgb.push_back(static_cast<uint8_t>((x * (2 + c) + y * 3 + seed * 41) & 255));
    }
  }
  return encode_png(image);
}

std::string base64_of(const std::string& bytes) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint32_t bits = 0;
  int num_bits = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(byte);
    for (num_bits += 8; num_bits >= 6; num_bits -= 6) text.push_back(kAlphabet[bits >> (num_bits - 6) & 63]);
  }
  if (num_bits > 0) text.push_back(kAlphabet[bits << (6 - num_bits) & 63]);
  while (text.size() % 4 != 0) text.push_back('=');
  return text;
}

nlohmann::json pair_request(int width, int height, int seed) {
  return {{"image1", base64_of(test_png(width, height, seed))},
          {"image2", base64_of(test_png(width, height, seed + 1))},
          {"preprocess", "keep"}};
}

}  // namespace pointmap
