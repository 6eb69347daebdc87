#include "eval/scene_folder.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"
#include "base/mapped_file.h"
#include "io/npz/npz_file.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSceneFile = "scene.json";
constexpr size_t kMaxSceneFileBytes = size_t{1} << 20;
constexpr size_t kMaxViews = 10'000;
constexpr NpzLimits kTruthLimits = {.max_file_bytes = uint64_t{4} << 30, .max_unpacked_bytes = uint64_t{4} << 30, .max_members = 40'000};

[[noreturn]] void corrupt(const fs::path& file, const std::string& what) {
  throw Error{kCorruptData, "'" + file.string() + "': " + what};
}

// A file of the scene, named in scene.json; names that lead out of the folder are refused.
fs::path file_of_scene(const fs::path& folder, const std::string& name) {
  const fs::path relative = name;
  const bool leads_out = relative.is_absolute() || std::ranges::find(relative, fs::path("..")) != relative.end();
  if (name.empty() || leads_out) corrupt(folder / kSceneFile, "'" + name + "' does not name a file in this folder");
  std::error_code ignored;  // what cannot be looked at is not there for us
  if (fs::is_regular_file(folder / relative, ignored)) return folder / relative;
  throw Error{kNotFound, "'" + (folder / kSceneFile).string() + "' names '" + name + "', which is not there"};
}

nlohmann::json parse_scene_file(const fs::path& file) {
  const MappedFile bytes(file);
  if (bytes.bytes().size() > kMaxSceneFileBytes) {
    throw Error{kLimitExceeded, "'" + file.string() + "' has " + std::to_string(bytes.bytes().size()) + " bytes, the limit is " +
                                    std::to_string(kMaxSceneFileBytes)};
  }
  const auto* text = reinterpret_cast<const char*>(bytes.bytes().data());
  nlohmann::json json = nlohmann::json::parse(text, text + bytes.bytes().size(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) corrupt(file, "this is not JSON");
  if (!json.is_object()) corrupt(file, "the top is not an object");
  return json;
}

// The value of a key, which must be of a type: is_string and the like.
const nlohmann::json& value_of(const nlohmann::json& json, const char* key, bool (nlohmann::json::*is_type)() const noexcept,
                               const fs::path& file) {
  const auto found = json.find(key);
  if (found == json.end()) corrupt(file, std::string("there is no key '") + key + "'");
  if (!((*found).*is_type)()) corrupt(file, std::string("'") + key + "' is " + found->type_name() + ", wanted another type");
  return *found;
}

template <typename T>
std::span<const T> array_of(const NpzFile& npz, const std::string& name, size_t rank) {
  const NpzArray& array = npz.array(name);
  const std::string where = "array '" + name + "'";
  if (array.dtype != dtype_of<T>()) {
    corrupt(npz.file(), where + " is " + std::string(dtype_name(array.dtype)) + ", wanted " + std::string(dtype_name(dtype_of<T>())));
  }
  if (array.shape.rank() != rank) {
    corrupt(npz.file(), where + " has " + std::to_string(array.shape.rank()) + " dimensions, wanted " + std::to_string(rank));
  }
  return array.as<T>();
}

std::span<const double> matrix_of(const NpzFile& npz, const std::string& name, int64_t side) {
  const std::span<const double> matrix = array_of<double>(npz, name, 2);
  if (npz.array(name).shape != Shape{side, side}) {
    corrupt(npz.file(), "array '" + name + "' is not " + std::to_string(side) + " x " + std::to_string(side));
  }
  if (!std::ranges::all_of(matrix, [](double x) { return std::isfinite(x); })) {
    corrupt(npz.file(), "array '" + name + "' holds numbers that are not finite");
  }
  return matrix;
}

Intrinsics intrinsics_of(const NpzFile& npz, const std::string& name) {
  const std::span<const double> k = matrix_of(npz, name, 3);
  const bool is_pinhole = k[0] > 0 && k[4] > 0 && k[1] == 0 && k[3] == 0 && k[6] == 0 && k[7] == 0 && k[8] == 1;
  if (!is_pinhole) corrupt(npz.file(), "array '" + name + "' is not [[fx, 0, cx], [0, fy, cy], [0, 0, 1]] with fx, fy above 0");
  return {.fx = k[0], .fy = k[4], .cx = k[2], .cy = k[5]};
}

// Rows and columns of a rotation from single precision are orthonormal to a few 1e-7; a matrix with scale or shear is off by much more.
constexpr double kMaxRotationFault = 1e-4;

RigidTransform pose_of(const NpzFile& npz, const std::string& name) {
  const std::span<const double> m = matrix_of(npz, name, 4);
  RigidTransform pose;
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 3; ++c) pose.rotation[3 * r + c] = m[4 * r + c];
    pose.translation[r] = m[4 * r + 3];
  }
  const std::array<double, 9>& q = pose.rotation;
  double fault = std::abs(m[12]) + std::abs(m[13]) + std::abs(m[14]) + std::abs(m[15] - 1);
  for (size_t a = 0; a < 3; ++a) {
    for (size_t b = 0; b < 3; ++b) {
      const double product = q[a] * q[b] + q[3 + a] * q[3 + b] + q[6 + a] * q[6 + b];
      fault = std::max(fault, std::abs(product - (a == b ? 1 : 0)));
    }
  }
  const double determinant = q[0] * (q[4] * q[8] - q[5] * q[7]) - q[1] * (q[3] * q[8] - q[5] * q[6]) + q[2] * (q[3] * q[7] - q[4] * q[6]);
  if (!(fault <= kMaxRotationFault && determinant > 0)) {
    corrupt(npz.file(), "array '" + name + "' is not a rotation and a translation with the last row 0 0 0 1");
  }
  return pose;
}

}  // namespace

