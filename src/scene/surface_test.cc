// Normals and triangles of surfaces whose shape is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "base/error.h"
#include "geometry/pinhole.h"
#include "geometry/rigid_transform.h"
#include "scene/surface_mesh.h"
#include "scene/surface_normals.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kWidth = 64;
constexpr int kHeight = 48;
const Intrinsics kLens = {.fx = 60, .fy = 60, .cx = (kWidth - 1) / 2.0, .cy = (kHeight - 1) / 2.0};
// At (1, 2, 3), turned a quarter to the right about the vertical: its z axis is the world's x.
const RigidTransform kTurned = {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {1, 2, 3}};

// What a camera sees of a surface given as depth over pixels.
template <typename Depth>
Scene surface(const Depth& depth, const RigidTransform& world_from_cam = {}) {
  SceneView view;
  view.transform.stored_width = view.transform.network_width = view.image.width = kWidth;
  view.transform.stored_height = view.transform.network_height = view.image.height = kHeight;
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      const Point3 in_cam = unproject(kLens, {static_cast<double>(u), static_cast<double>(v)}, depth(u, v));
      for (const double c : transform_point(world_from_cam, in_cam)) view.points.push_back(static_cast<float>(c));
      view.confidence.push_back(2);
      view.image.rgb.insert(view.image.rgb.end(), {static_cast<uint8_t>(u), static_cast<uint8_t>(v), 7});
    }
  }
  view.camera = Camera{.world_from_cam = world_from_cam, .network = kLens, .original = kLens};
  Scene scene;
  scene.views.push_back(std::move(view));
  return scene;
}

double flat(int, int) {
  return 2;
}
// A wall that recedes to the right: z = 2 + x / 2, so z = 2 / (1 - 0.5 (u - cx) / fx). Its normal towards the eye is (1, 0, -2) / sqrt(5).
double slanted(int u, int) {
  return 2 / (1 - 0.5 * (u - kLens.cx) / kLens.fx);
}
// A near wall, a far one, and one column halfway, as networks smear edges.
double two_walls(int u, int) {
  return u < 30 ? 1.0 : u == 30 ? 3.0 : 5.0;
}

std::array<float, 3> at(const std::vector<float>& values, int u, int v) {
  const float* x = &values[3 * static_cast<size_t>(v * kWidth + u)];
  return {x[0], x[1], x[2]};
}

// Points are floats of a few units at steps of a thirtieth, so a step is off by 2^-22 / (1 / 30) at most, a cross product by twice that.
constexpr double kTolerance = 4 * 30.0 / (1 << 22);

void expect_near(const std::array<float, 3>& got, const std::array<double, 3>& want, int u, int v) {
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(got[c], want[c], kTolerance) << "pixel " << u << ", " << v << " axis " << c;
}

TEST(SurfaceNormals, FaceTheCameraToTheVeryBorder) {
  const std::vector<float> normals = surface_normals(surface(slanted).views[0]);
  const double size = std::sqrt(5.0);
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) expect_near(at(normals, u, v), {1 / size, 0, -2 / size}, u, v);
  }
}

TEST(SurfaceNormals, AreInTheWorld) {
  // The wall across the turned camera's z faces back along the world's x.
  const std::vector<float> normals = surface_normals(surface(flat, kTurned).views[0]);
  for (const auto& [u, v] : {std::pair(0, 0), std::pair(20, 30), std::pair(kWidth - 1, kHeight - 1)}) {
    expect_near(at(normals, u, v), {-1, 0, 0}, u, v);
  }
}

TEST(SurfaceNormals, FaceTheSideSeenAlsoWithoutACamera) {
  Scene scene = surface(flat);
  scene.views[0].camera.reset();
  expect_near(at(surface_normals(scene.views[0]), 5, 5), {0, 0, -1}, 5, 5);
}

TEST(SurfaceNormals, TurnTowardsTheCameraWhereTheGridFoldsOver) {
  Scene scene = surface(flat);
  std::vector<float>& points = scene.views[0].points;
  for (size_t i = 0; i < points.size(); i += 3) points[i] = -points[i];  // right and left changed places
  expect_near(at(surface_normals(scene.views[0]), 5, 5), {0, 0, -1}, 5, 5);
}

TEST(SurfaceNormals, StayOnTheirOwnSideOfAnEdge) {
  const std::vector<float> normals = surface_normals(surface(two_walls).views[0]);
  for (const int u : {0, 29, 31, kWidth - 1}) expect_near(at(normals, u, 10), {0, 0, -1}, u, 10);
  EXPECT_THAT(at(normals, 30, 10), ElementsAre(0, 0, 0)) << "hangs between the walls";
}

