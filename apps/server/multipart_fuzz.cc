// Forms from outside: any bytes either give parts that lie within the body, or an ApiError.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apps/server/api_error.h"
#include "apps/server/multipart.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pointmap::server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The first line is the content type.
  const size_t line_end = std::min(text.find('\n'), text.size());
  const std::string_view body = text.substr(std::min(line_end + 1, text.size()));
  for (const std::string_view type : {text.substr(0, line_end), std::string_view("multipart/form-data; boundary=x")}) {
    try {
      for (const FormPart& part : parse_multipart(body, type, 100)) {
        if (part.content.data() < body.data() || part.content.data() + part.content.size() > body.data() + body.size()) std::abort();
      }
    } catch (const ApiError&) {
    }
  }
  return 0;
}
