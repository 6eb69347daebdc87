// The server as a program sees it: options in, exit code out.
#pragma once

#include <iosfwd>

#include "apps/server/server_options.h"
#include "pointmap/progress.h"

namespace pointmap::server {

// Listens, loads the models, answers until `stop` is raised, then finishes what was accepted (or cancels it after drain_timeout) and
// returns 0; 1 when the models could not be loaded. Writes one JSON object a line to `log`: events, and every request. Throws Error when
// the port is taken, a model is not there, or a file cannot be read.
int serve(const ServerOptions& options, const CancelFlag& stop, std::ostream& log);

}  // namespace pointmap::server
