// The option -m of every command that runs a model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pointmap::cli {

void add_model_option(CLI::App& command, std::string& model);

// `model`, or what to run when it is empty; then says so on stderr unless quiet.
std::string model_or_default(const std::string& model, bool quiet);

}  // namespace pointmap::cli
