// Pointmap: photographs in, 3D out. This is the page to read.
//
//   pointmap::Reconstructor reconstructor = pointmap::Reconstructor::open("dust3r");
//   pointmap::Reconstruction result = reconstructor.reconstruct({{"left.jpg"}, {"right.jpg"}});
//   for (const pointmap::SceneView& view : result.scene.views) use(view.points, view.confidence);
//   pointmap::export_scene(result.scene, "out", {});                            // pointmap/export.h
//
// With a VGGT model any number of photos, from one up, and cameras and depth for each: examples/many.cc. Folders and patterns of photos:
// pointmap/photos.h.
// Everything that fails throws pointmap::Error, whose message names the file or tensor. The library never prints and never exits.
// A Reconstructor runs one reconstruction at a time; use one per thread, or a queue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pointmap/error.h"
#include "pointmap/known_inputs.h"
#include "pointmap/photos.h"
#include "pointmap/progress.h"
#include "pointmap/scene.h"

namespace pointmap {

// "0.1.0"
std::string_view version();
// "pointmap 0.1.0", as files name their generator.
std::string generator_name();
// That built the library: "GCC 12.2.0".
std::string_view compiler();

struct LoadOptions {
  int num_threads = 0;              // 0: all cores that this process may use. Results do not depend on it.
  std::string precision = "fp32";   // the only one so far
  uint64_t memory_limit_bytes = 0;  // work that is predicted to need more is refused; 0: what the machine has free
};

// How the cameras of a pair are found. All of them decode the pair in both directions: the focal length of each view follows from its
// points in its own frame, the second camera's place from its points in the first one's frame (PnP).
enum class PoseMode {
  // Three maps: both views in the frame of view 1, and view 2 in its own. Points stay as the network gave them. The lens is taken to
  // point at the middle of the photo.
  kRaw,
  // The same cameras; the points are made anew from depth, each on the ray of its pixel, so that they fit the cameras exactly.
  kReprojected,
  // Upstream's PairViewer exactly: a fourth map (one more head) decides which of the two directions is trusted, points are made anew from
  // depth, confidences are the higher of both directions, and the lens points at (W/2, H/2), half a pixel beside the middle.
  kUpstream,
  // No PnP: the second camera from view 2's points in both frames, as the rotation, scale and shift between them by least squares, the
  // rotation averaged with that of view 1's points in both frames (a fourth map). Points stay. For networks whose points are too rough
  // for PnP, which asks that they lie on the rays of a lens: a bend that both maps of a view share does not matter here. On held-out
  // scenes a half-trained demo model was wrong by 19 degrees with PnP and by 6.5 with this.
  kAligned,
};

std::string_view pose_mode_name(PoseMode mode);  // "raw", "reprojected", "upstream", "aligned"
// Throws Error{kInvalidArgument} naming the word and listing the names.
PoseMode parse_pose_mode(std::string_view name);

struct ReconstructOptions {
  // How photos become the network's input. For every model: "keep", the long side as the model was trained on; for DUSt3R cropped to
  // multiples of 16, squares stay square; for VGGT whole, the short side scaled to a multiple of 14.
  // For DUSt3R: "dust3r" (upstream's loader at 512, squares become 4:3), "dust3r224", "pad512" (centred on a grey square).
  // For VGGT: "vggt_crop" and "vggt_pad" (upstream's loader, its two modes), "pad518" (centred on a white square). Its pictures must have
  // one size: when they differ, the smaller ones are centred on white, as upstream does it.
  std::string preset = "keep";
  bool skip_bad = false;  // go on without photos that cannot be read; their views say why
  bool keep_raw = false;  // also keep the network's values before activation
  // DUSt3R: also fill SceneView::camera and depth, which takes a second decoder pass and one more head. VGGT always has both.
  bool pose = false;
  std::optional<PoseMode> pose_mode = {};     // of DUSt3R; empty: what suits the model, see default_pose_mode
  uint64_t max_pixels = uint64_t{256} << 20;  // of one photo; checked before decoding
  KnownInputs known = KnownInputs();          // what the caller knows about the photos; all but masks needs `pose` for DUSt3R
  Progress progress = {};                     // called on the calling thread
};

struct ModelInfo {
  std::string name;         // as the caller named it
  std::string family;       // "dust3r" or "vggt"
  std::string path;         // file or folder; empty for demo and synthetic models
  std::string fingerprint;  // tells checkpoints apart; empty for synthetic models
  std::string dtype;        // of the weights in the file, "F32"; several are joined by '+'
  std::string license;      // of the weights, as far as we know
  int64_t num_parameters = 0;
  size_t num_tensors = 0;
  std::vector<std::string> notes;  // what the user might wonder about
};

// kAligned for "demo", kRaw for others.
PoseMode default_pose_mode(const ModelInfo& model);

struct StageTime {
  std::string stage;
  double ms = 0;
};

// How well the second camera of a pair was found, before a known one took its place.
struct PoseReport {
  PoseMode mode = PoseMode::kRaw;
  std::string status = "ok";            // "doubtful": few of the points agree; "failed": view 2 is left where view 1 stands
  std::string reason;                   // why it is not ok
  double rotation_deg = 0;              // between the two cameras
  size_t num_points = 0;                // confident pixels that were asked
  size_t num_inliers = 0;               // of these, within 5 pixels of where the camera found sees them
  std::array<double, 2> focal_px = {};  // of each view, in network pixels
  bool from_exchanged_views = false;    // kUpstream: the pass with the views exchanged was the more confident one
  std::vector<std::string> notes;       // what the user might wonder about
};

// What of KnownInputs was used.
struct KnownReport {
  size_t num_intrinsics = 0;  // views
  bool shared_intrinsics = false;
  size_t num_masks = 0;
  size_t num_poses = 0;
  std::string scale_from;    // "poses", "baseline", "distance"; empty when the scale is not known
  std::string scale_status;  // of these "ok", or "failed": lengths are as the network said them, Scene::scale is unknown
  std::string scale_reason;  // why it is not ok
  double scale_factor = 1;   // metres per unit of the network
};

struct RunReport {
  std::string device;  // "cpu AVX3"
  std::string cpu;     // the processor's name
  int num_threads = 0;
  std::string precision;
  std::string preset;
  std::vector<StageTime> stages;     // in order; together the whole run
  uint64_t predicted_bytes = 0;      // of memory, before the work started
  uint64_t weights_bytes = 0;        // in the kernels' layout
  uint64_t activations_bytes = 0;    // highest during the run
  uint64_t peak_resident_bytes = 0;  // of the whole process, since it began
  int num_encoded = 0;               // photos that went through the encoder; the others were remembered from earlier runs
  std::optional<PoseReport> pose;    // when asked for
  KnownReport known;
  std::vector<std::string> notes;

