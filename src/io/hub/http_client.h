// One HTTP request at a time, with libcurl. Redirects are reported, not followed, so that every hop is looked at. Private to this
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/cancel.h"

namespace pointmap {

struct HttpTimeouts {
  int connect_ms = 15'000;
  int stall_s = 30;            // slower than 1 KiB/s for this long counts as broken
  int head_total_ms = 60'000;  // a whole request without a body
};

struct HttpRequest {
  std::string url;
  std::string token;         // sent as bearer token; empty is none
  bool head = false;         // headers only
  uint64_t range_begin = 0;  // bytes to skip; 0 asks for the whole
};

struct HttpResponse {
  int status = 0;                              // 0 when no answer came
  std::map<std::string, std::string> headers;  // names in lowercase; of several lines with one name the last
  std::string redirect_url;                    // absolute; set for a redirect
  std::string broken;                          // why the connection failed, when trying again may help; else empty

  std::string header(const std::string& name) const;  // empty when absent
  bool is_redirect() const { return status >= 300 && status < 400 && status != 304; }
};

// "https://host:443" of an http or https URL. Throws Error{kCorruptData} naming the URL for any other, or one with a user name in it.
std::string origin_of_url(const std::string& url);

class HttpClient {
 public:
  HttpClient(const HttpTimeouts& timeouts, const CancelFlag* cancel);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Gets pieces of the body together with the status and headers; what it throws ends the request and comes out of send().
  using BodySink = std::function<void(const HttpResponse& head, std::span<const std::byte> piece)>;

  // Throws Error{kIoError} naming the URL for what cannot be cured by trying again (a bad certificate, say), Error{kCorruptData} for
  // headers beyond 64 KiB, Error{kCancelled}. The connection is kept for the next request.
  HttpResponse send(const HttpRequest& request, const BodySink& sink = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pointmap
