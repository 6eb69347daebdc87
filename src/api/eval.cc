// The public face of evaluation: a Reconstructor for whoever runs the pairs.
#include "pointmap/eval.h"

#include "eval/evaluate.h"

namespace pointmap {

EvalResult evaluate(Reconstructor& reconstructor, const std::filesystem::path& folder, const EvalOptions& options) {
  const RunPair run_pair = [&](const std::vector<Photo>& photos, const ReconstructOptions& run_options) {
    return reconstructor.reconstruct(photos, run_options);
  };
  return evaluate_scenes(run_pair, folder, options);
}

}  // namespace pointmap
