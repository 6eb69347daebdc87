// Strict access to a checkpoint: every tensor asked for must exist with the stated shape, every tensor in the file must be asked
// for or listed as ignored.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops.h"
#include "tensor/tensor_view.h"

namespace pointmap {

// Where tensors come from: a file, or a formula.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // The shape stored under `name`; a source that makes any tensor returns `wanted`.
  virtual std::optional<Shape> shape_of(const std::string& name, const Shape& wanted) = 0;
  // The elements (F32, F16 or BF16), valid until release(name).
  virtual TensorView load(const std::string& name, const Shape& shape) = 0;
  virtual void release(const std::string& name) = 0;
  // Everything in the source, to find what was never asked for; empty for a formula.
  virtual std::vector<std::string> names() const = 0;
};

// What a checkpoint holds against what a model wants.
struct WeightReport {
  std::vector<std::string> missing;     // "name [2, 3]"
  std::vector<std::string> mismatched;  // "name: file has [2, 4], model wants [2, 3]"
  std::vector<std::string> unexpected;  // in the file, neither asked for nor ignored
  std::vector<std::string> ignored;     // in the file, known to the model, not needed
  int64_t num_parameters = 0;           // of the tensors asked for
  size_t num_tensors = 0;

  bool ok() const { return missing.empty() && mismatched.empty() && unexpected.empty(); }
};

// Two passes over the same model code: a check that touches no element and finds all that is wrong at once, then the load.
class WeightMap {
 public:
  // Only checks: every pack_* returns null.
  explicit WeightMap(WeightSource& source) : source_(source) {}
  // Loads: weights are packed for `ops` straight from the source, whose memory is given back tensor by tensor.
  WeightMap(WeightSource& source, Ops& ops) : source_(source), ops_(&ops) {}

  bool checks_only() const { return ops_ == nullptr; }
  Ops& ops() { return *ops_; }

  // Notes that the model wants `name`; the name under which the source has it (`alias` when only that exists), or empty.
  std::string claim(const std::string& name, const Shape& shape, const std::string& alias = "");
  // Tensors with this prefix may be in the file and are not needed.
  void ignore(const std::string& prefix) { ignored_prefixes_.push_back(prefix); }
  WeightSource& source() { return source_; }

  // What is wrong, complete once the model has asked for everything.
  WeightReport report() const;

 private:
  WeightSource& source_;
  Ops* ops_ = nullptr;
  std::set<std::string> claimed_;
  std::vector<std::string> ignored_prefixes_;
  WeightReport report_;
};

// Throws Error{kCorruptData} with both lists (what is missing or of another shape, what is unexpected) unless report.ok().
void require_complete(const WeightReport& report, const std::string& model_name);

// A place in the tree of names, such as "enc_blocks.3.attn". Cheap to copy; what constructors of layers take.
class WeightScope {
 public:
  explicit WeightScope(WeightMap& map, std::string prefix = "") : map_(&map), prefix_(std::move(prefix)) {}

  // The scope one level down: scope["attn"], scope[3].
  WeightScope operator[](std::string_view name) const;
  WeightScope operator[](int64_t index) const { return (*this)[std::string_view(std::to_string(index))]; }

  // "weight" [out, in] and "bias" [out]. Null when the map only checks; so for all below.
  // layer_scale: the scope of a LayerScale, whose "gamma" [out] multiplies the outputs; null for none.
  std::unique_ptr<PackedLinear> linear(int64_t in_features, int64_t out_features, const WeightScope* layer_scale = nullptr) const;
  // "weight" [out, in, kernel, kernel] and, unless has_bias is false, "bias" [out]. alias: another name of this scope.
  struct ConvShape {
    int64_t in_channels, out_channels, kernel;
    ConvGeometry geometry = {};
    bool has_bias = true;
    std::string alias = {};
  };
  std::unique_ptr<PackedConv2d> conv2d(const ConvShape& shape) const;
  // "weight" [in, out, stride, stride] and "bias" [out].
  std::unique_ptr<PackedConvTranspose2d> conv_transpose2d(int64_t in_channels, int64_t out_channels, int64_t stride) const;
  // One tensor as it is, widened to F32.
  Tensor tensor(std::string_view name, const Shape& shape) const;

  // What begins with this scope's name followed by `prefix` may be in the file and is not needed.
  void ignore(std::string_view prefix) const;

 private:
  std::string full_name(std::string_view name) const;
  template <typename Pack>
  auto pack(const Shape& weight_shape, const std::optional<Shape>& bias_shape, const std::string& alias, const Pack& pack_fn) const;

  WeightMap* map_;
  std::string prefix_;
};

}  // namespace pointmap
