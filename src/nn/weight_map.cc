#include "nn/weight_map.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace pointmap {
namespace {

// A tensor in memory for as long as it is being packed.
class LoadedWeight {
 public:
  LoadedWeight() = default;
  LoadedWeight(WeightSource& source, std::string name, const Shape& shape)
      : source_(&source), name_(std::move(name)), view_(source.load(name_, shape)) {}
  ~LoadedWeight() {
    if (source_ != nullptr) source_->release(name_);
  }
  LoadedWeight(const LoadedWeight&) = delete;
  LoadedWeight& operator=(const LoadedWeight&) = delete;

  TensorView view() const { return view_; }

 private:
  WeightSource* source_ = nullptr;
  std::string name_;
  TensorView view_;
};

// A load after a check that passed finds everything; a load without one stops at the first tensor that does not fit.
void require_found(const std::string& found_name, const std::string& wanted_name) {
  if (found_name.empty()) throw Error{kCorruptData, "tensor '" + wanted_name + "' is missing or of another shape"};
}

// A list for an error message: all of a short one, the head of a long one.
std::string summarize(const std::vector<std::string>& entries) {
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < std::min(entries.size(), kShown); ++i) text += "\n    " + entries[i];
  if (entries.size() > kShown) text += "\n    and " + std::to_string(entries.size() - kShown) + " more";
  return text;
}

}  // namespace

std::string WeightMap::claim(const std::string& name, const Shape& shape, const std::string& alias) {
  ++report_.num_tensors;
  report_.num_parameters += shape.num_elements();
  claimed_.insert(name);
  if (!alias.empty()) claimed_.insert(alias);
  std::string found_name = name;
  std::optional<Shape> found = source_.shape_of(name, shape);
  if (!found && !alias.empty()) {
    found_name = alias;
    found = source_.shape_of(alias, shape);
  }
  if (!found) {
    report_.missing.push_back(name + " " + shape.to_string());
    return "";
  }
  if (!(*found == shape)) {
    report_.mismatched.push_back(found_name + ": file has " + found->to_string() + ", model wants " + shape.to_string());
    return "";
  }
  return found_name;
}

WeightReport WeightMap::report() const {
  WeightReport report = report_;
  for (const std::string& name : source_.names()) {
    if (claimed_.contains(name)) continue;
    const bool known = std::ranges::any_of(ignored_prefixes_, [&](const std::string& prefix) { return name.starts_with(prefix); });
    (known ? report.ignored : report.unexpected).push_back(name);
  }
  return report;
}

void require_complete(const WeightReport& report, const std::string& model_name) {
  if (report.ok()) return;
  std::string message = "weights of '" + model_name + "' do not fit the model";
  if (!report.missing.empty()) message += "\n  missing (" + std::to_string(report.missing.size()) + "):" + summarize(report.missing);
  if (!report.mismatched.empty()) {
    message += "\n  of another shape (" + std::to_string(report.mismatched.size()) + "):" + summarize(report.mismatched);
  }
  if (!report.unexpected.empty()) {
    message += "\n  unexpected (" + std::to_string(report.unexpected.size()) + "):" + summarize(report.unexpected);
  }
  throw Error{kCorruptData, message};
}

std::string WeightScope::full_name(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
}

WeightScope WeightScope::operator[](std::string_view name) const {
  return WeightScope(*map_, full_name(name));
}

void WeightScope::ignore(std::string_view prefix) const {
  map_->ignore(full_name(prefix));
}

template <typename Pack>
auto WeightScope::pack(const Shape& weight_shape, const std::optional<Shape>& bias_shape, const std::string& alias,
                       const Pack& pack_fn) const {
  const auto alias_name = [&](const char* last) { return alias.empty() ? std::string() : alias + "." + last; };
  const std::string weight_name = map_->claim(full_name("weight"), weight_shape, alias_name("weight"));
  const std::string bias_name = bias_shape ? map_->claim(full_name("bias"), *bias_shape, alias_name("bias")) : "";
  using Packed = decltype(pack_fn(std::declval<Ops&>(), TensorView(), TensorView()));
  if (map_->checks_only()) return Packed();
  require_found(weight_name, full_name("weight"));
  if (bias_shape) require_found(bias_name, full_name("bias"));
  const LoadedWeight weight(map_->source(), weight_name, weight_shape);
  if (bias_name.empty()) return pack_fn(map_->ops(), weight.view(), TensorView());
  const LoadedWeight bias(map_->source(), bias_name, *bias_shape);
  return pack_fn(map_->ops(), weight.view(), bias.view());
}

std::unique_ptr<PackedLinear> WeightScope::linear(int64_t in_features, int64_t out_features, const WeightScope* layer_scale) const {
  const std::string gamma_name = layer_scale == nullptr ? "" : map_->claim(layer_scale->full_name("gamma"), {out_features});
  return pack(Shape{out_features, in_features}, Shape{out_features}, "", [&](Ops& ops, TensorView weight, TensorView bias) {
    if (layer_scale == nullptr) return ops.pack_linear(weight, bias);
    require_found(gamma_name, layer_scale->full_name("gamma"));
    const LoadedWeight gamma(map_->source(), gamma_name, {out_features});
    return ops.pack_linear(weight, bias, gamma.view());
  });
}

std::unique_ptr<PackedConv2d> WeightScope::conv2d(const ConvShape& shape) const {
  const std::optional<Shape> bias_shape = shape.has_bias ? std::optional(Shape{shape.out_channels}) : std::nullopt;
  return pack(Shape{shape.out_channels, shape.in_channels, shape.kernel, shape.kernel}, bias_shape, shape.alias,
              [&](Ops& ops, TensorView weight, TensorView bias) { return ops.pack_conv2d(weight, bias, shape.geometry); });
}

std::unique_ptr<PackedConvTranspose2d> WeightScope::conv_transpose2d(int64_t in_channels, int64_t out_channels, int64_t stride) const {
  return pack(Shape{in_channels, out_channels, stride, stride}, Shape{out_channels}, "",
              [](Ops& ops, TensorView weight, TensorView bias) { return ops.pack_conv_transpose2d(weight, bias); });
}

Tensor WeightScope::tensor(std::string_view name, const Shape& shape) const {
  const std::string found_name = map_->claim(full_name(name), shape);
  if (map_->checks_only()) return Tensor();
  require_found(found_name, full_name(name));
  const LoadedWeight weight(map_->source(), found_name, shape);
  return map_->ops().upload_weight(weight.view());
}

}  // namespace pointmap
