// A finished scene to files, in the formats asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pointmap/scene.h"

namespace pointmap {

struct ConfidenceFilter {
  // Points below this percentile of the confidences of all views together are left out: 0 keeps all, 100 the most confident only.
  double percentile = 0;
};

// Which points a cloud shows.
enum class PointSource {
  kAuto,   // kDepth for a view whose network has a confidence of its own for depth (VGGT), else kHead
  kHead,   // SceneView::points and confidence: the network's head for points
  kDepth,  // every pixel put at its depth on the ray of the camera; with the depth's confidence if there is one. Upstream VGGT's default
};

// "auto", "head", "depth". Throws Error{kInvalidArgument} naming the word and listing the names.
PointSource parse_point_source(std::string_view name);

enum class ExportFormat { kNpz, kPly, kGlb, kDepth, kPicture, kColmap, kNerfstudio, kTum, kHtml };

// "npz", "ply", "glb", "depth", "picture", "colmap", "nerfstudio", "tum", "html"
std::string_view export_format_name(ExportFormat format);
// Whether a scene without cameras cannot be written so.
bool needs_cameras(ExportFormat format);
std::vector<std::string_view> export_format_names();  // all of them

// Some of these names separated by commas, in any order, or "all". Throws Error{kInvalidArgument} naming the word and listing the names.
std::set<ExportFormat> parse_formats(std::string_view text);

// Of a depth map: 16-bit PNG with a scale; Portable FloatMap, OpenEXR (channel Z) and NumPy, which hold the floats themselves.
enum class DepthFormat { kPng16, kPfm, kExr, kNpy };

std::string_view depth_format_name(DepthFormat format);            // "png16", "pfm", "exr", "npy"
std::vector<std::string_view> depth_format_names();                // all of them
std::set<DepthFormat> parse_depth_formats(std::string_view text);  // as parse_formats

struct ExportOptions {
  std::set<ExportFormat> formats = {ExportFormat::kNpz, ExportFormat::kPly, ExportFormat::kGlb};
  ConfidenceFilter filter = {};             // of ply, glb, picture and colmap; html starts with it; npz and depth are complete
  PointSource points = PointSource::kAuto;  // of these and html
  std::set<DepthFormat> depth_formats = {DepthFormat::kPng16};  // of depth, at least one
  std::string generator = "pointmap";                           // program and version, written into every file that has a place for it
  bool ply_normals = false;  // nx ny nz too: from the neighbouring pixels, towards the camera, 0 0 0 where none is near enough
  // Triangles between neighbouring kept pixels instead of points; none across a jump in depth, and without points that are in no triangle.
  bool glb_mesh = false;
  int npz_deflate_level = 0;
  // One archive colmap.zip, deflated, with what would lie in the folder colmap/, instead of that folder.
  bool colmap_zip = false;
  // transforms.json names photos as if they lay beside it; else it says the way from its folder to where SceneView::source is.
  bool photos_beside = false;
};

struct ExportedFile {
  std::filesystem::path path;
  ExportFormat format = ExportFormat::kNpz;
  uint64_t bytes = 0;
  size_t num_kept = 0;                      // points in the file, or pixels with depth or confidence; 0 for files that have neither
  size_t num_total = 0;                     // valid pixels (of the photo, within its mask) of the views in the file
  PointSource points = PointSource::kAuto;  // of files with a cloud: kHead or kDepth
  double depth_scale = 0;                   // of a depth map: scene units per step, 1 for floats
  std::string convention = {};              // what its numbers mean, for people; empty where the file next to it says it
};

struct RefusedFormat {
  ExportFormat format = ExportFormat::kNpz;
  std::string reason;  // names the view
};

// The formats that this scene cannot be written in. colmap, nerfstudio and tum need a camera for every view that is ok; colmap and
// nerfstudio speak of the photo's pixels as they are stored, and cannot when EXIF orientation mirrors them (2, 4, 5, 7).
std::vector<RefusedFormat> refused_formats(const Scene& scene);

// Writes scene.npz, scene.ply, scene.glb, depth_N.png (.pfm, .exr, .npy) and conf_N.png with depth.json, cloud.png (photo, depth and cloud
// side by side), colmap/ (a sparse model, binary in sparse/0 and as text in sparse_text/0; or colmap.zip), transforms.json (nerfstudio),
// trajectory.txt (TUM) and scene.html (a page that shows points and cameras, without server and network) into `folder`, which is made if it
// is missing; files of the same name are replaced, each in one step. Throws Error{kInvalidArgument} for a scene that is not whole, for a
// filter out of range, when a point cloud or a mesh would be empty, for points from depth of a view without depth and camera, and for a
// format that refused_formats names, all of it before the first file appears; Error{kIoError, kNotFound} naming the path.
std::vector<ExportedFile> export_scene(const Scene& scene, const std::filesystem::path& folder, const ExportOptions& options = {});

// Back from scene.npz, of either form; colours of depth take the place of pictures that it does not hold. The file may be anybody's: throws
// Error{kCorruptData, kNotFound, kUnsupported, kLimitExceeded, kIoError} naming file and array.
Scene read_scene(const std::filesystem::path& npz);

// scene.html alone, under any name. Throws as export_scene does; options.formats is not looked at.
ExportedFile export_page(const Scene& scene, const std::filesystem::path& path, const ExportOptions& options = {});

}  // namespace pointmap
