// pointmap inspect MODEL: what a checkpoint holds and whether it fits.
#include <iostream>
#include <memory>

#include "commands.h"
#include "pointmap/models.h"

namespace pointmap::cli {
namespace {

void print_list(const char* title, const std::vector<std::string>& entries) {
  if (entries.empty()) return;
  std::cout << title << " (" << entries.size() << "):\n";
  for (const std::string& entry : entries) std::cout << "  " << entry << "\n";
}

void print_report(const ModelReport& report, bool show_tensors) {
  const ModelInfo& info = report.info;
  std::cout << "model        " << info.name << "\nfamily       " << info.family << "\n";
  if (!info.path.empty()) std::cout << "path         " << info.path << "\n";
  if (!info.fingerprint.empty()) std::cout << "fingerprint  " << info.fingerprint << "\n";
  std::cout << "dtype        " << info.dtype << "\nlicence      " << info.license << "\nparameters   " << info.num_parameters << " in "
            << info.num_tensors << " tensors that the network uses\n";
  if (!report.tensors.empty()) std::cout << "file         " << report.tensors.size() << " tensors\n";
  for (const std::string& note : info.notes) std::cout << "note         " << note << "\n";
  print_list("missing", report.missing);
  print_list("of another shape", report.mismatched);
  print_list("unexpected", report.unexpected);
  print_list("known and not needed", report.ignored);
  if (!show_tensors) return;
  for (const TensorInfo& tensor : report.tensors) {
    std::cout << tensor.name << "\t" << tensor.dtype << "\t";
    for (size_t i = 0; i < tensor.shape.size(); ++i) std::cout << (i > 0 ? "," : "") << tensor.shape[i];
    std::cout << "\n";
  }
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  struct Arguments {
    std::string model;
    bool tensors = false;
    bool json = false;
  };
  CLI::App* command = app.add_subcommand("inspect", "What a model holds; exit code 1 when it is not whole");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("model", arguments->model, "A file or folder, hf:ORG/NAME[@REV], a short name, demo, or synthetic:NAME")->required();
  command->add_flag("--tensors", arguments->tensors, "List every tensor of the file");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &context] {
    context.run = [arguments] {
      const ModelReport report = inspect_model(arguments->model);
      if (arguments->json) {
        std::cout << to_json(report) << "\n";
      } else {
        print_report(report, arguments->tensors);
      }
      return report.usable() ? kExitOk : kExitFailed;
    };
  });
}

}  // namespace pointmap::cli
