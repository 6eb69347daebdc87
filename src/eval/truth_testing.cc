#include "eval/truth_testing.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>

#include "base/atomic_file.h"
#include "geometry/pinhole.h"
#include "io/npz/npz_writer.h"

namespace pointmap {
namespace {

constexpr int kNetworkDivisor = 3;

// Walls in the frame of camera 1, in units: n . p = d.
struct Wall {
  Point3 normal;
  double distance;
};
constexpr Wall kWalls[] = {{{0.1, 0.05, 1}, 5}, {{0, 1, 0.1}, 1.4}, {{1, 0, 0.3}, 3}, {{-1, 0.1, 0.2}, 2.5}};

double dot(const Point3& a, const Point3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Intrinsics lens_of(const Corner& corner) {
  const Pixel centre = image_centre(corner.width, corner.height);
  return {.fx = corner.focal_px, .fy = corner.focal_px, .cx = centre.u, .cy = centre.v};
}

// z in the camera's own frame of the nearest wall behind a photo pixel.
double depth_at(const Corner& corner, const RigidTransform& cam1_from_cam, Pixel pixel) {
  const Point3 ray_in_cam = unproject(lens_of(corner), pixel, 1);
  const Point3 ahead = transform_point(cam1_from_cam, ray_in_cam);
  const Point3& eye = cam1_from_cam.translation;
  const Point3 ray = {ahead[0] - eye[0], ahead[1] - eye[1], ahead[2] - eye[2]};
  double nearest = std::numeric_limits<double>::infinity();
  for (const Wall& wall : kWalls) {
    const double depth = (wall.distance * corner.unit - dot(wall.normal, eye)) / dot(wall.normal, ray);
    if (depth > 0) nearest = std::min(nearest, depth);
  }
  return nearest;
}

std::array<double, 16> matrix_of(const RigidTransform& pose) {
  std::array<double, 16> m = {};
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 3; ++c) m[4 * r + c] = pose.rotation[3 * r + c];
    m[4 * r + 3] = pose.translation[r];
  }
  m[15] = 1;
  return m;
}

std::array<RigidTransform, 2> cam1_from_cams(const Corner& corner) {
  return {RigidTransform{}, corner.cam1_from_cam2};
}

}  // namespace

RigidTransform turned(double degrees) {
  const double a = degrees * std::numbers::pi / 180;
  return {.rotation = {std::cos(a), 0, std::sin(a), 0, 1, 0, -std::sin(a), 0, std::cos(a)}, .translation = {0, 0, 0}};
}

Corner corner_of(double turn_deg) {
  Corner corner;
  corner.world_from_cam1 = turned(40);
  corner.world_from_cam1.translation = {3, -2, 1};
  corner.cam1_from_cam2 = turned(turn_deg);
  corner.cam1_from_cam2.translation = {0.8, -0.1, 0.2};
  return corner;
}

void write_corner(const std::filesystem::path& folder, const Corner& corner) {
  std::filesystem::create_directories(folder);
  NpzWriter npz(folder / "truth.npz");
  for (size_t v = 0; v < 2; ++v) {
    const RigidTransform cam1_from_cam = cam1_from_cams(corner)[v];
    const std::string suffix = v == 0 ? "_1" : "_2";
    std::vector<float> depth;
    for (int y = 0; y < corner.height; ++y) {
      for (int x = 0; x < corner.width; ++x) {
        depth.push_back(static_cast<float>(depth_at(corner, cam1_from_cam, {static_cast<double>(x), static_cast<double>(y)})));
      }
    }
    const Intrinsics lens = lens_of(corner);
    const std::array<double, 9> k = {lens.fx, 0, lens.cx, 0, lens.fy, lens.cy, 0, 0, 1};
    const std::array<double, 16> pose = matrix_of(compose(corner.world_from_cam1, cam1_from_cam));
    npz.add("depth" + suffix, DType::kF32, {corner.height, corner.width}, std::as_bytes(std::span(depth)));
    npz.add("intrinsics" + suffix, DType::kF64, {3, 3}, std::as_bytes(std::span(k)));
    npz.add("world_from_cam" + suffix, DType::kF64, {4, 4}, std::as_bytes(std::span(pose)));
    std::ofstream(folder / ("view" + suffix + ".png")) << "not looked at: the tests hand in what a network would say";
  }
  npz.finish();
  std::ofstream(folder / "scene.json")
      << R"({"format": "pointmap-scene", "version": 1, "views": ["view_1.png", "view_2.png"], "truth": "truth.npz"})";
}

Reconstruction perfect_run(const Corner& corner, double factor) {
  Reconstruction run;
  run.scene.model = "oracle";
  for (size_t v = 0; v < 2; ++v) {
    const RigidTransform cam1_from_cam = cam1_from_cams(corner)[v];
    SceneView view;
    ViewTransform& t = view.transform;
    t.stored_width = corner.width;
    t.stored_height = corner.height;
    t.scale_x = t.scale_y = kNetworkDivisor;
    t.network_width = view.image.width = corner.width / kNetworkDivisor;
    t.network_height = view.image.height = corner.height / kNetworkDivisor;
    for (int y = 0; y < t.network_height; ++y) {
      for (int x = 0; x < t.network_width; ++x) {
        const Pixel photo = {kNetworkDivisor * x + 1.0, kNetworkDivisor * y + 1.0};  // the middle of three
        const Point3 point = transform_point(cam1_from_cam, unproject(lens_of(corner), photo, depth_at(corner, cam1_from_cam, photo)));
        for (const double c : point) view.points.push_back(static_cast<float>(factor * c));
        view.confidence.push_back(1);
      }
    }
    Camera camera{.world_from_cam = cam1_from_cam, .network = {}, .original = lens_of(corner)};
    for (double& c : camera.world_from_cam.translation) c *= factor;
    view.camera = camera;
    run.scene.views.push_back(std::move(view));
  }
  run.report.pose = PoseReport{};
  run.report.stages = {{"all", 5}};
  return run;
}

}  // namespace pointmap
