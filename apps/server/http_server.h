// HTTP on a port: the only part of the server that knows cpp-httplib. It reads requests within limits, finds their route, turns what a
// handler throws into the one error shape, and tells an observer about every answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apps/server/http_message.h"
#include "apps/server/router.h"
#include "apps/server/stream_limits.h"

namespace pointmap::server {

// What is known of a request once it is answered.
struct Answered {
  std::string method, path, client, request_id;
  std::string route;  // the pattern, or "" when there was none
  int status = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  double ms = 0;
};

struct HttpSettings {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any
  size_t num_threads = 16;
  size_t max_waiting_connections = 512;
  size_t max_requests_per_connection = 1000;
  std::chrono::milliseconds idle_time{5'000};  // between requests of one connection
  StreamLimits stream;
  uint64_t max_body_bytes = uint64_t{64} << 20;
  std::string cors_origin;  // empty: none
  // Who sent this, from the header "authorization" ("" when there is none) and the address; throws ApiError 401. Empty: the address.
  std::function<std::string(const std::string& authorization, const std::string& address)> authenticate;
  std::function<void(const Answered&)> on_answer;  // called on the connection's thread
};

class HttpServer {
 public:
  // Binds and listens, throws Error{kIoError} when it cannot. `router` must outlive it.
  HttpServer(const Router& router, HttpSettings settings);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  size_t num_in_flight() const;  // requests being read, worked on or answered
  // Closes the port, lets answers on their way be sent, joins all threads.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pointmap::server
