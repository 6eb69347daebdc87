// What a family of networks does between prepared photos and a scene. All the rest of a reconstruction is the same for every family:
// see session.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "kernels/ops.h"
#include "nn/rope2d.h"
#include "pointmap/pointmap.h"
#include "recon/memory_plan.h"
#include "recon/model_loader.h"
#include "recon/preprocess.h"

namespace pointmap {

// What the caller knows of one photo.
struct KnownView {
  std::optional<Intrinsics> intrinsics = {};  // in pixels of the photo
  std::vector<uint8_t> mask = {};             // of the network's picture: see SceneView::mask
};

// A photo on its way to a view of the scene.
struct RunView {
  std::string source;  // the file as the caller named it
  PreparedView prepared;
  size_t photo = 0;  // its place among the caller's photos
  KnownView known = {};
};

// Notes what took how long, one stage after another.
class StageLog {
 public:
  explicit StageLog(std::vector<StageTime>& stages) : stages_(stages) {}
  void done(const char* stage) { stages_.push_back({stage, watch_.lap_ms()}); }
  // Of two stages that took turns on all threads: the time since the last one, shared out as the threads' time was.
  void done_in_turns(const StageTime& first, const StageTime& second) {
    const double elapsed_ms = watch_.lap_ms();
    const double threads_ms = first.ms + second.ms;
    const double first_ms = threads_ms > 0 ? elapsed_ms * first.ms / threads_ms : elapsed_ms;
    stages_.push_back({first.stage, first_ms});
    stages_.push_back({second.stage, elapsed_ms - first_ms});
  }

 private:
  std::vector<StageTime>& stages_;
  Stopwatch watch_;
};

// One network, for one run after another.
class FamilyRun {
 public:
  virtual ~FamilyRun() = default;

  // How many photos a run takes, at least and at most.
  struct ViewCount {
    size_t min = 1;
    size_t max = 1;
  };
  virtual ViewCount view_count() const = 0;
  // Throws Error{kUnsupported} for an option that this family has no answer to.
  virtual void check_options(const ReconstructOptions& options) const = 0;
  virtual NetworkSize network_size() const = 0;
  // Whether all pictures of a run must have one size.
  virtual bool wants_one_size() const = 0;

  // Of pictures that are prepared; views are within view_count(), here and in run().
  virtual MemoryPlan plan(const std::vector<RunView>& views, const ReconstructOptions& options) const = 0;

  virtual void load(Ops& ops, const Progress& progress) = 0;
  // After load(). Appends a view to result.scene for each of `views`, and to result.report what only the family knows: stages through
  // `log`, encoded views, the pose and its notes.
  virtual void run(Ops& ops, std::vector<RunView> views, const ReconstructOptions& options, StageLog& log, Reconstruction& result) = 0;
};

// `model` must outlive what is returned.
std::unique_ptr<FamilyRun> make_family_run(const OpenedModel& model);

// The patches of the prepared picture.
PatchGrid grid_of(const RunView& view, int64_t patch_size);

// What every family fills in alike: source, transform and image.
SceneView begin_view(RunView view);

}  // namespace pointmap
