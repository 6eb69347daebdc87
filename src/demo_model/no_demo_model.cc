// For a build without the files of the demo model.
#include "demo_model/demo_model.h"

namespace pointmap {

DemoModel demo_model() {
  return {};
}

}  // namespace pointmap
