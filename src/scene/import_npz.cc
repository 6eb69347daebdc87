#include "scene/import_npz.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "geometry/pinhole.h"
#include "pointmap/export.h"
#include "scene/export_picture.h"
#include "scene/import_scene_meta.h"
#include "scene/scene_meta.h"

namespace pointmap {
namespace {

constexpr int64_t kMaxSide = 1 << 16;
constexpr int64_t kMaxViews = 10'000;

[[noreturn]] void throw_corrupt(const NpzFile& file, const std::string& what) {
  throw Error{kCorruptData, "npz file '" + file.file() + "': " + what};
}

// The elements of the array `name`, which must be of this type and shape.
template <typename T>
std::span<const T> field(const NpzFile& file, const std::string& name, const Shape& shape) {
  const NpzArray& array = file.array(name);
  if (array.dtype != dtype_of<T>() || array.shape != shape) {
    throw_corrupt(file, "array '" + name + "' is " + std::string(dtype_name(array.dtype)) + " " + array.shape.to_string() + ", wanted " +
                            std::string(dtype_name(dtype_of<T>())) + " " + shape.to_string());
  }
  return array.as<T>();
}

template <typename T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

std::vector<double> doubles(std::span<const float> values) {
  return {values.begin(), values.end()};
}

struct Sides {
  int height = 0;
  int width = 0;
};

// Dimensions `at` and `at` + 1 of an array of pictures.
Sides sides_of(const NpzFile& file, const std::string& name, size_t at) {
  const Shape& shape = file.array(name).shape;
  const auto is_side = [](int64_t n) { return n >= 1 && n <= kMaxSide; };
  if (shape.rank() < at + 2 || !is_side(shape.dims()[at]) || !is_side(shape.dims()[at + 1])) {
    throw_corrupt(file, "array '" + name + "' is " + shape.to_string() + ", wanted 1 to " + std::to_string(kMaxSide) +
                            " rows and columns in dimensions " + std::to_string(at) + " and " + std::to_string(at + 1));
  }
  return {.height = static_cast<int>(shape.dims()[at]), .width = static_cast<int>(shape.dims()[at + 1])};
}

// Gives the view its picture's size; without a known transform the picture stands for the photo.
void set_sides(const NpzFile& file, const Sides& sides, SceneView& view) {
  ViewTransform& t = view.transform;
  view.image.width = sides.width;
  view.image.height = sides.height;
  if (t.network_width == 0) {
    t.stored_width = t.network_width = sides.width;
    t.stored_height = t.network_height = sides.height;
  }
  if (t.network_width != sides.width || t.network_height != sides.height) {
    throw_corrupt(file, "array 'meta': view '" + view.source + "' is " + std::to_string(t.network_width) + "x" +
                            std::to_string(t.network_height) + ", its arrays " + std::to_string(sides.width) + "x" +
                            std::to_string(sides.height));
  }
}

bool is_rotation(const std::array<double, 9>& r) {
  constexpr double kTolerance = 1e-3;  // networks' quaternions and float32 matrices are far nearer than that
  const auto row = [&](size_t i, size_t j) { return r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2]; };
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = i; j < 3; ++j) {
      if (std::abs(row(i, j) - (i == j ? 1 : 0)) > kTolerance) return false;
    }
  }
  return r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]) > 0;
}

// From the rows of [3, 4] or [4, 4]. Not finite passes, as networks say it; what draws cameras looks at that.
RigidTransform rigid_transform_of(const NpzFile& file, const std::string& name, std::span<const double> rows) {
  RigidTransform transform;
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) transform.rotation[3 * row + column] = rows[4 * row + column];
    transform.translation[row] = rows[4 * row + 3];
  }
  const bool is_finite = std::ranges::all_of(transform.rotation, [](double x) { return std::isfinite(x); });
  if (is_finite && !is_rotation(transform.rotation)) throw_corrupt(file, "array '" + name + "' holds a rotation that is none");
  return transform;
}

