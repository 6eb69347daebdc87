// Lengths in metres, from one length that the caller knows.
#pragma once

#include <string>

#include "pointmap/pointmap.h"
#include "scene/scene.h"

namespace pointmap {

// Points, depths and cameras' places times `factor`; a network's raw values stay as they are.
void scale_scene(Scene& scene, double factor);

// The median of the valid depths of the view, above 0; 0 when there is none.
double median_depth(const SceneView& view);

// Below this share of the median depth, the distance that a network puts between cameras says nothing.
inline constexpr double kMinBaselineShare = 1e-3;

// The point of the world that a pixel of the photo shows: between the four network pixels around it where they show one surface, else that
// of the nearest one. points: [H, W, 3] of the view.
std::array<double, 3> point_at(const SceneView& view, const std::vector<float>& points, Pixel in_photo);

// Fixes the scale by a baseline or a distance, if there is one: scene.views are the photos', in their order. Says in report.known how it
// went; when it fails, the scene is as before.
void apply_known_scale(Scene& scene, const KnownInputs& known, RunReport& report);

}  // namespace pointmap
