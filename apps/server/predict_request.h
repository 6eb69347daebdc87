// The body of POST /predict and /predict_npz: JSON with photos in base64.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/server/http_message.h"
#include "apps/server/model_set.h"
#include "pointmap/pointmap.h"

namespace pointmap::server {

struct PredictLimits {
  size_t max_views = 32;
  bool compress_npz = false;  // when the request does not say
};

struct PredictRequest {
  size_t model = 0;
  std::vector<Photo> photos;  // named after their fields: "image1", "images[0]"
  bool wants_png = false;
  bool return_pose = false;
  bool compress_npz = false;
  std::string preset;
  double decode_ms = 0;  // JSON and base64
};

// Throws ApiError: 415 for another content type, 400 for a body that is no JSON object, 422 naming the field for a value that will not do.
// Fields that are not known are ignored, as the seeds' server did. `request.body` has room for kBodyPadding bytes more.
PredictRequest parse_predict_request(const HttpRequest& request, const std::vector<ServedModel>& models, const PredictLimits& limits);

}  // namespace pointmap::server
