// The body of /predict: any bytes either give photos or an ApiError. What base64 itself must keep is in base64_fuzz.
#include <cstdint>
#include <cstdlib>

#include "apps/server/predict_request.h"
#include "apps/server/two_models_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pointmap::server;
  static const std::vector<ServedModel> models = two_models();
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
