// What a reconstruction is: views with their pointmaps. Immutable once built; exporters only read it.
#pragma once

#include <cstdint>
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
  // 0 where the caller's mask leaves the photo out, [H, W]; empty without a mask. Padding is the transform's affair: see shows_photo.
  std::vector<uint8_t> mask;
  // What the network's head for points says: in the world (see Scene::world; x right, y down, z forward), in the scene's unit.
  std::vector<float> points;      // [H, W, 3]
  std::vector<float> confidence;  // [H, W], above 1
  // Estimated by the network (VGGT) or from the pointmaps (DUSt3R); empty when nobody asked.
  std::optional<Camera> camera;
  std::vector<float> depth;             // [H, W], z in the view's own camera frame; empty without a camera
  std::vector<float> depth_confidence;  // [H, W]; empty unless the network has a confidence of its own for depth
  std::vector<float> raw;               // [4, H, W] before activation: x, y, z, confidence; empty unless asked for
  std::vector<float> pose_encoding;     // [9]: what VGGT's camera head said: translation, quaternion xyzw, field of view of height, width
  std::string status = "ok";            // "skipped": the photo could not be read; such a view has a source and a reason only
  std::string reason;                   // why it is not ok
};

// Whose frame points and cameras are in.
enum class WorldFrame {
  kFirstCamera,  // the camera frame of the first view that is ok, exactly: its world_from_cam is the identity
  kNetwork,      // the network's own idea of the same (VGGT): what it predicts for that view is near the identity, and left as it is
};

// The unit of length of points, depths and translations.
struct SceneScale {
  bool is_metric = false;  // metres; else unknown: the networks of today do not say how large a place is
  std::string source;      // of metric: what fixed it, for people
};

struct Scene {
  std::vector<SceneView> views;
  WorldFrame world = WorldFrame::kFirstCamera;
  SceneScale scale;
  std::string model;       // as the caller named it
  std::string model_hash;  // of the weights, empty when unknown
};

}  // namespace pointmap
