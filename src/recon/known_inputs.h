// What the caller knows, on its way to the views that it is about.
#pragma once

#include <string>
#include <vector>

#include "recon/family_run.h"

namespace pointmap {

// What is known of the photo at an index.
KnownView known_view(const KnownInputs& known, size_t photo);

// What can be refused when the photos have been read: throws Error{kInvalidArgument} naming the photos. Adds notes about what looks
// strange.
void check_known_views(const std::vector<RunView>& views, const KnownInputs& known, std::vector<std::string>& notes);

// For a network that says a lens for every view: known lenses take their place; shared, the median of all focal lengths that the network
// says, of both axes, in pixels of the photos. known: of each view of the scene, in the photo's pixels.
void replace_lenses(Scene& scene, const std::vector<KnownView>& known, bool shared, std::vector<std::string>& notes);

// What is left to do when the scene is there, its views the photos' in their order: known poses, the scale, and the report about it all.
void apply_known_inputs(Scene& scene, const KnownInputs& known, RunReport& report);

}  // namespace pointmap
