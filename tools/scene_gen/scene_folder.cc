// Pictures as PNG, truth as .npz, the rest as JSON.
#include "scene_folder.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "io/image/png_encode.h"
#include "io/npz/npz_writer.h"

namespace pointmap::scene_gen {

namespace {

constexpr const char* kPictures[2] = {"view_1.png", "view_2.png"};
constexpr const char* kConvention =
    "x_in_world = world_from_cam_K * x_in_cam_K, row-major; camera axes: x right, y down, z forward; world: z up; intrinsics_K in pixels, "
    "whole "
    "coordinates at pixel centres; depth_K is z in camera K, 0 where there is no truth";

std::string folder_name(uint64_t index) {
  const std::string digits = std::to_string(index);
  std::string name = "scene_";
  for (size_t i = digits.size(); i < 5; ++i) name += '0';
  return name += digits;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error{kIoError, "cannot make the folder '" + folder.string() + "': " + error.message()};
  std::filesystem::remove(folder / "scene.json", error);
  if (error) throw Error{kIoError, "cannot replace '" + (folder / "scene.json").string() + "': " + error.message()};
}

void write_picture(const std::filesystem::path& path, const View& view, const Camera& camera) {
  write_file(path, encode_png8(view.rgb, camera.width, camera.height, 3));
}

void write_truth(const std::filesystem::path& path, const PairPlan& plan, const std::array<View, 2>& views) {
  NpzWriter npz(path, {.deflate_level = 6});
  for (size_t i = 0; i < 2; ++i) {
    const std::string suffix = i == 0 ? "_1" : "_2";
    const Camera& camera = plan.cameras[i];
    npz.add("depth" + suffix, DType::kF32, Shape{camera.height, camera.width}, std::as_bytes(std::span(views[i].depth)));
    const double focal = static_cast<double>(camera.focal_px);
    const double intrinsics[9] = {focal, 0, 0.5 * (camera.width - 1), 0, focal, 0.5 * (camera.height - 1), 0, 0, 1};
    npz.add("intrinsics" + suffix, DType::kF64, Shape{3, 3}, std::as_bytes(std::span(intrinsics)));
    double pose[16];
    world_from_cam(camera, pose);
    npz.add("world_from_cam" + suffix, DType::kF64, Shape{4, 4}, std::as_bytes(std::span(pose)));
  }
  npz.finish();
}

void write_description(const std::filesystem::path& path, const PairPlan& plan, const PairOptions& options, uint64_t index) {
  const bool is_room = plan.scene.surroundings == Surroundings::kRoom;
  nlohmann::ordered_json json;
  json["format"] = "pointmap-scene";
  json["version"] = 1;
  json["views"] = kPictures;
  json["truth"] = "truth.npz";
  json["scale"] = "metric";
  json["convention"] = kConvention;
  json["overlap"] = plan.overlap;
  json["generator"] = {{"program", "scene_gen"},
                       {"version", kGeneratorVersion},
                       {"seed", options.seed},
                       {"index", index},
                       {"kind", is_room ? "room" : "ground"}};
  write_file(path, json.dump(2) + "\n");
}

void write_scene(const Kernel& kernel, const SceneFolderOptions& options, uint64_t index) {
  const PairPlan plan = plan_pair(kernel, options.pair, index);
  Renderer renderer(kernel, options.pair.width, options.pair.height);
  std::array<View, 2> views;
  for (size_t i = 0; i < 2; ++i) renderer.render(plan.scene, plan.cameras[i], plan.exposures[i], views[i]);

  const std::filesystem::path folder = options.out / folder_name(index);
  make_folder(folder);
  for (size_t i = 0; i < 2; ++i) write_picture(folder / kPictures[i], views[i], plan.cameras[i]);
  write_truth(folder / "truth.npz", plan, views);
  write_description(folder / "scene.json", plan, options.pair, index);
}

}  // namespace

void write_scene_folders(const Kernel& kernel, const SceneFolderOptions& options) {
  ThreadPool pool(options.num_threads);
  pool.parallel_for(options.count, [&](size_t task, size_t) { write_scene(kernel, options, options.first + task); });
}

}  // namespace pointmap::scene_gen
