// The options that say what is known about the photos.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pointmap/known_inputs.h"

namespace pointmap::cli {

struct KnownArguments {
  std::vector<std::string> intrinsics;
  bool shared_intrinsics = false;
  std::string masks;
  std::string poses;
  std::string distance;
  std::optional<double> baseline_metres = {};
};

void add_known_options(CLI::App& command, KnownArguments& arguments);

// listed: the photos that the command line stands for; photos: those of them that are taken, in the order of the run. What the command line
// says of each photo is about `listed`.
KnownInputs known_inputs(const KnownArguments& arguments, const std::vector<std::string>& listed, const std::vector<std::string>& photos);

}  // namespace pointmap::cli
