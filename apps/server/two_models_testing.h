// The models of a server that is not there, for tests and fuzzers of requests: one for pairs, one for any number of photos.
#pragma once

#include <vector>

#include "apps/server/model_set.h"

namespace pointmap::server {

inline std::vector<ServedModel> two_models() {
  std::vector<ServedModel> models(2);
  models[0].name = "pair";
  models[0].info.family = "dust3r";
  models[1].name = "many";
  models[1].info.family = "vggt";
  return models;
}

}  // namespace pointmap::server
