// The pointmap program: parses the command line, runs one command, and turns errors into a message and an exit code.
#include <csignal>
#include <iostream>

#include "commands.h"
#include "pointmap/pointmap.h"

namespace {

pointmap::CancelFlag g_cancel;  // a signal handler can reach nothing else

extern "C" void on_interrupt(int) {
  g_cancel.request();
  std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C ends the program at once
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pointmap::cli;
  CLI::App app{"pointmap: photographs in, 3D out"};
  app.set_version_flag("--version", pointmap::generator_name());
  app.require_subcommand(1);
  Context context{.cancel = g_cancel};
  add_reconstruct(app, context);
  add_compare(app, context);
  add_eval(app, context);
  add_inspect(app, context);
  add_view(app, context);
  add_fetch(app, context);
  add_serve(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  try {
    return context.run();
  } catch (const std::exception& error) {
    std::cerr << "pointmap: " << error.what() << "\n";
    return kExitFailed;
  }
}
