// The body of /predict: any bytes either give photos or an ApiError. What base64 itself must keep is in base64_fuzz.
#include <cstdint>
#include <cstdlib>

#include "apps/server/predict_request.h"

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
  return 0;
}
