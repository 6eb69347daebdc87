#include "scene/compare_arrays.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "base/name_hash.h"

namespace pointmap {

namespace {

constexpr std::string_view kSamplePrefix = "sample:";

bool is_sample(std::string_view name) {
  return name.starts_with(kSamplePrefix);
}
std::string full_name(const std::string& name) {
  return is_sample(name) ? name.substr(kSamplePrefix.size()) : name;
}
bool is_about_the_file(std::string_view name) {
  return name == "meta" || name == "meta_json";
}

// "raw1" and "raw_1" are one array; "sample:" stays in front.
std::string canonical(const std::string& name) {
  if (is_sample(name)) return std::string(kSamplePrefix) + canonical(full_name(name));
  for (const std::string_view stem : {"raw", "pts3d", "conf"}) {
    if (name.size() > stem.size() && name.starts_with(stem) && name.find_first_not_of("0123456789", stem.size()) == std::string::npos) {
      return std::string(stem) + "_" + name.substr(stem.size());
    }
  }
  return name;
}

// canonical name -> the array, without those that are about the file.
using ArraysByName = std::map<std::string, const NpzArray*>;

ArraysByName arrays_of(const NpzFile& file) {
  ArraysByName arrays;
  for (const std::string& name : file.names()) {
    if (is_about_the_file(name)) continue;
    const auto [place, is_new] = arrays.emplace(canonical(name), &file.array(name));
    POINTMAP_CHECK(is_new, "npz file '" + file.file() + "': '" + place->second->name + "' and '" + name + "' are names of one array");
  }
  return arrays;
}

struct GoldenMeta {
  std::vector<int64_t> shape;
  double max_error = kUndefined;
  double rms_error = kUndefined;
};

// What a golden file's meta_json says about its arrays, by canonical name. Other files, and JSON of another form, say nothing.
std::map<std::string, GoldenMeta> golden_meta(const NpzFile& file) {
  std::map<std::string, GoldenMeta> entries;
  if (!file.has("meta_json") || file.array("meta_json").dtype != DType::kU8) return entries;
  const auto document = nlohmann::json::parse(file.array("meta_json").text(), nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return entries;
  for (const auto& [name, value] : document.items()) {
    if (!value.is_object()) continue;
    GoldenMeta entry;
    const auto number = [&value](const char* key) {
      const auto found = value.find(key);
      return found != value.end() && found->is_number() ? found->get<double>() : kUndefined;
    };
    entry.max_error = number("torch_fp32_max_err");
    entry.rms_error = number("torch_fp32_rms_err");
    if (const auto shape = value.find("shape"); shape != value.end() && shape->is_array()) {
      for (const auto& dim : *shape) {
        if (dim.is_number_integer()) entry.shape.push_back(dim.get<int64_t>());
      }
    }
    entries.emplace(canonical(name), std::move(entry));
  }
  return entries;
}

std::span<const int64_t> without_leading_ones(std::span<const int64_t> dims) {
  while (!dims.empty() && dims.front() == 1) dims = dims.subspan(1);
  return dims;
}

bool same_shape(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::ranges::equal(without_leading_ones(a), without_leading_ones(b));
}

std::string text_of(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims) text += (text.empty() ? "[" : ", ") + std::to_string(dim);
  return text.empty() ? "[]" : text + "]";
}

void add_note(ArrayComparison& comparison, const std::string& note) {
  comparison.note += (comparison.note.empty() ? "" : "; ") + note;
}

// Points have three coordinates, the last of them the depth.
bool holds_points(const Shape& shape) {
  return shape.rank() > 0 && shape[-1] == 3;
}

void set_metrics(ArrayComparison& comparison, const ArrayMetrics& metrics) {
  static_cast<ArrayMetrics&>(comparison) = metrics;
}

void compare_whole(const NpzArray& a, const NpzArray& b, ArrayComparison& comparison) {
  if (!same_shape(a.shape.dims(), b.shape.dims())) {
    comparison.outcome = CompareOutcome::kShapesDiffer;
    add_note(comparison, "shapes " + a.shape.to_string() + " and " + b.shape.to_string() + " differ");
    return;
  }
  std::vector<bool> is_z;
  if (holds_points(a.shape)) {
    is_z.resize(static_cast<size_t>(a.shape.num_elements()));
    for (size_t i = 2; i < is_z.size(); i += 3) is_z[i] = true;
  }
  set_metrics(comparison, measure(doubles_of(a), doubles_of(b), is_z));
}

// `samples` are elements of an array like `full` in the other file; meta, if known, has that array's shape.
void compare_samples(const NpzArray& samples, const NpzArray& full, bool samples_are_a, const GoldenMeta* meta,
                     ArrayComparison& comparison) {
  const std::string name = full_name(samples.name);
  if (meta != nullptr && !meta->shape.empty() && !same_shape(meta->shape, full.shape.dims())) {
    comparison.outcome = CompareOutcome::kShapesDiffer;
    add_note(comparison, "samples of shape " + text_of(meta->shape) + ", the other file has " + full.shape.to_string());
    return;
  }
  const std::vector<double> sampled = doubles_of(samples);
  const std::vector<double> all = doubles_of(full);
  if (all.empty()) {
    comparison.outcome = CompareOutcome::kShapesDiffer;
    add_note(comparison, "samples of an array that is empty in the other file");
    return;
  }
  std::vector<double> picked(sampled.size());
  std::vector<bool> is_z(holds_points(full.shape) ? sampled.size() : 0);
  for (size_t j = 0; j < sampled.size(); ++j) {
    const size_t index = golden_sample_index(name, j, all.size());
    picked[j] = all[index];
    if (!is_z.empty()) is_z[j] = index % 3 == 2;
  }
  set_metrics(comparison, samples_are_a ? measure(sampled, picked, is_z) : measure(picked, sampled, is_z));
  add_note(comparison, std::to_string(sampled.size()) + " samples of " + std::to_string(all.size()));
}

struct Comparer {
  const std::map<std::string, GoldenMeta> meta_a, meta_b;

