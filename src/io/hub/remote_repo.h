// What the hub says about the files of one repository. Private to this folder.
//
// GET or HEAD of ENDPOINT/ORG/NAME/resolve/REVISION/FILE answers with the file, or with a redirect to where its contents lie.
// The answer (of the endpoint, not of the storage behind it) carries X-Repo-Commit and, for large files, X-Linked-Etag (SHA-256) and
// X-Linked-Size; for small files ETag (git blob hash) and Content-Length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/hub/fetch.h"
#include "io/hub/http_client.h"

namespace pointmap {

struct RemoteFile {
  std::string commit;  // 40 hex digits, or empty when the server does not say
  std::string hash;    // is_content_hash()
  uint64_t bytes = 0;
};

// The origin of to_url, or Error{kCorruptData} naming both when from_url must not lead there: another scheme than http and https, a
// user name in the URL, or http after https.
std::string origin_after_redirect(const std::string& from_url, const std::string& to_url);

// Sends the request and follows up to 5 redirects, http(s) only and never from https to http; the token goes to the origin of the
// first URL alone. With stop_at_other_origin the redirect that leaves that origin is returned instead. X-Repo-Commit and X-Linked-*
// of earlier hops are kept. Throws what HttpClient::send throws, Error{kCorruptData} naming the URL for a redirect it refuses.
HttpResponse send_following_redirects(HttpClient& client, HttpRequest request, const HttpClient::BodySink& sink, bool stop_at_other_origin);

// Whether trying again later may help: 408, 429, 5xx.
bool is_transient_status(int status);
// Throws the Error for an answer that is none of 200, 206 and transient.
[[noreturn]] void throw_for_status(const HttpResponse& response, const std::string& url, bool has_token);

class RemoteRepo {
 public:
  // The client, the environment and the options must outlive this object.
  RemoteRepo(HttpClient& client, const HubEnvironment& environment, const FetchOptions& options, const std::string& repo)
      : client_(client), environment_(environment), options_(options), repo_(repo) {}

  std::string url(const std::string& revision, const std::string& file) const;
  // Nothing when the repository has no such file in this revision. Throws like fetch_model.
  std::optional<RemoteFile> look_up(const std::string& revision, const std::string& file) const;

 private:
  HttpClient& client_;
  const HubEnvironment& environment_;
  const FetchOptions& options_;
  const std::string& repo_;
};

}  // namespace pointmap
