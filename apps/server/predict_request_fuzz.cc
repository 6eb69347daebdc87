// The body of /predict: any bytes either give photos or an ApiError. Covers JSON and base64.
#include <cstdint>
#include <cstdlib>

#include "apps/server/base64.h"
#include "apps/server/predict_request.h"
#include "pointmap/encode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pointmap::server;
  static const std::vector<ServedModel> models = [] {
    std::vector<ServedModel> two(2);
    two[0].name = "a";
    two[0].info.family = "dust3r";
    two[1].name = "b";
    two[1].info.family = "vggt";
    return two;
  }();
  HttpRequest request;
  request.headers["content-type"] = "application/json";
  request.body.assign(reinterpret_cast<const char*>(data), size);
  request.body.reserve(size + kBodyPadding);
  try {
    const PredictRequest parsed = parse_predict_request(request, models, {});
    if (parsed.photos.empty() || parsed.model >= models.size()) std::abort();
  } catch (const ApiError&) {
  }
  // What decodes must encode to the same text: no two texts mean the same bytes.
  if (const auto bytes = decode_base64(request.body); bytes && !request.body.starts_with("data:")) {
    std::string text;
    encode_base64({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, text);
    if (text != request.body) std::abort();
  }
  return 0;
}
