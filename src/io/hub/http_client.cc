#include "io/hub/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace pointmap {
namespace {

constexpr size_t kMaxHeaderBytes = size_t{64} << 10;
constexpr long kStallBytesPerS = 1024;

// libcurl wants one initialisation per process; it holds nothing of ours.
void initialize_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

using CurlText = std::unique_ptr<char, decltype(&curl_free)>;

std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  const CurlText owner(text, &curl_free);
  return text;
}

std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parse_url(const std::string& url) {
  std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    throw Error{kCorruptData, "'" + url.substr(0, 200) + "' is not a http or https URL"};
  }
  return parsed;
}

// A proxy for traffic that never leaves the machine is never meant, whatever http_proxy says.
bool is_loopback(const std::string& url) {
  const std::string host = url_part(parse_url(url).get(), CURLUPART_HOST);
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

// Failures of the network, as opposed to ones that the next attempt would meet again.
bool may_help_to_retry(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

}  // namespace

std::string HttpResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string origin_of_url(const std::string& url) {
  const auto parsed = parse_url(url);
  const std::string scheme = url_part(parsed.get(), CURLUPART_SCHEME);
  const std::string host = url_part(parsed.get(), CURLUPART_HOST);
  const bool has_user = !url_part(parsed.get(), CURLUPART_USER).empty() || !url_part(parsed.get(), CURLUPART_PASSWORD).empty();
  if ((scheme != "http" && scheme != "https") || host.empty() || has_user) {
    throw Error{kCorruptData, "'" + url.substr(0, 200) + "' is not a plain http or https URL"};
  }
  return scheme + "://" + host + ":" + url_part(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

// Everything the C callbacks see. No exception may pass through libcurl, so they park it here.
struct HttpClient::State {
  HttpTimeouts timeouts;
  const CancelFlag* cancel = nullptr;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl{nullptr, &curl_easy_cleanup};
  const BodySink* sink = nullptr;
  HttpResponse response;
  size_t header_bytes = 0;
  std::exception_ptr error;

  static size_t on_header(const char* data, size_t, size_t bytes, void* self) {
    return static_cast<State*>(self)->header_line({data, bytes});
  }
  static size_t on_body(const char* data, size_t, size_t bytes, void* self) { return static_cast<State*>(self)->body_piece({data, bytes}); }
  static int on_tick(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const CancelFlag* flag = static_cast<State*>(self)->cancel;
    return flag != nullptr && flag->requested() ? 1 : 0;
  }

  // Returning less than what came makes libcurl stop.
  size_t header_line(std::string_view line) noexcept try {
    header_bytes += line.size();
    if (header_bytes > kMaxHeaderBytes)
      throw Error{kCorruptData, "the server's headers are longer than " + std::to_string(kMaxHeaderBytes) + " bytes"};
    if (line.starts_with("HTTP/")) response.headers.clear();  // an interim answer came before
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return line.size();
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    response.headers[name] = trimmed(line.substr(colon + 1));
    return line.size();
  } catch (...) {
    error = std::current_exception();
    return 0;
  }

  size_t body_piece(std::string_view piece) noexcept try {
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    response.status = static_cast<int>(status);
    if (cancel != nullptr) cancel->throw_if_requested();
    if (*sink) (*sink)(response, std::as_bytes(std::span(piece.data(), piece.size())));
    return piece.size();
  } catch (...) {
    error = std::current_exception();
    return 0;
  }

  void set_options(const HttpRequest& request, const curl_slist* headers);
};

void HttpClient::State::set_options(const HttpRequest& request, const curl_slist* headers) {
  CURL* handle = curl.get();
  curl_easy_reset(handle);  // keeps connections
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "pointmap");
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeouts.connect_ms));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, kStallBytesPerS);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(timeouts.stall_s));
  if (is_loopback(request.url)) curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
  if (request.head) {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeouts.head_total_ms));
  }
  const std::string range = std::to_string(request.range_begin) + "-";
  if (request.range_begin > 0) curl_easy_setopt(handle, CURLOPT_RANGE, range.c_str());  // libcurl copies it
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &State::on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &State::on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &State::on_tick);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, this);
}

HttpClient::HttpClient(const HttpTimeouts& timeouts, const CancelFlag* cancel) : state_(std::make_unique<State>()) {
  initialize_curl();
  state_->timeouts = timeouts;
  state_->cancel = cancel;
  state_->curl.reset(curl_easy_init());
  if (!state_->curl) throw Error{kInternal, "libcurl does not start"};
}

HttpClient::~HttpClient() = default;

HttpResponse HttpClient::send(const HttpRequest& request, const BodySink& sink) {
  POINTMAP_CHECK(std::ranges::none_of(request.token, [](unsigned char c) { return c < 0x21 || c > 0x7e; }),
                 "the access token (HF_TOKEN) holds a space or a control character");
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(nullptr, &curl_slist_free_all);
  const auto add_header = [&](const std::string& line) { headers.reset(curl_slist_append(headers.release(), line.c_str())); };
  add_header("Accept-Encoding: identity");  // sizes and hashes are those of the file itself
  if (!request.token.empty()) add_header("Authorization: Bearer " + request.token);

  state_->response = {};
  state_->header_bytes = 0;
  state_->error = nullptr;
  state_->sink = &sink;
  state_->set_options(request, headers.get());
  const CURLcode code = curl_easy_perform(state_->curl.get());
  if (state_->error) std::rethrow_exception(state_->error);
  if (state_->cancel != nullptr) state_->cancel->throw_if_requested();

  HttpResponse response = std::move(state_->response);
  long status = 0;
  curl_easy_getinfo(state_->curl.get(), CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  const char* redirect = nullptr;
  curl_easy_getinfo(state_->curl.get(), CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) response.redirect_url = redirect;
  if (code == CURLE_OK) return response;
  const std::string why = "'" + request.url + "': " + curl_easy_strerror(code);
  if (!may_help_to_retry(code)) throw Error{kIoError, why};
  response.broken = why;
  return response;
}

}  // namespace pointmap
