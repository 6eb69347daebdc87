// Who may use the server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pointmap::server {

class ApiKeys {
 public:
  // `text`: one key a line; blank lines and those that begin with # are skipped. Throws Error{kInvalidArgument} naming `file` when there is
  // no key in it, or one of under 8 characters.
  static ApiKeys parse(std::string_view text, const std::string& file);
  // Throws Error{kNotFound, kIoError} too.
  static ApiKeys read(const std::string& file);

  // "key 2" for the second key of the file, from "Bearer KEY". Throws ApiError 401.
  std::string client_of(std::string_view authorization) const;

 private:
  std::vector<std::string> keys_;
};

}  // namespace pointmap::server
