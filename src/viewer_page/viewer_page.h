// The page that shows a scene in a browser, without a scene.
#pragma once

#include <string>

namespace pointmap {

// HTML up to where the elements of a scene stand (web/viewer/README.md says which), and from there to the end.
struct ViewerPage {
  std::string before_scene;
  std::string after_scene;
};

ViewerPage viewer_page();

}  // namespace pointmap
