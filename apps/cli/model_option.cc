#include "model_option.h"

#include <iostream>

#include "pointmap/models.h"

namespace pointmap::cli {

void add_model_option(CLI::App& command, std::string& model) {
  command.add_option("-m,--model", model,
                     "A file or folder, hf:ORG/NAME[@REV], a short name (dust3r), demo (small, in this program), or synthetic:NAME; "
                     "default: dust3r when it was fetched, else demo");
}

std::string model_or_default(const std::string& model, bool quiet) {
  if (!model.empty()) return model;
  const DefaultModel chosen = default_model();
  if (!quiet) std::cerr << chosen.notice << "\n";
  return chosen.name;
}

}  // namespace pointmap::cli
