// What tinygltf finds in our GLB files: cameras where they are, frusta that reach for the photo's corners, surfaces that face their camera.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "exact_scene.h"
#include "io/glb/tinygltf_testing.h"
#include "scene/export_scene.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using Vector3 = std::array<double, 3>;

// A column-major 4x4 times a point; no matrix is the identity.
Vector3 moved(const std::vector<double>& m, const Vector3& p) {
  if (m.empty()) return p;
  Vector3 result;
  for (size_t r = 0; r < 3; ++r) result[r] = m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r];
  return result;
}

class GlbExport : public testing::Test {
 protected:
  void write(const ExportOptions& options) {
    export_scene(exact_scene(), out_.path(), options);
    tinygltf::TinyGLTF loader;
    std::string error, warning;
    ASSERT_TRUE(loader.LoadBinaryFromFile(&model_, &error, &warning, (out_.path() / "scene.glb").string())) << error;
    EXPECT_EQ(error + warning, "");
  }

  // Where a point of the node's own frame is in glTF's world: up through all nodes above it.
  Vector3 in_world(size_t node, Vector3 point) const {
    for (auto at = static_cast<int>(node); at >= 0;) {
      point = moved(model_.nodes.at(static_cast<size_t>(at)).matrix, point);
      const int child = at;
      at = -1;
      for (size_t i = 0; i < model_.nodes.size(); ++i) {
        if (std::ranges::count(model_.nodes[i].children, child) > 0) at = static_cast<int>(i);
      }
    }
    return point;
  }
  size_t node_named(const std::string& name) const {
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      if (model_.nodes[i].name == name) return i;
    }
    ADD_FAILURE() << "no node '" << name << "'";
    return 0;
  }
  const tinygltf::Primitive& primitive_of(size_t node) const {
    return model_.meshes.at(static_cast<size_t>(model_.nodes.at(node).mesh)).primitives.at(0);
  }
  template <typename T, size_t kCount>
  std::array<T, kCount> element(int accessor, size_t index) const {
    const tinygltf::Accessor& of = model_.accessors.at(static_cast<size_t>(accessor));
    const tinygltf::BufferView& view = model_.bufferViews.at(static_cast<size_t>(of.bufferView));
    EXPECT_EQ(tinygltf::GetNumComponentsInType(static_cast<uint32_t>(of.type)), static_cast<int>(kCount));
    std::array<T, kCount> values;
    const size_t begin = view.byteOffset + of.byteOffset + index * static_cast<size_t>(of.ByteStride(view));
    std::memcpy(values.data(), model_.buffers.at(0).data.data() + begin, sizeof(values));
    return values;
  }
  Vector3 vertex(size_t node, size_t index) const {
    const std::array<float, 3> p = element<float, 3>(primitive_of(node).attributes.at("POSITION"), index);
    return in_world(node, {p[0], p[1], p[2]});
  }

  TemporaryFolder out_{"glb_export"};
  tinygltf::Model model_;
};

// glTF has y up and looks along -z: our (x, y, z) is its (x, -y, -z).
Vector3 ours(const Vector3& gltf) {
  return {gltf[0], 0 - gltf[1], 0 - gltf[2]};
}

TEST_F(GlbExport, ACameraWithAQuarterTurnComesBack) {
  write({.formats = {ExportFormat::kGlb}});
  const size_t right = node_named("camera 2: photos/right.png");
  const Vector3 centre = ours(in_world(right, {0, 0, 0}));
  EXPECT_THAT(centre, ElementsAre(1, 2, 3));
  const Vector3 ahead = ours(in_world(right, {0, 0, -1})), up = ours(in_world(right, {0, 1, 0}));
  EXPECT_THAT((Vector3{ahead[0] - centre[0], ahead[1] - centre[1], ahead[2] - centre[2]}), ElementsAre(1, 0, 0)) << "along the world's x";
  EXPECT_THAT((Vector3{up[0] - centre[0], up[1] - centre[1], up[2] - centre[2]}), ElementsAre(0, -1, 0)) << "up is the world's -y";
  const tinygltf::PerspectiveCamera& lens = model_.cameras.at(static_cast<size_t>(model_.nodes[right].camera)).perspective;
  // Of the photo, 16 x 12 pixels with focal lengths of 16 and 32.
  EXPECT_DOUBLE_EQ(lens.yfov, 2 * std::atan(12.0 / 2 / 32));
  EXPECT_DOUBLE_EQ(lens.aspectRatio, (16.0 / 16) / (12.0 / 32));
}

