#include "io/hub/remote_repo.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "io/hub/backoff.h"
#include "io/hub/digest.h"

namespace pointmap {
namespace {

constexpr int kMaxRedirects = 5;

// An ETag without its quotes and weakness mark, in lowercase.
std::string hash_from_etag(std::string etag, const std::string& url) {
  if (etag.starts_with("W/")) etag.erase(0, 2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  std::ranges::transform(etag, etag.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (is_content_hash(etag)) return etag;
  std::ranges::replace_if(
      etag, [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  throw Error{kCorruptData,
              "'" + url + "': the server gives '" + etag.substr(0, 100) + "' as hash of the file, wanted 40 or 64 hex digits"};
}

uint64_t size_from_header(const std::string& text, const std::string& url) {
  uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error == std::errc() && end == text.data() + text.size()) return bytes;
  throw Error{kCorruptData, "'" + url + "': the server does not say how long the file is"};
}

// A revision with slashes (refs/pr/1) is one part of the URL.
std::string quoted_revision(const std::string& revision) {
  std::string quoted;
  for (const char c : revision) quoted += c == '/' ? std::string("%2F") : std::string(1, c);
  return quoted;
}

RemoteFile remote_file_from(const HttpResponse& response, const std::string& url) {
  RemoteFile file;
  file.commit = response.header("x-repo-commit");
  if (!file.commit.empty() && !is_commit_hash(file.commit)) throw Error{kCorruptData, "'" + url + "': the server gives a malformed commit"};
  // A redirect's own ETag and length are not those of the file.
  const bool own = !response.is_redirect();
  const std::string linked_etag = response.header("x-linked-etag"), linked_size = response.header("x-linked-size");
  file.hash = hash_from_etag(linked_etag.empty() && own ? response.header("etag") : linked_etag, url);
  file.bytes = size_from_header(linked_size.empty() && own ? response.header("content-length") : linked_size, url);
  return file;
}

}  // namespace

std::string origin_after_redirect(const std::string& from_url, const std::string& to_url) {
  std::string origin;
  try {
    origin = origin_of_url(to_url);
  } catch (const Error& error) {
    throw Error{kCorruptData, "'" + from_url + "' redirects, but " + error.what()};
  }
  if (origin_of_url(from_url).starts_with("https:") && origin.starts_with("http:")) {
    throw Error{kCorruptData, "'" + from_url + "' redirects from https to http"};
  }
  return origin;
}

HttpResponse send_following_redirects(HttpClient& client, HttpRequest request, const HttpClient::BodySink& sink,
                                      bool stop_at_other_origin) {
  const std::string first_origin = origin_of_url(request.url);
  const std::string token = request.token;
  std::map<std::string, std::string> kept;
  for (int hop = 0; hop <= kMaxRedirects; ++hop) {
    HttpResponse response = client.send(request, sink);
    for (const char* name : {"x-repo-commit", "x-linked-etag", "x-linked-size"}) {
      if (response.headers.contains(name)) kept[name] = response.headers[name];
    }
    response.headers.insert(kept.begin(), kept.end());
    if (!response.broken.empty() || !response.is_redirect()) return response;
    const std::string origin = origin_after_redirect(request.url, response.redirect_url);
    if (origin != first_origin && stop_at_other_origin) return response;
    request.token = origin == first_origin ? token : "";
    request.url = response.redirect_url;
  }
  throw Error{kCorruptData, "'" + request.url + "': more than " + std::to_string(kMaxRedirects) + " redirects"};
}

bool is_transient_status(int status) {
  return status == 408 || status == 429 || (status >= 500 && status <= 599);
}

void throw_for_status(const HttpResponse& response, const std::string& url, bool has_token) {
  const std::string reason = "'" + url + "' answers " + std::to_string(response.status);
  if (response.status == 401 || response.status == 403) {
    throw Error{kIoError, reason + ": the repository does not exist, is private, or wants its terms accepted; " +
                              (has_token ? "the token in HF_TOKEN may not read it" : "if you may read it, set HF_TOKEN")};
  }
  if (response.status == 404) throw Error{kNotFound, reason + ": there is no such repository, revision or file"};
  throw Error{kIoError, reason + ", which is not an answer we understand"};
}

std::string RemoteRepo::url(const std::string& revision, const std::string& file) const {
  return environment_.endpoint + "/" + repo_ + "/resolve/" + quoted_revision(revision) + "/" + file;
}

std::optional<RemoteFile> RemoteRepo::look_up(const std::string& revision, const std::string& file) const {
  const std::string file_url = url(revision, file);
  Backoff backoff(options_.max_attempts, options_.first_pause_ms, options_.cancel);
  while (true) {
    const HttpResponse response = send_following_redirects(client_, {.url = file_url, .token = environment_.token, .head = true}, nullptr,
                                                           /*stop_at_other_origin=*/true);
    if (!response.broken.empty()) {
      backoff.failed(response.broken);
    } else if (is_transient_status(response.status)) {
      backoff.failed("'" + file_url + "' answers " + std::to_string(response.status));
    } else if (response.status == 200 || response.is_redirect()) {
      return remote_file_from(response, file_url);
    } else if (const std::string code = response.header("x-error-code");
               response.status == 404 && code != "RepoNotFound" && code != "RevisionNotFound") {
      return std::nullopt;
    } else {
      throw_for_status(response, file_url, !environment_.token.empty());
    }
  }
}

}  // namespace pointmap