  const GoldenMeta* meta(const std::string& canonical_name, bool of_a) const {
    const auto& entries = of_a ? meta_a : meta_b;
    const auto found = entries.find(full_name(canonical_name));
    return found == entries.end() ? nullptr : &found->second;
  }

  ArrayComparison compare(const NpzArray& a, const NpzArray& b) const {
    ArrayComparison comparison;
    comparison.name = a.name;
    if (a.name != b.name) add_note(comparison, "B: " + b.name);
    if (a.dtype != b.dtype) add_note(comparison, std::string(dtype_name(a.dtype)) + " and " + std::string(dtype_name(b.dtype)));
    const std::string key = full_name(canonical(a.name));
    if (is_sample(a.name) == is_sample(b.name)) {
      compare_whole(a, b, comparison);
    } else if (is_sample(a.name)) {
      compare_samples(a, b, true, meta(key, true), comparison);
    } else {
      compare_samples(b, a, false, meta(key, false), comparison);
    }
    // B is the reference, so its word on PyTorch's error counts first.
    const GoldenMeta* golden = meta(key, false) != nullptr ? meta(key, false) : meta(key, true);
    if (golden != nullptr && comparison.count_finite > 0) {
      if (golden->rms_error > 0) comparison.rms_over_torch = comparison.rms_diff / golden->rms_error;
      if (golden->max_error > 0) comparison.max_over_torch = comparison.max_abs_diff / golden->max_error;
    }
    return comparison;
  }
};

// The other spelling to look for when `key` is in one file only: samples in full, or the other way round.
std::string sampled_counterpart(const std::string& key) {
  return is_sample(key) ? full_name(key) : std::string(kSamplePrefix) + key;
}

void list_lonely(const ArraysByName& arrays, const std::set<const NpzArray*>& used, CompareOutcome outcome,
                 std::vector<ArrayComparison>& out) {
  for (const auto& [key, array] : arrays) {
    if (used.contains(array)) continue;
    ArrayComparison lonely;
    lonely.name = array->name;
    lonely.outcome = outcome;
    lonely.note = outcome == CompareOutcome::kOnlyInA ? "only in A" : "only in B";
    out.push_back(std::move(lonely));
  }
}

void list_unread(const NpzFile& file, CompareOutcome outcome, std::vector<ArrayComparison>& out) {
  for (const auto& [name, reason] : file.unread()) {
    ArrayComparison unread;
    unread.name = name;
    unread.outcome = outcome;
    unread.note = std::string("not read from ") + (outcome == CompareOutcome::kOnlyInA ? "A: " : "B: ") + reason;
    out.push_back(std::move(unread));
  }
}

void keep_only(const CompareOptions& options, const NpzFile& a, const NpzFile& b, ArraysByName& arrays_a, ArraysByName& arrays_b) {
  if (options.names.empty()) return;
  std::set<std::string> wanted;
  for (const std::string& name : options.names) {
    const std::string key = full_name(canonical(name));
    bool is_there = false;
    for (const ArraysByName* arrays : {&arrays_a, &arrays_b}) {
      is_there = is_there || arrays->contains(key) || arrays->contains(sampled_counterpart(key));
    }
    if (!is_there) throw Error{kNotFound, "neither '" + a.file() + "' nor '" + b.file() + "' has an array '" + name + "'"};
    wanted.insert(key);
  }
  for (ArraysByName* arrays : {&arrays_a, &arrays_b}) {
    std::erase_if(*arrays, [&](const auto& entry) { return !wanted.contains(full_name(entry.first)); });
  }
}

}  // namespace

std::vector<ArrayComparison> compare_npz(const NpzFile& a, const NpzFile& b, const CompareOptions& options) {
  ArraysByName arrays_a = arrays_of(a), arrays_b = arrays_of(b);
  keep_only(options, a, b, arrays_a, arrays_b);
  const Comparer comparer{golden_meta(a), golden_meta(b)};
  std::vector<ArrayComparison> comparisons;
  std::set<const NpzArray*> used;
  const auto compare = [&](const NpzArray* in_a, const NpzArray* in_b) {
    comparisons.push_back(comparer.compare(*in_a, *in_b));
    used.insert({in_a, in_b});
  };
  for (const auto& [key, in_a] : arrays_a) {
    if (const auto same = arrays_b.find(key); same != arrays_b.end()) {
      compare(in_a, same->second);
    } else if (const auto other = arrays_b.find(sampled_counterpart(key)); other != arrays_b.end()) {
      compare(in_a, other->second);
    }
  }
  for (const auto& [key, in_b] : arrays_b) {  // B's samples of an array that both also have in full, or B's full array of A's samples
    if (used.contains(in_b)) continue;
    if (const auto other = arrays_a.find(sampled_counterpart(key)); other != arrays_a.end()) compare(other->second, in_b);
  }
  if (comparisons.empty()) throw Error{kNotFound, "'" + a.file() + "' and '" + b.file() + "' have no array in common"};
  list_lonely(arrays_a, used, CompareOutcome::kOnlyInA, comparisons);
  list_lonely(arrays_b, used, CompareOutcome::kOnlyInB, comparisons);
  if (options.names.empty()) {
    list_unread(a, CompareOutcome::kOnlyInA, comparisons);
    list_unread(b, CompareOutcome::kOnlyInB, comparisons);
  }
  return comparisons;
}

std::string violation(const ArrayComparison& c, const CompareThresholds& limits) {
  if (c.outcome == CompareOutcome::kShapesDiffer) return "shapes differ";
  if (c.outcome != CompareOutcome::kCompared) return limits.must_have_same_arrays ? "in one file only" : "";
  if (c.num_nonfinite_mismatch > 0) return std::to_string(c.num_nonfinite_mismatch) + " values are not finite on one side only";
  if (c.count > 0 && c.count_finite == 0) return "no finite value";
  if (c.num_different == 0) return "";  // equal, whatever is undefined
  if (limits.must_be_equal) return std::to_string(c.num_different) + " elements differ";
  const auto beyond = [](const char* what, double got, const char* relation, double limit) {
    std::array<char, 96> text{};
    std::snprintf(text.data(), text.size(), "%s %.9g, wanted %s %g", what, got, relation, limit);
    return std::string(text.data());
  };
  if (!(c.pcc >= limits.min_pcc)) return beyond("PCC", c.pcc, ">=", limits.min_pcc);  // true for NaN as well
  if (c.relative_error > limits.max_relative_error) return beyond("relative error", c.relative_error, "<=", limits.max_relative_error);
  if (c.max_abs_diff > limits.max_abs_diff) return beyond("max difference", c.max_abs_diff, "<=", limits.max_abs_diff);
  if (c.median_abs_dz_over_z > limits.max_median_dz_over_z) {
    return beyond("median |dz|/z", c.median_abs_dz_over_z, "<=", limits.max_median_dz_over_z);
  }
  if (c.rms_over_torch > limits.max_rms_over_torch) return beyond("rms/torch", c.rms_over_torch, "<=", limits.max_rms_over_torch);
  if (c.max_over_torch > limits.max_max_over_torch) return beyond("max/torch", c.max_over_torch, "<=", limits.max_max_over_torch);
  return "";
}

bool within(const ArrayComparison& comparison, const CompareThresholds& thresholds) {
  return violation(comparison, thresholds).empty();
}

bool within(std::span<const ArrayComparison> comparisons, const CompareThresholds& thresholds) {
  const auto compared = [](const ArrayComparison& c) { return c.outcome == CompareOutcome::kCompared; };
  return std::ranges::any_of(comparisons, compared) &&
         std::ranges::all_of(comparisons, [&](const ArrayComparison& c) { return within(c, thresholds); });
}

size_t golden_sample_index(std::string_view name, size_t j, size_t num_elements) {
  return static_cast<size_t>(splitmix64(fnv1a_64(name) + j) % num_elements);
}

}  // namespace pointmap
