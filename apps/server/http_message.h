// What a handler gets and gives: plain structs, so that no handler knows which HTTP library runs below.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pointmap::server {

struct HttpRequest {
  std::string method;
  std::string path;                                    // decoded
  std::map<std::string, std::string> headers;          // names in lower case; of repeated ones the first
  std::map<std::string, std::string> query;            // of repeated ones the first
  std::map<std::string, std::string> path_parameters;  // of the route, {id}
  std::string body;                                    // with room for kBodyPadding more bytes
  std::string client;                                  // who asks: the name of the key, or the address
  std::string request_id;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  // "" when it is not there. `name` in lower case.
  std::string_view header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
};

// What simdjson wants to be able to read behind the body.
inline constexpr size_t kBodyPadding = 64;

// A part of a file that is already open: it can be sent whole even if its name goes away meanwhile.
class FileBody {
 public:
  // Throws Error{kNotFound, kIoError} naming the path.
  explicit FileBody(const std::string& path);
  ~FileBody();
  FileBody(const FileBody&) = delete;
  FileBody& operator=(const FileBody&) = delete;

  uint64_t size() const { return size_; }
  // At most `bytes` from `offset` on; 0 at the end. Throws Error{kIoError}.
  size_t read(uint64_t offset, char* out, size_t bytes) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Instead of body: these, one after the other, and what holds them.
  std::vector<std::string_view> pieces = {};
  std::vector<std::shared_ptr<const void>> pieces_memory = {};
  // Instead of body: bytes [file_begin, file_begin + file_length) of a file.
  std::shared_ptr<const FileBody> file = {};
  uint64_t file_begin = 0;
  uint64_t file_length = 0;
  // Instead of all: called again and again, each time appends what is to be sent next and returns whether more will come. Must return
  // within a second or so, with nothing if need be, so that a client that left is noticed.
  std::function<bool(std::string& out)> stream = {};
};

}  // namespace pointmap::server
