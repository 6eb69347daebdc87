#include "recon/family_run.h"

#include "recon/dust3r_run.h"
#include "recon/vggt_run.h"

namespace pointmap {

std::unique_ptr<FamilyRun> make_family_run(const OpenedModel& model) {
  if (std::holds_alternative<Dust3rConfig>(model.config())) return std::make_unique<Dust3rRun>(model);
  return std::make_unique<VggtRun>(model);
}

PatchGrid grid_of(const RunView& view, int64_t patch_size) {
  return {view.prepared.image.height / patch_size, view.prepared.image.width / patch_size};
}

SceneView begin_view(RunView view) {
  SceneView result;
  result.source = std::move(view.source);
  result.mask = std::move(view.known.mask);
  result.transform = view.prepared.transform;
  result.image = std::move(view.prepared.image);
  return result;
}

}  // namespace pointmap