  double total_ms() const {
    double total = 0;
    for (const StageTime& stage : stages) total += stage.ms;
    return total;
  }
};

struct Reconstruction {
  Scene scene;
  RunReport report;
};

class Reconstructor {
 public:
  // model: a .safetensors file, an index or a folder; "hf:ORG/NAME[@REV]" or a short name such as "dust3r", looked up in the
  // Hugging Face cache (see download_model in pointmap/models.h); "demo", a small model inside this library, trained on synthetic scenes
  // only (see also default_model in pointmap/models.h); or "synthetic:dust3r-512-dpt", "synthetic:dust3r-tiny",
  // "synthetic:dust3r-tiny-linear", "synthetic:vggt-1b", "synthetic:vggt-tiny", whose weights are made from their names and show
  // exactness, not geometry.
  // Reads headers only: what does not fit is found here, the weights are loaded by load() or the first reconstruct().
  static Reconstructor open(const std::string& model, const LoadOptions& options = {});
  ~Reconstructor();
  Reconstructor(Reconstructor&&) noexcept;
  Reconstructor& operator=(Reconstructor&&) noexcept;

  const ModelInfo& model() const;
  // Loads the weights now, so that the first reconstruct() is as quick as the next. Cancelled by progress.cancel.
  void load(const Progress& progress = {});
  // DUSt3R takes exactly two photos, VGGT one or more; the first one's camera is the frame of reference. Photos are decoded and memory is
  // predicted before any heavy work. Views come in the order of the photos.
  Reconstruction reconstruct(const std::vector<Photo>& photos, const ReconstructOptions& options = {});

 private:
  struct Impl;
  explicit Reconstructor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pointmap
