#include "apps/server/http_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "apps/server/api_error.h"
#include "apps/server/connection_threads.h"
#include "apps/server/request_check.h"
#include "apps/server/text.h"
#include "apps/server/timed_stream.h"

namespace pointmap::server {

namespace {

using Clock = std::chrono::steady_clock;

// A request between its header and its answer.
struct Exchange {
  Exchange(TimedStream& of_stream) : stream(of_stream) {}
  TimedStream& stream;
  HttpRequest request;
  const Route* route = nullptr;
  BodyLength body;
  std::optional<ApiError> refusal;  // decided from the header
  int status = 0;
};

void put_pieces(HttpResponse& response, httplib::Response& out) {
  size_t total = 0;
  for (const std::string_view piece : response.pieces) total += piece.size();
  const auto send = [pieces = std::move(response.pieces), memory = std::move(response.pieces_memory)](size_t offset, size_t,
                                                                                                      httplib::DataSink& sink) {
    for (const std::string_view piece : pieces) {
      if (offset < piece.size()) return sink.write(piece.data() + offset, piece.size() - offset);
      offset -= piece.size();
    }
    return false;
  };
  out.set_content_provider(total, response.content_type, send);
}

void put(HttpResponse response, httplib::Response& out) {
  out.status = response.status;
  for (auto& [name, value] : response.headers) out.set_header(name, value);
  if (response.stream) {
    out.set_chunked_content_provider(response.content_type, [stream = response.stream](size_t, httplib::DataSink& sink) {
      std::string bytes;
      const bool more = stream(bytes);
      if (!bytes.empty() && !sink.write(bytes.data(), bytes.size())) return false;
      if (!more) sink.done();
      return true;
    });
  } else if (!response.pieces.empty()) {
    put_pieces(response, out);
  } else if (response.file && response.file_length > 0) {
    const auto send = [file = response.file, begin = response.file_begin](size_t offset, size_t length, httplib::DataSink& sink) {
      char bytes[64 << 10];
      const size_t got = file->read(begin + offset, bytes, std::min(length, sizeof(bytes)));
      return got > 0 && sink.write(bytes, got);
    };
    out.set_content_provider(static_cast<size_t>(response.file_length), response.content_type, send);
  } else if (!response.body.empty() || response.status != 204) {
    out.body = std::move(response.body);
    out.set_header("Content-Type", response.content_type);
  }
}

}  // namespace

class HttpServer::Impl : public httplib::Server {
 public:
  Impl(const Router& router, HttpSettings settings) : router_(router), settings_(std::move(settings)) {
    register_handlers();
    set_tcp_nodelay(true);
    // The library's default lets two servers share a port without a word.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    new_task_queue = [this] {
      auto threads = std::make_unique<ConnectionThreads>(settings_.num_threads, settings_.max_waiting_connections);
      threads_ = threads.get();
      return threads.release();  // the library owns it
    };
    port_ = settings_.port == 0 ? bind_to_any_port(settings_.host) : (bind_to_port(settings_.host, settings_.port) ? settings_.port : -1);
    if (port_ <= 0) throw Error{kIoError, "cannot listen on " + settings_.host + ":" + std::to_string(settings_.port) + ": is it in use?"};
    ::listen(svr_sock_, 1024);  // the library asks for 5, too few for a burst
    accepting_ = std::thread([this] {
      accepting_id_ = std::this_thread::get_id();
      listen_after_bind();
    });
    while (!is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  ~Impl() override { stop_all(); }

  void stop_all() {
    stopping_ = true;
    stop();
    if (accepting_.joinable()) accepting_.join();
  }

  int port() const { return port_; }
  size_t num_in_flight() const {
    const std::lock_guard lock(mutex_);
    return exchanges_.size();
  }

 private:
  void register_handlers() {
    const auto without_body = [this](const httplib::Request& in, httplib::Response& out) { answer(in, out, nullptr); };
    const auto with_body = [this](const httplib::Request& in, httplib::Response& out, const httplib::ContentReader& reader) {
      answer(in, out, &reader);
    };
    Get(".*", without_body);
    Post(".*", with_body);
    Delete(".*", with_body);
    set_pre_routing_handler([this](const httplib::Request& in, httplib::Response& out) {
      Exchange* exchange = find(in);
      if (exchange == nullptr || (!exchange->refusal && exchange->route != nullptr)) return HandlerResponse::Unhandled;
      answer(in, out, nullptr);
      return HandlerResponse::Handled;
    });
    set_expect_100_continue_handler([this](const httplib::Request& in, httplib::Response& out) {
      Exchange* exchange = find(in);
      if (exchange == nullptr || !exchange->refusal) return 100;
      answer(in, out, nullptr);
      return out.status;
    });
    set_error_handler(HandlerWithResponse([](const httplib::Request&, httplib::Response& out) {
      if (out.body.empty()) {
        const char* code = out.status == 416 ? "range_not_satisfiable" : "bad_request";
        put(error_response({out.status, code, "the request is not well formed"}, request_id_from("")), out);
      }
      return HandlerResponse::Handled;
    }));
    set_logger([this](const httplib::Request& in, const httplib::Response& out) {
      if (Exchange* exchange = find(in)) {
        exchange->status = out.status;
      } else if (settings_.on_answer) {
        settings_.on_answer({.method = "-", .path = "-", .client = in.remote_addr, .request_id = "-", .route = "", .status = out.status});
      }
    });
  }

  Exchange* find(const httplib::Request& in) const {
    const std::lock_guard lock(mutex_);
    const auto found = exchanges_.find(&in);
    return found == exchanges_.end() ? nullptr : found->second.get();
  }

  // The header is read.
  void begin(httplib::Request& in, TimedStream& stream) {
    auto exchange = std::make_unique<Exchange>(stream);
    HttpRequest& request = exchange->request;
    std::multimap<std::string, std::string> headers;
    for (const auto& [name, value] : in.headers) headers.emplace(lower_case(name), value);
    for (const auto& [name, value] : headers) request.headers.try_emplace(name, value);
    for (const auto& [name, value] : in.params) request.query.try_emplace(name, value);
    request.method = in.method;
    request.path = in.path;
    request.client = in.remote_addr;
    request.request_id = request_id_from(std::string(request.header("x-request-id")));
    try {
      exchange->body = body_length(headers, settings_.max_body_bytes);
      route(*exchange, in.remote_addr);
    } catch (const ApiError& error) {
      exchange->refusal = error;
    }
    // Where the body is not read to a known end, nobody can tell where the next request begins.
    const bool is_last = (exchange->refusal && headers.contains("content-length")) || headers.contains("transfer-encoding");
    if (is_last) {
      in.headers.erase("Connection");
      in.headers.emplace("Connection", "close");
    }
    stream.expect_body(is_last ? TimedStream::kUnknown : exchange->body.bytes);
    // We read multipart bodies and ranges ourselves, and do not compress: floats shrink little, and it takes longer than a network does.
    in.headers.erase("Content-Type");
    in.headers.erase("Accept-Encoding");
    in.ranges.clear();
    const std::lock_guard lock(mutex_);
    exchanges_[&in] = std::move(exchange);
  }

  void route(Exchange& exchange, const std::string& address) {
    HttpRequest& request = exchange.request;
    if (request.method == "OPTIONS" && !settings_.cors_origin.empty()) return;  // answered without a route
    FoundRoute found = router_.find(request.method, request.path);
    exchange.route = found.route;
    request.path_parameters = std::move(found.path_parameters);
    if (settings_.authenticate && !found.route->is_open) {
      request.client = settings_.authenticate(std::string(request.header("authorization")), address);
    }
  }

  // Answered, or given up.
  void end(const httplib::Request* in) {
    std::unique_ptr<Exchange> exchange;
    {
      const std::lock_guard lock(mutex_);
      const auto found = exchanges_.find(in);
      if (found == exchanges_.end()) return;
      exchange = std::move(found->second);
      exchanges_.erase(found);
    }
    if (!settings_.on_answer) return;
    const HttpRequest& request = exchange->request;
    settings_.on_answer({.method = request.method,
                         .path = request.path,
                         .client = request.client,
                         .request_id = request.request_id,
                         .route = exchange->route != nullptr ? exchange->route->pattern : "",
                         .status = exchange->status,
                         .bytes_in = exchange->stream.bytes_read(),
                         .bytes_out = exchange->stream.bytes_written(),
                         .ms = std::chrono::duration<double, std::milli>(Clock::now() - request.started).count()});
  }

  void read_body(Exchange& exchange, const httplib::ContentReader& reader) const {
    std::string& body = exchange.request.body;
    body.reserve(static_cast<size_t>(exchange.body.bytes) + kBodyPadding);
    bool is_too_large = false;
    const bool is_whole = reader([&](const char* bytes, size_t count) {
      is_too_large = body.size() + count > settings_.max_body_bytes;
      if (!is_too_large) body.append(bytes, count);
      return !is_too_large;
    });
    if (is_too_large) throw ApiError{413, "body_too_large", "at most " + std::to_string(settings_.max_body_bytes) + " bytes are read"};
    if (!is_whole && exchange.stream.timed_out()) throw ApiError{408, "too_slow", "the body came too slowly"};
    if (!is_whole) throw ApiError{400, "bad_request", "the body ended early or its chunks are not well formed"};
    body.reserve(body.size() + kBodyPadding);  // chunked: the length was not known
  }

  HttpResponse make_answer(Exchange& exchange, const httplib::ContentReader* reader) const {
    const std::string& id = exchange.request.request_id;
    try {
      if (exchange.refusal) throw ApiError(*exchange.refusal);
      if (exchange.route == nullptr) return {.status = 204};  // preflight
      if (reader != nullptr && exchange.body.has_body()) read_body(exchange, *reader);
      return exchange.route->handler(exchange.request);
    } catch (const std::exception&) {
      return error_response(current_error("not enough memory for this request"), id);
    }
  }

  void answer(const httplib::Request& in, httplib::Response& out, const httplib::ContentReader* reader) {
    Exchange* exchange = find(in);
    if (exchange == nullptr) return;
    HttpResponse response = make_answer(*exchange, reader);
    response.headers.emplace_back("X-Request-Id", exchange->request.request_id);
    if (!settings_.cors_origin.empty()) {
      response.headers.emplace_back("Access-Control-Allow-Origin", settings_.cors_origin);
      response.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE");
      response.headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Request-Id");
      response.headers.emplace_back("Access-Control-Expose-Headers", "X-Request-Id, X-Pointmap-Meta, Location, Retry-After");
    }
    put(std::move(response), out);
  }

  // The library's own loop waits for a slow client as long as it pleases to send a byte every few seconds; ours does not.
  bool process_and_close_socket(socket_t socket) override {
    if (std::this_thread::get_id() == accepting_id_) {
      turn_away(socket);
    } else {
      TimedStream stream(socket, settings_.stream);
      serve(stream);
    }
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return true;
  }

  // No thread is free and the line is full.
  static void turn_away(socket_t socket) {
    constexpr char kAnswer[] =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n"
        "Content-Length: 108\r\n\r\n"
        "{\"error\":{\"code\":\"too_many_connections\",\"message\":\"all connections are taken\",\"field\":null,\"request_id\":\"\"}}";
    static_assert(sizeof("{\"error\":{\"code\":\"too_many_connections\",\"message\":\"all connections are taken\",\"field\":null,\"request_"
                         "id\":\"\"}}") == 109);
    [[maybe_unused]] const ssize_t sent = ::send(socket, kAnswer, sizeof(kAnswer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  void serve(TimedStream& stream) {
    for (size_t n = 0; n < settings_.max_requests_per_connection; ++n) {
      const Clock::time_point idle_since = Clock::now();
      // A client that says nothing makes room when others wait for a thread, but not at once: a request of its own may be on its way.
      const auto may_stay = [&] {
        if (stopping_) return false;
        return !threads_->is_crowded() || Clock::now() - idle_since < std::chrono::milliseconds(n == 0 ? 500 : 1000);
      };
      if (!stream.wait_for_request(settings_.idle_time, may_stay)) return;
      stream.begin_request();
      bool is_closed = false;
      const httplib::Request* request = nullptr;
      // When others wait, the answer says that it is the last one here.
      const bool is_last = n + 1 == settings_.max_requests_per_connection || stopping_ || threads_->is_crowded();
      const bool is_sent = process_request(stream, is_last, is_closed, [&](httplib::Request& in) {
        request = &in;
        begin(in, stream);
      });
      end(request);
      if (request == nullptr || !stream.body_was_read()) return stream.linger(std::chrono::milliseconds(1000));
      if (!is_sent || is_closed || is_last) return;
    }
  }

  const Router& router_;
  const HttpSettings settings_;
  ConnectionThreads* threads_ = nullptr;  // the library's, alive while connections are
  int port_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread accepting_;
  std::atomic<std::thread::id> accepting_id_;
  mutable std::mutex mutex_;
  std::map<const httplib::Request*, std::unique_ptr<Exchange>> exchanges_;  // one for each connection at most
};

HttpServer::HttpServer(const Router& router, HttpSettings settings) : impl_(std::make_unique<Impl>(router, std::move(settings))) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return impl_->port();
}

size_t HttpServer::num_in_flight() const {
  return impl_->num_in_flight();
}

void HttpServer::stop() {
  impl_->stop_all();
}

}  // namespace pointmap::server