TEST_F(GlbExport, FrustaReachForTheCornersOfThePhoto) {
  write({.formats = {ExportFormat::kGlb}});
  const size_t frustum = node_named("camera 1: photos/left.png, frustum");
  EXPECT_THAT(ours(vertex(frustum, 0)), ElementsAre(0, 0, 0)) << "the tip is the camera, at the world's origin";
  // Through the photo's camera: focal lengths 16 and 32, centre 2 * (3.5 + 0.5) - 0.5 and 2 * (2.25 + 0.5) - 0.5.
  const std::array<std::array<double, 2>, 4> corners = {{{-0.5, -0.5}, {15.5, -0.5}, {15.5, 11.5}, {-0.5, 11.5}}};
  for (size_t i = 0; i < corners.size(); ++i) {
    const Vector3 p = ours(vertex(frustum, i + 1));
    ASSERT_GT(p[2], 0);
    // Corners are floats: off by 2^-24 of themselves, in pixels at most 16 of that and the division's share.
    EXPECT_NEAR(16 * p[0] / p[2] + 7.5, corners[i][0], 32.0 / (1 << 23));
    EXPECT_NEAR(32 * p[1] / p[2] + 5, corners[i][1], 32.0 / (1 << 23));
  }
}

TEST_F(GlbExport, PointsAreWhereTheSceneHasThem) {
  const Scene scene = exact_scene();
  write({.formats = {ExportFormat::kGlb}, .points = PointSource::kHead});
  const size_t points = node_named("points");
  EXPECT_EQ(model_.accessors.at(static_cast<size_t>(primitive_of(points).attributes.at("POSITION"))).count, 96u);
  for (const size_t pixel : {0u, 17u, 47u}) {
    const float* want = &scene.views[1].points[3 * pixel];
    EXPECT_THAT(ours(vertex(points, 48 + pixel)), ElementsAre(want[0], want[1], want[2])) << "view 2 comes after the 48 points of view 1";
  }
  EXPECT_EQ(model_.asset.extras.Get("points").GetNumberAsInt(), 96);
  EXPECT_EQ(model_.asset.extras.Get("pixels").GetNumberAsInt(), 96);
}

TEST_F(GlbExport, TheMeshFacesTheCameraThatSawIt) {
  write({.formats = {ExportFormat::kGlb}, .glb_mesh = true});
  const size_t mesh = node_named("mesh");
  const int indices = primitive_of(mesh).indices;
  const size_t num_corners = model_.accessors.at(static_cast<size_t>(indices)).count;
  ASSERT_EQ(num_corners, 2u * 3 * 2 * 7 * 5) << "two triangles in every square of both views";
  for (size_t i = 0; i < num_corners; i += 3) {
    std::array<Vector3, 3> p;
    uint32_t first = 0;
    for (size_t corner = 0; corner < 3; ++corner) {
      const uint32_t index = element<uint32_t, 1>(indices, i + corner)[0];
      if (corner == 0) first = index;
      p[corner] = vertex(mesh, index);
    }
    const Vector3 eye = first < 48 ? Vector3{0, 0, 0} : Vector3{1, -2, -3};  // in glTF's axes
    // Counter-clockwise from the front: the normal by the right-hand rule goes towards the eye.
    double towards_eye = 0;
    for (size_t c = 0; c < 3; ++c) {
      const size_t d = (c + 1) % 3, e = (c + 2) % 3;
      const double normal = (p[1][d] - p[0][d]) * (p[2][e] - p[0][e]) - (p[1][e] - p[0][e]) * (p[2][d] - p[0][d]);
      towards_eye += normal * (eye[c] - p[0][c]);
    }
    ASSERT_GT(towards_eye, 0) << "triangle " << i / 3;
  }
}

}  // namespace
}  // namespace pointmap
