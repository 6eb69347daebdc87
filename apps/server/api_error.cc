#include "apps/server/api_error.h"

#include <nlohmann/json.hpp>

namespace pointmap::server {

namespace {

int status_of(ErrorCode code) {
  switch (code) {
    case kInvalidArgument:
    case kCorruptData:
      return 422;
    case kUnsupported:
      return 415;
    case kLimitExceeded:
      return 413;
    case kNotFound:
      return 404;
    case kCancelled:
      return 503;
    case kIoError:
    case kInternal:
      return 500;
  }
  return 500;
}

// "image1" of "image1: JPEG is truncated"; fields have no spaces, sentences do.
std::string field_of(const std::string& message) {
  const size_t colon = message.find(": ");
  if (colon == std::string::npos || !message.starts_with("image")) return "";
  const std::string field = message.substr(0, colon);
  return field.find(' ') == std::string::npos ? field : "";
}

}  // namespace

ApiError api_error_from(const Error& error) {
  return {status_of(error.code()), std::string(error_code_name(error.code())), error.what(), field_of(error.what())};
}

HttpResponse error_response(const ApiError& error, const std::string& request_id) {
  nlohmann::ordered_json body = {{"code", error.code}, {"message", error.what()}, {"field", nullptr}, {"request_id", request_id}};
  if (!error.field.empty()) body["field"] = error.field;
  HttpResponse response;
  response.status = error.status;
  // What a client sent may stand in the message and need be no UTF-8.
  response.body = nlohmann::ordered_json{{"error", body}}.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (error.retry_after_s > 0) response.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace pointmap::server
