#include "recon/default_model.h"

#include "base/error.h"
#include "io/hub/hub_cache.h"

namespace pointmap {

DefaultModel default_model_for(const HubEnvironment& environment) {
  try {
    const ResolvedModel cached = resolve_model(parse_model_name("dust3r"), environment);
    return {.name = "dust3r", .notice = "no model named: using dust3r from the Hugging Face cache"};
  } catch (const Error& error) {
    if (error.code() != kNotFound) throw;
  }
  return {.name = "demo",
          .notice =
              "no model named: using demo, a small one trained on synthetic scenes only; for photographs get trained weights with "
              "'pointmap fetch dust3r' (2.3 GB, CC BY-NC-SA 4.0, non-commercial)"};
}

}  // namespace pointmap