TEST(SurfaceNormals, AreZeroWithoutNeighboursOrAPoint) {
  Scene scene = surface(flat);
  SceneView& view = scene.views[0];
  // Row 10 stands alone: its neighbours above and below are masked.
  view.mask.assign(view.confidence.size(), 1);
  for (int u = 0; u < kWidth; ++u) view.mask[static_cast<size_t>(9 * kWidth + u)] = view.mask[static_cast<size_t>(11 * kWidth + u)] = 0;
  view.points[3 * static_cast<size_t>(20 * kWidth + 20)] = std::nanf("");
  const std::vector<float> normals = surface_normals(view);
  EXPECT_THAT(at(normals, 5, 10), ElementsAre(0, 0, 0));
  EXPECT_THAT(at(normals, 5, 9), ElementsAre(0, 0, 0)) << "masked";
  EXPECT_THAT(at(normals, 20, 20), ElementsAre(0, 0, 0)) << "no point";
  expect_near(at(normals, 21, 20), {0, 0, -1}, 21, 20);
  expect_near(at(normals, 5, 8), {0, 0, -1}, 5, 8);
}

TEST(SurfaceNormals, AreGatheredInThePointsOrder) {
  Scene scene = surface(slanted);
  scene.views.push_back(surface(flat, kTurned).views[0]);
  scene.views[0].confidence.assign(scene.views[0].confidence.size(), 1);
  scene.views[0].confidence[77] = 5;
  const PointSelection selection = select_points(scene, {.percentile = 55});
  ASSERT_EQ(selection.num_kept, static_cast<size_t>(kWidth * kHeight + 1));
  const std::vector<float> normals = gather_normals(scene, selection);
  ASSERT_EQ(normals.size(), 3 * selection.num_kept);
  EXPECT_NEAR(normals[0], 1 / std::sqrt(5.0), kTolerance) << "view 1's one point";
  EXPECT_NEAR(normals[3], -1, kTolerance) << "then view 2's";
}

SurfaceMesh mesh_of(const Scene& scene, double percentile = 0) {
  return surface_mesh(scene, select_points(scene, {.percentile = percentile}));
}

std::array<double, 3> vertex(const SurfaceMesh& mesh, uint32_t index) {
  const float* p = &mesh.vertices.positions[3 * size_t{index}];
  return {p[0], p[1], p[2]};
}

// Of the triangle's front, by the right-hand rule: its dot product with the way to the eye.
double front_faces(const SurfaceMesh& mesh, size_t triangle, const std::array<double, 3>& eye) {
  std::array<std::array<double, 3>, 3> p;
  for (size_t i = 0; i < 3; ++i) p[i] = vertex(mesh, mesh.triangles[3 * triangle + i]);
  const auto edge = [&](size_t i, size_t c) { return p[i][c] - p[0][c]; };
  double dot = 0;
  for (size_t c = 0; c < 3; ++c) {
    const size_t d = (c + 1) % 3, e = (c + 2) % 3;
    dot += (edge(1, d) * edge(2, e) - edge(1, e) * edge(2, d)) * (eye[c] - p[0][c]);
  }
  return dot;
}

TEST(SurfaceMesh, CoversASurfaceWithTrianglesThatFaceTheCamera) {
  for (const RigidTransform& pose : {RigidTransform{}, kTurned}) {
    const SurfaceMesh mesh = mesh_of(surface(slanted, pose));
    EXPECT_EQ(mesh.vertices.size(), static_cast<size_t>(kWidth * kHeight));
    ASSERT_EQ(mesh.triangles.size() / 3, static_cast<size_t>(2 * (kWidth - 1) * (kHeight - 1)));
    for (size_t t = 0; t < mesh.triangles.size() / 3; ++t) ASSERT_GT(front_faces(mesh, t, pose.translation), 0) << t;
    // Every inner edge is shared by two triangles that run along it in opposite directions: no overlap, no gap.
    std::set<std::pair<uint32_t, uint32_t>> edges;
    for (size_t i = 0; i < mesh.triangles.size(); ++i) {
      const uint32_t from = mesh.triangles[i], to = mesh.triangles[i % 3 == 2 ? i - 2 : i + 1];
      EXPECT_TRUE(edges.insert({from, to}).second) << "twice in the same direction";
    }
    size_t num_border = 0;
    for (const auto& [from, to] : edges) num_border += edges.contains({to, from}) ? 0 : 1;
    EXPECT_EQ(num_border, static_cast<size_t>(2 * (kWidth - 1) + 2 * (kHeight - 1)));
  }
}

