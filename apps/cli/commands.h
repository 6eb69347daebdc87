// The subcommands of the program. Each adds itself to the parser and leaves behind what to run if it was named.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "pointmap/progress.h"

namespace pointmap::cli {

// Exit codes: 0 done, 1 failed (or a comparison beyond its limits), 2 usage.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

struct Context {
  CancelFlag& cancel;             // raised by Ctrl-C
  std::function<int()> run = {};  // what the command line asked for
};

void add_reconstruct(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_eval(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_view(CLI::App& app, Context& context);
void add_fetch(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);

}  // namespace pointmap::cli
