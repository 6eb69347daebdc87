#include "scene/photo_names.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "scene/scene_meta.h"

namespace pointmap {

namespace {

namespace fs = std::filesystem;

fs::path common_folder(const fs::path& a, const fs::path& b) {
  fs::path common;
  const auto [end, unused] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  for (auto part = a.begin(); part != end; ++part) common /= *part;
  return common;
}

// [views]; nothing for those that are not ok or have no file name.
std::vector<std::optional<fs::path>> photo_paths(const Scene& scene, bool absolute) {
  std::vector<std::optional<fs::path>> paths;
  for (const SceneView& view : scene.views) {
    std::optional<fs::path>& path = paths.emplace_back();
    if (view.status != "ok" || fs::path(view.source).filename().empty()) continue;
    path = (absolute ? fs::absolute(view.source) : fs::path(view.source)).lexically_normal();
  }
  return paths;
}

// Nothing when some name would lead out of the folder.
std::optional<PhotoNames> names_of(const std::vector<std::optional<fs::path>>& paths) {
  std::optional<fs::path> folder;
  for (const auto& path : paths) {
    if (path) folder = folder ? common_folder(*folder, path->parent_path()) : path->parent_path();
  }
  PhotoNames result{.folder = folder && !folder->empty() ? folder->string() : ".", .names = {}};
  for (const auto& path : paths) {
    const fs::path name = path ? path->lexically_relative(result.folder) : fs::path();
    if (path && (name.empty() || *name.begin() == "..")) return std::nullopt;
    result.names.push_back(name.string());
  }
  return result;
}

}  // namespace

PhotoNames photo_names(const Scene& scene) {
  // As the caller wrote them, if that will do: where somebody's home is, is nobody's business.
  std::optional<PhotoNames> names = names_of(photo_paths(scene, false));
  if (!names) names = names_of(photo_paths(scene, true));
  for (size_t i = 0; i < scene.views.size(); ++i) {
    if (scene.views[i].status == "ok" && names->names[i].empty()) names->names[i] = view_array_name("view", i);
  }
  return *names;
}

std::string path_from_folder(const std::string& photo, const fs::path& folder) {
  // Absolute first: of a relative path that does not exist the canonical one would be relative.
  const fs::path file = fs::absolute(photo), base = fs::absolute(folder);
  std::error_code base_error, file_error;  // of folders that nobody may look into: then their names alone must do
  const fs::path from = fs::weakly_canonical(base, base_error), to = fs::weakly_canonical(file.parent_path(), file_error);
  const bool is_known = !base_error && !file_error;
  return ((is_known ? to : file.parent_path().lexically_normal()) / file.filename())
      .lexically_relative(is_known ? from : base.lexically_normal())
      .generic_string();
}

}  // namespace pointmap