TEST(SurfaceMesh, KeepsEachPointsColour) {
  const SurfaceMesh mesh = mesh_of(surface(flat));
  EXPECT_THAT(std::vector(mesh.vertices.colors.end() - 3, mesh.vertices.colors.end()), ElementsAre(kWidth - 1, kHeight - 1, 7));
}

TEST(SurfaceMesh, LeavesOutWhatJumpsFromNearToFar) {
  const SurfaceMesh mesh = mesh_of(surface(two_walls));
  // Columns 0 to 29 and 31 to 63; the column between is in no triangle.
  EXPECT_EQ(mesh.triangles.size() / 3, static_cast<size_t>(2 * (29 + 32) * (kHeight - 1)));
  EXPECT_EQ(mesh.vertices.size(), static_cast<size_t>((kWidth - 1) * kHeight));
  for (size_t i = 0; i < mesh.triangles.size(); i += 3) {
    const double z = vertex(mesh, mesh.triangles[i])[2];
    EXPECT_EQ(vertex(mesh, mesh.triangles[i + 1])[2], z);
    EXPECT_EQ(vertex(mesh, mesh.triangles[i + 2])[2], z);
  }
}

TEST(SurfaceMesh, TakesTheKeptPointsOnly) {
  Scene scene = surface(flat);
  scene.views[0].confidence[static_cast<size_t>(10 * kWidth + 10)] = 1;         // its four squares keep a triangle each
  scene.views[0].points[3 * static_cast<size_t>(20 * kWidth)] = std::nanf("");  // at the border: two squares
  const SurfaceMesh mesh = mesh_of(scene, 0.1);
  EXPECT_EQ(mesh.vertices.size(), static_cast<size_t>(kWidth * kHeight - 2));
  EXPECT_EQ(mesh.triangles.size() / 3, static_cast<size_t>(2 * (kWidth - 1) * (kHeight - 1) - 4 - 2));
  for (size_t t = 0; t < mesh.triangles.size() / 3; ++t) ASSERT_GT(front_faces(mesh, t, {}), 0) << t;
}

TEST(SurfaceMesh, CutsSquaresAlongTheShorterDiagonal) {
  // A ridge from the upper right to the lower left of the square (10, 10): that diagonal is level, the other dips.
  const SurfaceMesh mesh = mesh_of(surface([](int u, int v) { return u == 10 && v == 10 ? 2.1 : u == 11 && v == 11 ? 2.1 : 2.0; }));
  const auto index = [](int u, int v) { return static_cast<uint32_t>(v * kWidth + u); };
  std::set<std::set<uint32_t>> triangles;
  for (size_t i = 0; i < mesh.triangles.size(); i += 3) triangles.insert({mesh.triangles[i], mesh.triangles[i + 1], mesh.triangles[i + 2]});
  EXPECT_TRUE(triangles.contains({index(10, 10), index(11, 10), index(10, 11)}));
  EXPECT_TRUE(triangles.contains({index(11, 10), index(10, 11), index(11, 11)}));
  const SurfaceMesh other = mesh_of(surface([](int u, int v) { return u + v == 21 && (u == 10 || u == 11) ? 2.1 : 2.0; }));
  triangles.clear();
  for (size_t i = 0; i < other.triangles.size(); i += 3) {
    triangles.insert({other.triangles[i], other.triangles[i + 1], other.triangles[i + 2]});
  }
  EXPECT_TRUE(triangles.contains({index(10, 10), index(10, 11), index(11, 11)}));
  EXPECT_TRUE(triangles.contains({index(10, 10), index(11, 11), index(11, 10)}));
}

TEST(SurfaceMesh, EachViewIsASheetOfItsOwn) {
  Scene scene = surface(flat);
  scene.views.push_back(scene.views[0]);
  const SurfaceMesh mesh = mesh_of(scene);
  const auto half = static_cast<uint32_t>(mesh.vertices.size() / 2);
  ASSERT_EQ(half, static_cast<uint32_t>(kWidth * kHeight));
  for (size_t i = 0; i < mesh.triangles.size(); i += 3) {
    EXPECT_EQ(mesh.triangles[i] < half, mesh.triangles[i + 1] < half);
    EXPECT_EQ(mesh.triangles[i] < half, mesh.triangles[i + 2] < half);
  }
}

TEST(SurfaceMesh, RefusesPointsThatMakeNone) {
  Scene scene = surface(flat);
  scene.views[0].confidence[100] = 9;
  try {
    (void)mesh_of(scene, 100);
    FAIL() << "made a surface of one point";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("of 1 kept points (of 3072)"));
  }
}

}  // namespace
}  // namespace pointmap