Intrinsics intrinsics_of(std::span<const double> rows) {
  return {.fx = rows[0], .fy = rows[4], .cx = rows[2], .cy = rows[5]};
}

// ---- each view's arrays by themselves

Camera camera_of(const NpzFile& file, size_t index) {
  const auto name = [&](const char* stem) { return view_array_name(stem, index); };
  const std::string pose = name("world_from_cam");
  return {.world_from_cam = rigid_transform_of(file, pose, field<double>(file, pose, {4, 4})),
          .network = intrinsics_of(field<double>(file, name("intrinsics"), {3, 3})),
          .original = intrinsics_of(field<double>(file, name("original_intrinsics"), {3, 3}))};
}

void add_view_arrays(const NpzFile& file, size_t index, SceneView& view) {
  const auto name = [&](const char* stem) { return view_array_name(stem, index); };
  set_sides(file, sides_of(file, name("pts3d"), 0), view);
  const int64_t height = view.image.height, width = view.image.width;
  view.points = copied(field<float>(file, name("pts3d"), {height, width, 3}));
  view.confidence = copied(field<float>(file, name("conf"), {height, width}));
  if (file.has(name("depth"))) view.depth = copied(field<float>(file, name("depth"), {height, width}));
  if (file.has(name("raw"))) view.raw = copied(field<float>(file, name("raw"), {4, height, width}));
  if (file.has(name("mask"))) view.mask = copied(field<uint8_t>(file, name("mask"), {height, width}));
  if (file.has(name("world_from_cam"))) view.camera = camera_of(file, index);
  if (file.has(name("image"))) {
    view.image.rgb = copied(field<uint8_t>(file, name("image"), {height, width, 3}));
  } else {
    view.image = depth_picture(view);
  }
}

// ---- all views of a size stacked

// One array of the stack, a view's part at a time.
template <typename T>
class StackedField {
 public:
  enum Need { kOptional, kRequired };

  // shape: of all views. Empty when the archive has none and need not have it.
  StackedField(const NpzFile& file, const char* name, const Shape& shape, Need need) {
    if (need == kOptional && !file.has(name)) return;
    all_ = field<T>(file, name, shape);
    part_size_ = all_.size() / static_cast<size_t>(shape.dims()[0]);
  }
  std::span<const T> operator[](size_t place) const { return all_.subspan(place * part_size_, part_size_); }
  bool empty() const { return all_.empty(); }

 private:
  std::span<const T> all_;
  size_t part_size_ = 0;
};

using Floats = StackedField<float>;

// From [3, H, W] in [0, 1].
std::vector<uint8_t> rgb_of_planes(std::span<const float> planes) {
  const size_t pixels = planes.size() / 3;
  std::vector<uint8_t> rgb(planes.size());
  for (size_t i = 0; i < rgb.size(); ++i) {
    const float value = planes[i % 3 * pixels + i / 3];
    rgb[i] = std::isfinite(value) ? static_cast<uint8_t>(std::lround(255 * std::clamp(value, 0.0f, 1.0f))) : uint8_t{0};
  }
  return rgb;
}

class Stack {
 public:
  Stack(const NpzFile& file, int64_t s, const Sides& sides) : Stack(file, s, sides.height, sides.width) {}

  void fill(size_t place, SceneView& view) const {
    view.points = copied(points_[place]);
    view.confidence = copied(confidence_[place]);
    view.depth = copied(depth_[place]);
    view.depth_confidence = copied(depth_confidence_[place]);
    view.mask = copied(masks_[place]);
    view.pose_encoding = copied(pose_encoding_[place]);
    const Intrinsics network = intrinsics_of(doubles(intrinsic_[place]));
    view.camera = {
        .world_from_cam = inverse(rigid_transform_of(file_, "extrinsic", doubles(extrinsic_[place]))),
        .network = network,
        .original = original_intrinsic_.empty() ? original_intrinsics(network, view.transform) : intrinsics_of(original_intrinsic_[place])};
    if (images_.empty()) {
      view.image = depth_picture(view);
    } else {
      view.image.rgb = rgb_of_planes(images_[place]);
    }
  }

