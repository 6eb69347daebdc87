// Scene after scene: run the pair, compare with the truth, and with what is easy to be better than.
#pragma once

#include <filesystem>
#include <functional>

#include "pointmap/eval.h"

namespace pointmap {

// Two photos to a scene with cameras. What runs the network is the caller's, so that tests can put the truth in its place.
using RunPair = std::function<Reconstruction(const std::vector<Photo>& photos, const ReconstructOptions& options)>;

// As evaluate() of the public header; `model` names the model in the result.
EvalResult evaluate_scenes(const RunPair& run_pair, const std::filesystem::path& folder, const EvalOptions& options);

}  // namespace pointmap
