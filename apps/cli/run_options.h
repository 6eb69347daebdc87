// Options that several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "pointmap/pointmap.h"

namespace pointmap::cli {

// A check for CLI11 that lets the library say what is wrong with a text, so that a wrong one is a usage error.
template <typename Parse>
auto check_with(const Parse& parse) {
  return [parse](const std::string& text) -> std::string {
    try {
      parse(text);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
}

void add_model_option(CLI::App& command, std::string& model);
// `model`, or what to run when it is empty; then says so on stderr unless quiet.
std::string model_or_default(const std::string& model, bool quiet);

void add_preset_option(CLI::App& command, std::string& preset);
void add_pose_mode_option(CLI::App& command, std::string& pose_mode);
// Empty for "auto": what suits the model.
std::optional<PoseMode> pose_mode_or_default(const std::string& pose_mode);
void add_threads_option(CLI::App& command, int& num_threads);
void add_percentile_option(CLI::App& command, double& percentile);
void add_points_option(CLI::App& command, std::string& points);

}  // namespace pointmap::cli
