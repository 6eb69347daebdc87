#include "apps/server/api_error.h"

#include <new>

#include "apps/server/known_request.h"
#include "apps/server/text.h"

namespace pointmap::server {

namespace {

constexpr int kRetryAfterS = 5;  // of a 503 that does not know better: cancelled, out of memory

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
  if (std::string field = known_field_of(message); !field.empty()) return field;
  const size_t colon = message.find(": ");
  if (colon == std::string::npos || !(message.starts_with("image") || message.starts_with("masks["))) return "";
  const std::string field = message.substr(0, colon);
  return field.find(' ') == std::string::npos ? field : "";
}

}  // namespace

ApiError api_error_from(const Error& error) {
  return {status_of(error.code()), std::string(error_code_name(error.code())), error.what(), field_of(error.what())};
}

ApiError current_error(const char* out_of_memory) {
  try {
    throw;
  } catch (const ApiError& error) {
    return error;
  } catch (const Error& error) {
    return api_error_from(error);
  } catch (const std::bad_alloc&) {
    return {503, "out_of_memory", out_of_memory};
  } catch (const std::exception& error) {
    return {500, "internal", error.what()};
  }
}

nlohmann::ordered_json error_json(const ApiError& error) {
  nlohmann::ordered_json json = {{"code", error.code}, {"message", error.what()}, {"field", nullptr}};
  if (!error.field.empty()) json["field"] = error.field;
  return json;
}

HttpResponse error_response(const ApiError& error, const std::string& request_id) {
  nlohmann::ordered_json body = error_json(error);
  body["request_id"] = request_id;
  HttpResponse response;
  response.status = error.status;
  response.body = text_of({{"error", body}});
  const int retry_after_s = error.status == 503 && error.retry_after_s == 0 ? kRetryAfterS : error.retry_after_s;
  if (retry_after_s > 0) response.headers.emplace_back("Retry-After", std::to_string(retry_after_s));
  if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace pointmap::server
