// Golden outputs of the upstream programs, compared stage by stage with what our model shows its probes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/npz/npz_file.h"
#include "tensor/tensor_view.h"

namespace pointmap {

// Our distance from the float64 truth at one stage, and PyTorch's in float32.
struct StageError {
  std::string stage;
  double rms = 0;
  double max = 0;
  double torch_rms = 0;
  double torch_max = 0;

  double rms_ratio() const { return rms / torch_rms; }
  double max_ratio() const { return max / torch_max; }
};

class GoldenFile {
 public:
  explicit GoldenFile(const std::string& path);

  const NpzFile& npz() const { return npz_; }
  // Names of all stages: every array with error figures.
  std::vector<std::string> stages() const;
  bool has(std::string_view stage) const;
  // Of a stage in our layout.
  Shape shape_of(std::string_view stage) const;
  // Compares a stage in our layout (channels last) with the file's (channels first for maps). The file has all elements or 4096
  // samples of them. Throws Error when the file does not have the stage or the shapes do not fit.
  StageError compare(std::string_view stage, TensorView ours) const;

 private:
  struct StageInfo {
    std::vector<int64_t> shape;  // channels first
    double torch_rms = 0;
    double torch_max = 0;
  };
  NpzFile npz_;
  std::map<std::string, StageInfo, std::less<>> stages_;
};

}  // namespace pointmap
