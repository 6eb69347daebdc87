// Base64 from outside: any text is either refused or the only one that means its bytes; any bytes come back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "apps/server/base64.h"
#include "pointmap/encode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pointmap::server;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string text;
  pointmap::encode_base64(input, text);
  const auto decoded = decode_base64(text);
  if (!decoded ||
      !std::equal(decoded->begin(), decoded->end(), std::as_bytes(std::span(input)).begin(), std::as_bytes(std::span(input)).end()))
    std::abort();
  // The input as text; the prefix of a data URL, which is skipped, aside.
  if (const auto bytes = decode_base64(input); bytes && !input.starts_with("data:")) {
    text.clear();
    pointmap::encode_base64({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, text);
    if (text != input) std::abort();
  }
  return 0;
}
