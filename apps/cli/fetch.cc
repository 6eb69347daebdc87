// pointmap fetch MODEL: download into the Hugging Face cache.
#include <iostream>
#include <memory>

#include "commands.h"
#include "pointmap/models.h"
#include "status_line.h"

namespace pointmap::cli {

void add_fetch(CLI::App& app, Context& context) {
  struct Arguments {
    std::string model;
    bool quiet = false;
  };
  CLI::App* command = app.add_subcommand("fetch", "Download a model into the Hugging Face cache");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("model", arguments->model, "A short name (dust3r) or hf:ORG/NAME[@REV]")->required();
  command->add_flag("--quiet", arguments->quiet, "No progress");
  command->callback([arguments, &context] {
    context.run = [arguments, &context] {
      StatusLine status(arguments->quiet);
      const DownloadedModel fetched = download_model(
          arguments->model, {.on_progress = [&](const DownloadProgress& p) { status.bytes(p.file, p.done_bytes, p.total_bytes); },
                             .cancel = &context.cancel});
      status.clear();
      std::cout << fetched.folder.string() << "\n";
      if (!arguments->quiet) std::cerr << "commit " << fetched.commit << "\nlicence of the weights: " << fetched.license << "\n";
      return kExitOk;
    };
  });
}

}  // namespace pointmap::cli
