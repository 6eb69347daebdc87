// The body of POST /v1/reconstruct: photos and masks as files of a form, and a part "options" in JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/server/http_message.h"
#include "apps/server/model_set.h"
#include "pointmap/export.h"

namespace pointmap::server {

struct NativeRequest {
  size_t model = 0;
  std::vector<Photo> photos;  // named after their fields, "images[0]": so messages speak of the request
  // [photos] What files of the result call them: what the client does, without folders, where that is a name and no other photo's.
  std::vector<std::string> file_names;
  ReconstructOptions options;
  ExportOptions files;
  bool all_formats = false;  // all that the scene can be written in
  std::optional<bool> wait;  // as asked for
};

// Throws ApiError: 415 for another content type, 400 for a body that is not well formed, 413 for too many photos, 422 naming the field for
// a value that will not do or an option that is not known.
NativeRequest parse_native_request(const HttpRequest& request, const std::vector<ServedModel>& models, size_t max_views);

}  // namespace pointmap::server
