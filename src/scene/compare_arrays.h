// The accuracy gate: two archives of arrays, how far apart each array is, and whether that is near enough.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/npz/npz_file.h"
#include "pointmap/compare.h"
#include "scene/array_metrics.h"

namespace pointmap {

enum class CompareOutcome { kCompared, kShapesDiffer, kOnlyInA, kOnlyInB };

struct ArrayComparison : ArrayMetrics {
  std::string name;  // as A has it, or B where only B has it
  CompareOutcome outcome = CompareOutcome::kCompared;
  // Our error as a multiple of upstream PyTorch's own float32 error, where a golden file's meta_json tells it.
  double rms_over_torch = kUndefined;
  double max_over_torch = kUndefined;
  std::string note;  // samples, other name in B, other shape, why it was not compared
};

struct CompareOptions {
  std::vector<std::string> names;  // compare only these, spelled as in either file; empty is all
};

// Compares every array the two have in common; B is the reference. Names are the same when they differ only as `raw1` and `raw_1` do,
// shapes when they differ in leading ones. An array reduced to `sample:NAME` in one file (golden/README.md) is compared with those
// elements of the full NAME in the other. `meta` and `meta_json` are about the file and are not compared; arrays in one file only
// are listed after the others. Throws Error{kNotFound} naming both files when they have no array in common or options.names asks for
// one that neither has.
std::vector<ArrayComparison> compare_npz(const NpzFile& a, const NpzFile& b, const CompareOptions& options = {});

// What is beyond the limits, in words; empty when it passes.
std::string violation(const ArrayComparison& comparison, const CompareThresholds& thresholds);
bool within(const ArrayComparison& comparison, const CompareThresholds& thresholds);
// All of them pass, and there is at least one that was compared.
bool within(std::span<const ArrayComparison> comparisons, const CompareThresholds& thresholds);

// Flat index, below `num_elements`, of sample j of the array `name`: splitmix64(FNV-1a-64(name) + j) mod num_elements.
size_t golden_sample_index(std::string_view name, size_t j, size_t num_elements);

}  // namespace pointmap
