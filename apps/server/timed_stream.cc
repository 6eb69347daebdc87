#include "apps/server/timed_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pointmap::server {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

using NameFunction = int (*)(int, sockaddr*, socklen_t*);

void read_address(NameFunction name_of, socket_t socket, std::string& ip, int& port) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  char text[INET6_ADDRSTRLEN] = "";
  ip.clear();
  port = 0;
  if (name_of(socket, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
    port = ntohs(v6.sin6_port);
  }
  ip = text;
}

}  // namespace

TimedStream::TimedStream(socket_t socket, const StreamLimits& limits) : socket_(socket), limits_(limits) {}

bool TimedStream::wait(short events, milliseconds budget) {
  pollfd entry{.fd = socket_, .events = events, .revents = 0};
  const Clock::time_point until = Clock::now() + budget;
  while (true) {
    const milliseconds left = std::max(duration_cast<milliseconds>(until - Clock::now()), milliseconds(0));
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<int64_t>(left.count(), 1 << 30)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool TimedStream::wait_for_request(milliseconds timeout, const std::function<bool()>& keep_waiting) {
  if (begin_ < end_) return true;  // pipelined
  constexpr milliseconds kStep{50};
  for (milliseconds waited{0}; waited <= timeout && keep_waiting(); waited += kStep) {
    if (wait(POLLIN, kStep)) return fill() > 0;
  }
  return false;
}

void TimedStream::begin_request() {
  in_header_ = true;
  line_ends_ = 0;
  header_bytes_ = body_bytes_ = expected_body_bytes_ = written_bytes_ = 0;
  header_began_ = Clock::now();
  waited_to_read_ = waited_to_write_ = {};
}

void TimedStream::linger(milliseconds timeout) {
  ::shutdown(socket_, SHUT_WR);
  const Clock::time_point until = Clock::now() + timeout;
  begin_ = end_ = 0;
  while (Clock::now() < until && wait(POLLIN, duration_cast<milliseconds>(until - Clock::now())) && fill() > 0) begin_ = end_ = 0;
}

milliseconds TimedStream::paced(uint64_t bytes, Clock::duration waited) const {
  const milliseconds allowed = limits_.grace + milliseconds(1000 * bytes / std::max<uint64_t>(limits_.min_bytes_per_second, 1));
  return std::max(allowed - duration_cast<milliseconds>(waited), milliseconds(0));
}

milliseconds TimedStream::read_budget() const {
  if (!in_header_) return paced(body_bytes_, waited_to_read_);
  return std::max(limits_.header_time - duration_cast<milliseconds>(Clock::now() - header_began_), milliseconds(0));
}

// Receives into the empty buffer without waiting.
ssize_t TimedStream::fill() {
  ssize_t got = 0;
  do {
    got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  begin_ = 0;
  end_ = got > 0 ? static_cast<size_t>(got) : 0;
  return got;
}

bool TimedStream::is_readable() const {
  return const_cast<TimedStream*>(this)->begin_ < end_ || const_cast<TimedStream*>(this)->wait(POLLIN, read_budget());
}

bool TimedStream::is_writable() const {
  return const_cast<TimedStream*>(this)->wait(POLLOUT, paced(written_bytes_, waited_to_write_));
}

void TimedStream::count(const char* data, size_t bytes) {
  if (!in_header_) {
    body_bytes_ += bytes;
    return;
  }
  // The header is read line by line, byte by byte; nothing of the body comes along.
  header_bytes_ += bytes;
  for (size_t i = 0; i < bytes; ++i) {
    constexpr char kEnd[] = "\r\n\r\n";
    line_ends_ = data[i] == kEnd[line_ends_] ? line_ends_ + 1 : (data[i] == '\r' ? 1 : 0);
    if (line_ends_ == 4) in_header_ = false;
  }
}

ssize_t TimedStream::read(char* out, size_t bytes) {
  if (in_header_ ? header_bytes_ >= limits_.max_header_bytes : body_bytes_ >= limits_.max_body_bytes) return -1;
  if (begin_ == end_) {
    ssize_t got = fill();
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      const Clock::time_point before = Clock::now();
      const milliseconds budget = read_budget();
      const bool has_come = wait(POLLIN, budget) && (in_header_ || budget.count() > 0);
      waited_to_read_ += Clock::now() - before;
      if (!has_come) {
        timed_out_ = true;
        return -1;
      }
      got = fill();
    }
    if (got <= 0) return got;
  }
  const size_t some = std::min(bytes, end_ - begin_);
  std::memcpy(out, buffer_.data() + begin_, some);
  begin_ += some;
  count(out, some);
  return static_cast<ssize_t>(some);
}

ssize_t TimedStream::write(const char* data, size_t bytes) {
  while (true) {
    const ssize_t sent = ::send(socket_, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
      written_bytes_ += static_cast<uint64_t>(sent);
      return sent;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    const Clock::time_point before = Clock::now();
    const milliseconds budget = paced(written_bytes_, waited_to_write_);
    const bool is_ready = budget.count() > 0 && wait(POLLOUT, budget);
    waited_to_write_ += Clock::now() - before;
    if (!is_ready) {
      timed_out_ = true;
      return -1;
    }
  }
}

void TimedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  read_address(::getpeername, socket_, ip, port);
}

void TimedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  read_address(::getsockname, socket_, ip, port);
}

}  // namespace pointmap::server
