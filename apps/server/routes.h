// The groups of routes. Each adds its own to the router and keeps what it needs.
#pragma once

#include <memory>

#include "apps/server/router.h"
#include "apps/server/serving.h"

namespace pointmap::server {

void add_info_routes(Router& router, Serving& serving);  // /health, /ready, /info, /v1/models
class Metrics;
class NativeJobs;
void add_native_routes(Router& router, Serving& serving, NativeJobs& jobs);                          // /v1/reconstruct, /v1/jobs/...
void add_metrics_route(Router& router, Serving& serving, const NativeJobs& jobs, Metrics& metrics);  // /metrics
void add_page_routes(Router& router);                                                                // /openapi.json, /
void add_predict_routes(Router& router, Serving& serving);                                           // /predict, /predict_npz

}  // namespace pointmap::server
