// The one shape of every error that a client sees: {"error": {"code", "message", "field", "request_id"}}.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "apps/server/http_message.h"
#include "pointmap/error.h"

namespace pointmap::server {

// Thrown by handlers, turned into a response at the edge.
struct ApiError : std::runtime_error {
  ApiError(int http_status, std::string error_code, const std::string& message, std::string of_field = "")
      : std::runtime_error(message), status(http_status), code(std::move(error_code)), field(std::move(of_field)) {}
  // One that goes away by itself.
  ApiError(int http_status, std::string error_code, const std::string& message, int retry_after)
      : std::runtime_error(message), status(http_status), code(std::move(error_code)), retry_after_s(retry_after) {}

  int status;
  std::string code;       // for machines, stable: see docs/serving.md
  std::string field;      // of the request, "images[1]"; empty when it is about no single one
  int retry_after_s = 0;  // 0: no Retry-After
};

// What went wrong in the library, said in HTTP. Photos are named after their fields, and the library's messages begin with the photo.
ApiError api_error_from(const Error& error);

// The exception that is being handled, as a client is told: in a catch block only. out_of_memory: the message when that is what it is.
ApiError current_error(const char* out_of_memory);

// Without request_id: as part of a job.
nlohmann::ordered_json error_json(const ApiError& error);

HttpResponse error_response(const ApiError& error, const std::string& request_id);

}  // namespace pointmap::server