 private:
  Stack(const NpzFile& file, int64_t s, int64_t h, int64_t w)
      : file_(file),
        images_(file, "images", {s, 3, h, w}, Floats::kOptional),
        depth_(file, "depth", {s, h, w, 1}, Floats::kRequired),
        depth_confidence_(file, "depth_conf", {s, h, w}, Floats::kRequired),
        points_(file, "world_points", {s, h, w, 3}, Floats::kRequired),
        confidence_(file, "world_points_conf", {s, h, w}, Floats::kRequired),
        pose_encoding_(file, "pose_enc", {s, 9}, Floats::kOptional),
        extrinsic_(file, "extrinsic", {s, 3, 4}, Floats::kRequired),
        intrinsic_(file, "intrinsic", {s, 3, 3}, Floats::kRequired),
        original_intrinsic_(file, "original_intrinsic", {s, 3, 3}, StackedField<double>::kOptional),
        masks_(file, "masks", {s, h, w}, StackedField<uint8_t>::kOptional) {}

  const NpzFile& file_;
  Floats images_, depth_, depth_confidence_, points_, confidence_, pose_encoding_, extrinsic_, intrinsic_;
  StackedField<double> original_intrinsic_;
  StackedField<uint8_t> masks_;
};

// ---- the whole

// Views as `meta` has them, or so many without a name.
Scene scene_without_arrays(const NpzFile& file, int64_t num_views) {
  if (file.has("meta")) {
    const auto text = field<uint8_t>(file, "meta", file.array("meta").shape);
    return import_scene_meta({reinterpret_cast<const char*>(text.data()), text.size()}, "npz file '" + file.file() + "': array 'meta'");
  }
  Scene scene;
  scene.views.resize(static_cast<size_t>(num_views));
  for (size_t i = 0; i < scene.views.size(); ++i) scene.views[i].source = "view " + std::to_string(i + 1);
  return scene;
}

Scene scene_of_stack(const NpzFile& file) {
  const Sides sides = sides_of(file, "world_points", 1);
  const int64_t num_views = file.array("world_points").shape.dims()[0];
  if (num_views < 1 || num_views > kMaxViews) {
    throw_corrupt(file, "array 'world_points' has " + std::to_string(num_views) + " views, wanted 1 to " + std::to_string(kMaxViews));
  }
  const Stack stack(file, num_views, sides);
  Scene scene = scene_without_arrays(file, num_views);
  scene.world = WorldFrame::kNetwork;
  const auto num_ok = std::ranges::count(scene.views, "ok", &SceneView::status);
  if (num_ok != num_views) {
    throw_corrupt(file,
                  "array 'meta' has " + std::to_string(num_ok) + " views that are ok, array 'world_points' " + std::to_string(num_views));
  }
  size_t place = 0;
  for (SceneView& view : scene.views) {
    if (view.status != "ok") continue;
    set_sides(file, sides, view);
    stack.fill(place++, view);
  }
  return scene;
}

Scene scene_of_views(const NpzFile& file) {
  size_t num_views = 1;  // so that the message about the first one says what there is instead
  while (file.has(view_array_name("pts3d", num_views))) ++num_views;
  Scene scene = scene_without_arrays(file, static_cast<int64_t>(num_views));
  for (size_t i = 0; i < scene.views.size(); ++i) {
    if (scene.views[i].status == "ok") add_view_arrays(file, i, scene.views[i]);
  }
  return scene;
}

}  // namespace

Scene import_npz(const NpzFile& file) {
  Scene scene = file.has("world_points") ? scene_of_stack(file) : scene_of_views(file);
  if (std::ranges::none_of(scene.views, [](const SceneView& view) { return view.status == "ok"; })) throw_corrupt(file, "no view is ok");
  return scene;
}

Scene read_scene(const std::filesystem::path& npz) {
  return import_npz(NpzFile::read(npz));
}

}  // namespace pointmap
