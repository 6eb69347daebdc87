// Pointmap: photographs in, 3D out. This is the page to read.
//
//   pointmap::Reconstructor reconstructor = pointmap::Reconstructor::open("dust3r");
//   pointmap::Reconstruction result = reconstructor.reconstruct({{"left.jpg"}, {"right.jpg"}});
//   for (const pointmap::SceneView& view : result.scene.views) use(view.points, view.confidence);
//   pointmap::export_scene(result.scene, "out", {});                            // pointmap/export.h
//
// Everything that fails throws pointmap::Error, whose message names the file or tensor. The library never prints and never exits.
// A Reconstructor runs one reconstruction at a time; use one per thread, or a queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pointmap/error.h"
#include "pointmap/progress.h"
#include "pointmap/scene.h"

namespace pointmap {

// "0.1.0"
std::string_view version();

struct LoadOptions {
  int num_threads = 0;              // 0: all cores that this process may use. Results do not depend on it.
  std::string precision = "fp32";   // the only one so far
  uint64_t memory_limit_bytes = 0;  // work that is predicted to need more is refused; 0: what the machine has free
};

struct Photo {
  std::string name;              // the file to read, or any name when bytes are given
  std::vector<std::byte> bytes;  // the encoded file (JPEG, PNG, WebP, HEIC); empty to read `name`
};

struct ReconstructOptions {
  // How photos become the network's input: "keep" (long side 512, cropped to multiples of 16, squares stay square), "dust3r"
  // (upstream's loader, squares become 4:3), "dust3r224", "pad512" (centred on a grey square).
  std::string preset = "keep";
  bool keep_raw = false;                      // also keep the network's values before activation
  uint64_t max_pixels = uint64_t{256} << 20;  // of one photo; checked before decoding
  Progress progress = {};                     // called on the calling thread
};

struct ModelInfo {
  std::string name;         // as the caller named it
  std::string family;       // "dust3r"
  std::string path;         // file or folder; empty for synthetic models
  std::string fingerprint;  // tells checkpoints apart; empty for synthetic models
  std::string dtype;        // of the weights in the file, "F32"; several are joined by '+'
  std::string license;      // of the weights, as far as we know
  int64_t num_parameters = 0;
  size_t num_tensors = 0;
  std::vector<std::string> notes;  // what the user might wonder about
};

struct StageTime {
  std::string stage;
  double ms = 0;
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
  std::vector<std::string> notes;

  double total_ms() const;
};

struct Reconstruction {
  Scene scene;
  RunReport report;
};

class Reconstructor {
 public:
  // model: a .safetensors file, an index or a folder; "hf:ORG/NAME[@REV]" or a short name such as "dust3r", looked up in the
  // Hugging Face cache (see download_model in pointmap/models.h); or "synthetic:dust3r-512-dpt", "synthetic:dust3r-tiny",
  // "synthetic:dust3r-tiny-linear", whose weights are made from their names and show exactness, not geometry.
  // Reads headers only: what does not fit is found here, the weights are loaded by load() or the first reconstruct().
  static Reconstructor open(const std::string& model, const LoadOptions& options = {});
  ~Reconstructor();
  Reconstructor(Reconstructor&&) noexcept;
  Reconstructor& operator=(Reconstructor&&) noexcept;

  const ModelInfo& model() const;
  // Loads the weights now, so that the first reconstruct() is as quick as the next. Cancelled by progress.cancel.
  void load(const Progress& progress = {});
  // DUSt3R takes exactly two photos. Photos are decoded and memory is predicted before any heavy work.
  Reconstruction reconstruct(const std::vector<Photo>& photos, const ReconstructOptions& options = {});

 private:
  struct Impl;
  explicit Reconstructor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pointmap
