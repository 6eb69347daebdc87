// The body of /v1/reconstruct: any options, and any form, either give a request that the library would look at, or an ApiError.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/server/native_request.h"
#include "apps/server/two_models_testing.h"

namespace {

using namespace pointmap::server;

void parse(const std::string& body) {
  static const std::vector<ServedModel> models = two_models();
  HttpRequest request;
  request.headers["content-type"] = "multipart/form-data; boundary=x";
  request.body = body;
  try {
    const NativeRequest parsed = parse_native_request(request, models, 4);
    const size_t num_photos = parsed.photos.size();
    const pointmap::KnownInputs& known = parsed.options.known;
    if (num_photos == 0 || num_photos > 4 || parsed.file_names.size() != num_photos || parsed.model >= models.size()) std::abort();
    for (const size_t count : {known.masks.size(), known.poses.world_from_cam.size()}) {
      if (count != 0 && count != num_photos) std::abort();
    }
    for (const std::string& name : parsed.file_names) {
      if (name.empty() || name.find('/') != std::string::npos) std::abort();
    }
    // A mask without bytes and with a name would be read from a file of ours.
    for (const pointmap::Photo& mask : known.masks) {
      if (mask.bytes.empty() && !mask.name.empty()) std::abort();
    }
  } catch (const ApiError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  parse(text);
  const std::string part = "--x\r\nContent-Disposition: form-data; name=";
  parse(part + "images; filename=a.jpg\r\n\r\n1\r\n" + part + "images\r\n\r\n2\r\n" + part + "options\r\n\r\n" + text + "\r\n--x--\r\n");
  return 0;
}
