// What a reconstruction is: views with their pointmaps. Immutable once built; exporters only read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pointmap/camera.h"
#include "pointmap/image.h"
#include "pointmap/view_transform.h"

namespace pointmap {

struct SceneView {
  std::string source;       // the file, as the caller named it
  ViewTransform transform;  // network pixels to the file's pixels
  Image image;              // what the network saw, [H, W, 3]
  // Points in the camera frame of view 0 (x right, y down, z forward), scale unknown.
  std::vector<float> points;      // [H, W, 3]
  std::vector<float> confidence;  // [H, W], above 1 for DUSt3R
  // Estimated by the network (VGGT) or from the pointmaps (DUSt3R); empty when nobody asked.
  std::optional<Camera> camera;
  std::vector<float> depth;             // [H, W], z in the view's own camera frame; empty without a camera
  std::vector<float> depth_confidence;  // [H, W]; empty unless the network has a confidence of its own for depth
  std::vector<float> raw;               // [4, H, W] before activation: x, y, z, confidence; empty unless asked for
  std::string status = "ok";
};

struct Scene {
  std::vector<SceneView> views;
  std::string model;       // as the caller named it
  std::string model_hash;  // of the weights, empty when unknown
};

}  // namespace pointmap
