// Any number of photos with VGGT: prints where each was taken from, and writes a cloud with the cameras in it.
//   many MODEL FOLDER PHOTO...        (a photo may be a folder or a pattern)
#include <cstdio>
#include <iostream>

#include "pointmap/export.h"
#include "pointmap/photos.h"
#include "pointmap/pointmap.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: many MODEL FOLDER PHOTO...\n";
    return 2;
  }
  try {
    std::vector<pointmap::Photo> photos;
    for (const std::string& name : pointmap::choose_photos(pointmap::find_photos({argv + 3, argv + argc}), {.max_views = 8})) {
      photos.push_back({.name = name, .bytes = {}});
    }
    pointmap::Reconstructor reconstructor = pointmap::Reconstructor::open(argv[1]);
    std::cerr << "weights: " << reconstructor.model().license << "\n";
    const pointmap::Reconstruction run = reconstructor.reconstruct(photos, {.skip_bad = true});

    for (const pointmap::SceneView& view : run.scene.views) {
      if (!view.camera) {
        std::printf("%s: %s, %s\n", view.source.c_str(), view.status.c_str(), view.reason.c_str());
        continue;
      }
      const auto& [x, y, z] = view.camera->world_from_cam.translation;
      const pointmap::Intrinsics& k = view.camera->original;  // for the photo as a person sees it
      std::printf("%s: at %.3f %.3f %.3f, focal length %.1f x %.1f pixels\n", view.source.c_str(), x, y, z, k.fx, k.fy);
    }
    pointmap::export_scene(run.scene, argv[2], {.formats = {pointmap::ExportFormat::kGlb}, .filter = {.percentile = 25}});
  } catch (const pointmap::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
