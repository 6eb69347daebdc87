#include "io/cameras/transforms_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace pointmap {
namespace {

using nlohmann::json;

json parse_bounded(std::string_view text, const std::string& file_name) {
  const auto bounded = [&](int depth, json::parse_event_t, json&) {
    if (depth > kMaxTransformsDepth)
      throw Error{kLimitExceeded,
                  std::string("'").append(file_name).append("' is nested deeper than ") + std::to_string(kMaxTransformsDepth)};
    return true;
  };
  try {
    return json::parse(text, bounded);
  } catch (const json::exception& error) {
    throw Error{kCorruptData, std::string("'").append(file_name).append("' is no JSON: ") + error.what()};
  }
}

// Why the value is no matrix of three or four rows; empty when it is, and then it is in `matrix`.
std::string take_matrix(const json& rows, std::array<double, 16>& matrix) {
  if (!rows.is_array() || rows.size() < 3 || rows.size() > 4) return "is no list of three or four rows";
  matrix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].is_array() || rows[row].size() != 4) return "has a row that is no list of four numbers";
    for (size_t column = 0; column < 4; ++column) {
      const json& value = rows[row][column];
      if (!value.is_number()) return "has a row that is no list of four numbers";
      matrix[4 * row + column] = value.get<double>();
    }
  }
  return "";
}

}  // namespace

std::vector<TransformsFrame> parse_transforms_json(std::string_view text, const std::string& file_name) {
  const json root = parse_bounded(text, file_name);
  const auto fail = [&](const std::string& what) {
    throw Error{kCorruptData, std::string("'").append(file_name).append("': ").append(what)};
  };
  if (!root.is_object() || !root.contains("frames") || !root["frames"].is_array()) fail("there is no list 'frames'");
  const json& list = root["frames"];
  if (list.size() > kMaxTransformsFrames)
    throw Error{kLimitExceeded, std::string("'").append(file_name).append("' has ") + std::to_string(list.size()) + " frames, at most " +
                                    std::to_string(kMaxTransformsFrames) + " are read"};
  std::vector<TransformsFrame> frames;
  for (size_t i = 0; i < list.size(); ++i) {
    const json& frame = list[i];
    const std::string who = "frame " + std::to_string(i + 1);
    if (!frame.is_object() || !frame.contains("file_path") || !frame["file_path"].is_string()) fail(who + " has no string 'file_path'");
    TransformsFrame& result = frames.emplace_back();
    result.file_path = frame["file_path"].get<std::string>();
    if (!frame.contains("transform_matrix")) fail(who + " ('" + result.file_path + "') has no 'transform_matrix'");
    if (const std::string fault = take_matrix(frame["transform_matrix"], result.matrix); !fault.empty())
      fail(who + " ('" + result.file_path + "'): 'transform_matrix' " + fault);
  }
  return frames;
}

}  // namespace pointmap