std::vector<fs::path> find_scene_folders(const fs::path& root) {
  std::error_code error;
  if (!fs::is_directory(root, error)) throw Error{kNotFound, "there is no folder '" + root.string() + "'"};
  std::vector<fs::path> folders;
  if (fs::is_regular_file(root / kSceneFile, error)) folders.push_back(root);
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // what cannot be looked at holds no scene
    if (entry->is_directory(ignored) && fs::is_regular_file(entry->path() / kSceneFile, ignored)) folders.push_back(entry->path());
  }
  if (error) throw Error{kIoError, "cannot look through '" + root.string() + "': " + error.message()};
  if (folders.empty()) {
    throw Error{kNotFound, "no scene in '" + root.string() + "': looked for " + kSceneFile + " in it and in every folder below"};
  }
  std::ranges::sort(folders);
  return folders;
}

SceneFolder read_scene_folder(const fs::path& folder) {
  const fs::path file = folder / kSceneFile;
  const nlohmann::json json = parse_scene_file(file);
  const auto& format = value_of(json, "format", &nlohmann::json::is_string, file).get_ref<const std::string&>();
  if (format != "pointmap-scene") throw Error{kUnsupported, "'" + file.string() + "': format is '" + format + "', want 'pointmap-scene'"};
  const auto version = value_of(json, "version", &nlohmann::json::is_number_integer, file).get<int64_t>();
  if (version != 1) throw Error{kUnsupported, "'" + file.string() + "': version is " + std::to_string(version) + ", want 1"};

  SceneFolder scene{.folder = folder, .photos = {}, .truth = {}};
  const nlohmann::json& views = value_of(json, "views", &nlohmann::json::is_array, file);
  if (views.size() < 2 || views.size() > kMaxViews) {
    corrupt(file, "'views' has " + std::to_string(views.size()) + " entries, wanted 2 to " + std::to_string(kMaxViews));
  }
  for (const nlohmann::json& view : views) {
    if (!view.is_string()) corrupt(file, std::string("'views' holds ") + view.type_name() + ", wanted file names");
    scene.photos.push_back(file_of_scene(folder, view.get_ref<const std::string&>()));
  }
  scene.truth = file_of_scene(folder, value_of(json, "truth", &nlohmann::json::is_string, file).get_ref<const std::string&>());
  return scene;
}

std::vector<ViewTruth> read_truth(const SceneFolder& scene, size_t num_views) {
  const NpzFile npz = NpzFile::read(scene.truth, kTruthLimits);
  std::vector<ViewTruth> truth;
  for (size_t i = 0; i < num_views; ++i) {
    std::string suffix = "_";
    suffix += std::to_string(i + 1);
    const std::span<const float> depth = array_of<float>(npz, "depth" + suffix, 2);
    const Shape& shape = npz.array("depth" + suffix).shape;
    constexpr int64_t kMaxSide = 1 << 20;
    if (shape[0] < 1 || shape[0] > kMaxSide || shape[1] < 1 || shape[1] > kMaxSide) {
      corrupt(npz.file(), "array 'depth" + suffix + "' is " + std::to_string(shape[0]) + " x " + std::to_string(shape[1]));
    }
    truth.push_back({.width = static_cast<int>(shape[1]),
                     .height = static_cast<int>(shape[0]),
                     .depth = {depth.begin(), depth.end()},
                     .intrinsics = intrinsics_of(npz, "intrinsics" + suffix),
                     .world_from_cam = pose_of(npz, "world_from_cam" + suffix)});
  }
  return truth;
}

}  // namespace pointmap
