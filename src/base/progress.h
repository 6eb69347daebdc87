// How long work tells its caller where it is, and hears that it should stop.
#pragma once

#include <functional>
#include <string_view>

#include "base/cancel.h"

namespace pointmap {

struct Progress {
  // Called before step `done` of `total` in `stage` ("encoder", "decoder 1", ...), on the thread that runs the model. May be empty.
  std::function<void(std::string_view stage, int done, int total)> on_step;
  const CancelFlag* cancel = nullptr;  // may be null

  // Between blocks: throws Error{kCancelled} when asked to stop, then reports.
  void step(std::string_view stage, int done, int total) const {
    if (cancel != nullptr) cancel->throw_if_requested();
    if (on_step) on_step(stage, done, total);
  }
};

}  // namespace pointmap
