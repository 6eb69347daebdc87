// A scene small enough to work out by hand, for the tests of this folder.
#pragma once

#include <vector>

#include "scene/scene.h"

namespace pointmap {

// A view of width x height whose pixel i is the point (i, -i, i + 1) with confidence first_confidence + i and colour (i, 2i, 3i), all of it
// photo.
inline SceneView counting_view(int width, int height, float first_confidence) {
  SceneView view;
  view.source = "photo.jpg";
  view.transform.stored_width = view.transform.network_width = view.image.width = width;
  view.transform.stored_height = view.transform.network_height = view.image.height = height;
  for (int i = 0; i < width * height; ++i) {
    const auto value = static_cast<float>(i);
    view.points.insert(view.points.end(), {value, -value, value + 1});
    view.confidence.push_back(first_confidence + value);
    for (int c = 1; c <= 3; ++c) view.image.rgb.push_back(static_cast<uint8_t>(c * i));
  }
  return view;
}

// Two views of 4 x 2: confidences 1 to 8 and 101 to 108.
inline Scene counting_scene() {
  Scene scene;
  scene.model = "tiny";
  scene.views = {counting_view(4, 2, 1), counting_view(4, 2, 101)};
  return scene;
}

inline SceneView skipped_view() {
  SceneView view;
  view.source = "bad.jpg";
  view.status = "skipped";
  view.reason = "no picture";
  return view;
}

// Declares the leftmost and rightmost column of a 4 x 2 view padding: a photo two pixels wide, centred.
inline void pad_sides(SceneView& view) {
  view.transform.stored_width = 2;
  view.transform.offset_x = -1;
}

}  // namespace pointmap
