// A JSON body of megabytes, read by simdjson, and values taken from it by name with the complaints a client needs.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

#include "apps/server/http_message.h"

namespace pointmap::server {

class JsonBody {
 public:
  // Throws ApiError 415 unless the content type is application/json, 400 for what is no JSON object or has very many values.
  explicit JsonBody(const HttpRequest& request);

  // Empty when the field is absent or null. The views live as long as this object. Throw ApiError 422 for another type.
  std::optional<std::string_view> text(std::string_view field) const;
  std::optional<bool> boolean(std::string_view field) const;
  std::optional<simdjson::dom::array> array(std::string_view field) const;

 private:
  std::optional<simdjson::dom::element> find(std::string_view field) const;

  simdjson::dom::parser parser_;
  simdjson::dom::object object_;
};

}  // namespace pointmap::server
