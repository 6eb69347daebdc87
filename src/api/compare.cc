// The public face of the array comparison.
#include "pointmap/compare.h"

#include "scene/compare_arrays.h"
#include "scene/compare_report.h"

namespace pointmap {

CompareResult compare_files(const std::filesystem::path& a, const std::filesystem::path& b, const CompareThresholds& thresholds,
                            const std::vector<std::string>& names) {
  const std::vector<ArrayComparison> comparisons = compare_npz(NpzFile::read(a), NpzFile::read(b), {.names = names});
  return {
      .within = within(comparisons, thresholds), .table = render_table(comparisons, thresholds), .json = to_json(comparisons, thresholds)};
}

}  // namespace pointmap
