#include "scene/export_colmap.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "geometry/pinhole.h"
#include "geometry/quaternion.h"
#include "io/colmap/colmap_writer.h"
#include "io/npz/zip_writer.h"
#include "scene/photo_names.h"
#include "scene/scene_meta.h"
#include "scene/stored_camera.h"

namespace pointmap {

namespace {

namespace fs = std::filesystem;

// COLMAP puts (0.5, 0.5) where we put (0, 0): at the centre of the top-left pixel.
constexpr double kColmapFromOurs = 0.5;

// The quickest level: the text half of a model shrinks to a third with it, and by little more with others.
constexpr int kZipLevel = 1;

// A folder beside `path` that goes with the object.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& path) {
    std::string name = path.string() + ".tmp-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw Error{kIoError, "cannot make a folder like '" + name + "'"};
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// What a ColmapModel points to, besides the cloud.
struct ModelArrays {
  std::vector<ColmapCamera> cameras;
  std::vector<ColmapImage> images;
  std::vector<double> pixels;  // [N, 2]
  std::vector<double> errors;  // [N]
};

size_t place_of_camera(const StoredCamera& camera, std::vector<ColmapCamera>& cameras) {
  const ColmapCamera wanted = {.width = static_cast<uint64_t>(camera.width),
                               .height = static_cast<uint64_t>(camera.height),
                               .fx = camera.intrinsics.fx,
                               .fy = camera.intrinsics.fy,
                               .cx = camera.intrinsics.cx + kColmapFromOurs,
                               .cy = camera.intrinsics.cy + kColmapFromOurs};
  const auto found = std::ranges::find(cameras, wanted);
  const auto place = static_cast<size_t>(found - cameras.begin());
  if (found == cameras.end()) cameras.push_back(wanted);
  return place;
}

// Pixels between where the camera puts a point and where the network saw it; -1 for a point not in front of the camera.
double reprojection_error(const StoredCamera& camera, const Point3& point, Pixel seen) {
  const Point3 in_cam = transform_point(camera.cam_from_world, point);
  if (!(in_cam[2] > 0)) return -1;
  const Pixel projected = project(camera.intrinsics, in_cam);
  const double error = std::hypot(projected.u - seen.u, projected.v - seen.v);
  return std::isfinite(error) ? error : -1;
}

void add_observations(const ExportJob& job, size_t view_index, const StoredCamera& camera, ModelArrays& arrays) {
  const ViewTransform& transform = job.shown.views[view_index].transform;
  const auto width = static_cast<uint32_t>(transform.network_width);
  for (const uint32_t index : job.selection.pixels[view_index]) {
    const Pixel seen = transform.stored_from_network({static_cast<double>(index % width), static_cast<double>(index / width)});
    const float* point = &job.cloud.positions[3 * arrays.errors.size()];
    arrays.pixels.push_back(seen.u + kColmapFromOurs);
    arrays.pixels.push_back(seen.v + kColmapFromOurs);
    arrays.errors.push_back(reprojection_error(camera, {point[0], point[1], point[2]}, seen));
  }
}

ModelArrays make_arrays(const ExportJob& job, const PhotoNames& names) {
  ModelArrays arrays;
  arrays.pixels.reserve(2 * job.cloud.size());
  arrays.errors.reserve(job.cloud.size());
  for (size_t i = 0; i < job.shown.views.size(); ++i) {
    const SceneView& view = job.shown.views[i];
    if (view.status != "ok") continue;
    const StoredCamera camera = stored_camera(view);
    const Quaternion q = quaternion_from_rotation(camera.cam_from_world.rotation);
    arrays.images.push_back({.id = static_cast<uint32_t>(i + 1),
                             .camera = place_of_camera(camera, arrays.cameras),
                             .rotation = {q.w, q.x, q.y, q.z},
                             .translation = camera.cam_from_world.translation,
                             .name = names.names[i],
                             .num_points = job.selection.pixels[i].size()});
    add_observations(job, i, camera, arrays);
  }
  return arrays;
}

std::vector<std::string> head_comments(const ExportJob& job, const PhotoNames& names) {
  std::vector<std::string> comments = {
      "generator: " + job.options.generator, "model: " + job.scene.model, "convention: " + colmap_convention(job.scene),
      "points: " + kept_description(job.selection),
      "photos: names are relative to the folder '" + names.folder +
          "'; blanks and line breaks in them are '_' in the text files, since COLMAP would end the name there"};
  for (std::string& comment : comments) comment = on_one_line(comment);
  return comments;
}

std::string readme(const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& comment : comments) text += comment + "\n";
  return text +
         "\n"
         "sparse/0:       binary model; colmap gui --import_path sparse/0 --image_path PHOTOS\n"
         "sparse_text/0:  the same as text\n"
         "\n"
         "Every point has a track of one observation: the pixel in which the network saw it. ERROR is the distance in pixels\n"
         "between that pixel and where the camera puts the point, -1 for a point that is not in front of the camera.\n";
}

}  // namespace

std::string colmap_convention(const Scene& scene) {
  return "cameras are PINHOLE, in pixels of the photo as it is stored, EXIF orientation not applied, with (0.5, 0.5) the centre of the "
         "top-left pixel; rotation (w, x, y, z) and translation take points from the world to the camera, x right, y down, z forward; the "
         "world is " +
         world_description(scene) + ", " + scale_description(scene) + "; images have the numbers of their views, from 1" + exif_note(scene);
}

std::vector<fs::path> export_colmap(const ExportJob& job, const fs::path& root) {
  const PhotoNames names = photo_names(job.scene);
  const ModelArrays arrays = make_arrays(job, names);
  const ColmapModel model = {.cameras = arrays.cameras,
                             .images = arrays.images,
                             .positions = job.cloud.positions,
                             .colors = job.cloud.colors,
                             .pixels = arrays.pixels,
                             .errors = arrays.errors};
  const fs::path binary = root / "sparse" / "0", text = root / "sparse_text" / "0";
  make_folder(binary);
  make_folder(text);
  const std::vector<std::string> comments = head_comments(job, names);
  write_colmap_binary(binary, model);
  write_colmap_text(text, model, comments);
  write_file(root / "README.txt", readme(comments));

  std::vector<fs::path> files;
  for (const char* name : {"cameras", "images", "points3D"}) files.push_back(binary / (std::string(name) + ".bin"));
  for (const char* name : {"cameras", "images", "points3D"}) files.push_back(text / (std::string(name) + ".txt"));
  files.push_back(root / "README.txt");
  return files;
}

void export_colmap_zip(const ExportJob& job, const fs::path& path) {
  const ScratchFolder scratch(path);
  ZipWriter zip(path, {.deflate_level = kZipLevel});
  for (const fs::path& file : export_colmap(job, scratch.path())) {
    const MappedFile content(file);
    zip.add("colmap/" + file.lexically_relative(scratch.path()).generic_string(),
            {reinterpret_cast<const char*>(content.bytes().data()), content.bytes().size()});
  }
  zip.finish();
}

}  // namespace pointmap
