#include "scene/compare_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace pointmap {

namespace {

std::string number(const char* format, double value) {
  if (std::isnan(value)) return "-";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

using Row = std::vector<std::string>;
const Row kHeadings = {"array", "count", "PCC", "max|d|", "rms", "rel.err", "|dz|/z", "differ", "rms/torch", "max/torch"};

Row row_of(const ArrayComparison& c) {
  if (c.outcome != CompareOutcome::kCompared) return {c.name, "-", "-", "-", "-", "-", "-", "-", "-", "-"};
  return {c.name,
          std::to_string(c.count),
          number("%.9f", c.pcc),
          number("%.3e", c.max_abs_diff),
          number("%.3e", c.rms_diff),
          number("%.3e", c.relative_error),
          number("%.3e", c.median_abs_dz_over_z),
          std::to_string(c.num_different),
          number("%.2f", c.rms_over_torch),
          number("%.2f", c.max_over_torch)};
}

std::string verdict_of(const ArrayComparison& c, const CompareThresholds& thresholds) {
  const std::string beyond = violation(c, thresholds);
  if (!beyond.empty()) return "BEYOND: " + beyond;
  return c.outcome == CompareOutcome::kCompared ? "ok" : "-";
}

std::string remarks_of(const ArrayComparison& c) {
  std::string remarks = c.note;
  if (c.num_nonfinite_a > 0 || c.num_nonfinite_b > 0) {
    if (!remarks.empty()) remarks += "; ";
    remarks += "not finite: " + std::to_string(c.num_nonfinite_a) + " in A, " + std::to_string(c.num_nonfinite_b) + " in B";
  }
  return remarks;
}

std::string_view outcome_name(CompareOutcome outcome) {
  constexpr std::string_view kNames[] = {"compared", "shapes_differ", "only_in_a", "only_in_b"};
  return kNames[static_cast<size_t>(outcome)];
}

nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace

std::string render_table(std::span<const ArrayComparison> comparisons, const CompareThresholds& thresholds) {
  std::vector<Row> rows = {kHeadings};
  for (const ArrayComparison& c : comparisons) rows.push_back(row_of(c));
  std::vector<size_t> width(kHeadings.size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string table;
  size_t num_beyond = 0, num_compared = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string padding(width[i] - rows[r][i].size(), ' ');
      table += i == 0 ? rows[r][i] + padding : "  " + padding + rows[r][i];  // names left, numbers right
    }
    if (r == 0) {
      table += "  verdict\n";
      continue;
    }
    const ArrayComparison& c = comparisons[r - 1];
    num_compared += c.outcome == CompareOutcome::kCompared;
    num_beyond += !within(c, thresholds);
    const std::string remarks = remarks_of(c);
    table += "  " + verdict_of(c, thresholds) + (remarks.empty() ? "" : "  (" + remarks + ")") + "\n";
  }
  return table + std::to_string(num_compared) + " arrays compared, " + std::to_string(num_beyond) + " beyond the limits\n";
}

std::string to_json(std::span<const ArrayComparison> comparisons, const CompareThresholds& thresholds) {
  nlohmann::ordered_json document;
  document["within"] = within(comparisons, thresholds);
  document["arrays"] = nlohmann::ordered_json::array();
  for (const ArrayComparison& c : comparisons) {
    const std::string beyond = violation(c, thresholds);
    document["arrays"].push_back({{"name", c.name},
                                  {"outcome", outcome_name(c.outcome)},
                                  {"within", beyond.empty()},
                                  {"violation", beyond},
                                  {"count", c.count},
                                  {"pcc", number_or_null(c.pcc)},
                                  {"max_abs_diff", number_or_null(c.max_abs_diff)},
                                  {"rms_diff", number_or_null(c.rms_diff)},
                                  {"relative_error", number_or_null(c.relative_error)},
                                  {"median_abs_dz_over_z", number_or_null(c.median_abs_dz_over_z)},
                                  {"num_different", c.num_different},
                                  {"num_nonfinite_a", c.num_nonfinite_a},
                                  {"num_nonfinite_b", c.num_nonfinite_b},
                                  {"num_nonfinite_mismatch", c.num_nonfinite_mismatch},
                                  {"rms_over_torch", number_or_null(c.rms_over_torch)},
                                  {"max_over_torch", number_or_null(c.max_over_torch)},
                                  {"note", c.note}});
  }
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace pointmap
