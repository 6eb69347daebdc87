// One connection as cpp-httplib reads and writes it, with a limit to everything: bytes of the header, bytes of the body, and the time that
// a client may keep us waiting. A client that is slow, silent or gone costs its own connection and nothing else.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "apps/server/stream_limits.h"

namespace pointmap::server {

class TimedStream : public httplib::Stream {
 public:
  // Does not own the socket.
  TimedStream(socket_t socket, const StreamLimits& limits);

  // Waits for the first byte of another request. False: none came, or the client is gone. `keep_waiting` is asked every 50 ms or so.
  bool wait_for_request(std::chrono::milliseconds timeout, const std::function<bool()>& keep_waiting);
  // Call before each request: counters and clocks begin anew.
  void begin_request();
  // When the header is read and says how long the body is: whether the next request begins where the body ends is known only then.
  static constexpr uint64_t kUnknown = UINT64_MAX;
  void expect_body(uint64_t bytes) { expected_body_bytes_ = bytes; }
  bool body_was_read() const { return body_bytes_ == expected_body_bytes_; }
  uint64_t bytes_read() const { return header_bytes_ + body_bytes_; }
  uint64_t bytes_written() const { return written_bytes_; }
  bool timed_out() const { return timed_out_; }
  // Reads and drops what the client still sends, for at most `timeout`, after telling it that we are done: closing at once would reset
  // the connection and could take the answer away from a client that has not read it yet.
  void linger(std::chrono::milliseconds timeout);

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* out, size_t bytes) override;
  ssize_t write(const char* data, size_t bytes) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool wait(short events, std::chrono::milliseconds budget);
  std::chrono::milliseconds read_budget() const;
  std::chrono::milliseconds paced(uint64_t bytes, Clock::duration waited) const;
  ssize_t fill();
  void count(const char* data, size_t bytes);

  socket_t socket_;
  StreamLimits limits_;
  std::array<char, 65536> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool in_header_ = true;
  int line_ends_ = 0;  // how much of "\r\n\r\n" was seen
  uint64_t header_bytes_ = 0;
  uint64_t body_bytes_ = 0;
  uint64_t expected_body_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  Clock::time_point header_began_ = Clock::now();
  Clock::duration waited_to_read_{};
  Clock::duration waited_to_write_{};
  bool timed_out_ = false;
};

}  // namespace pointmap::server
