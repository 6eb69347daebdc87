// The writer through tinygltf, which shares no code with it.
#include "io/glb/glb_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "base/error.h"
#include "io/glb/tinygltf_testing.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class GlbWriter : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  tinygltf::Model load(const fs::path& path) {
    tinygltf::TinyGLTF loader;
    tinygltf::Model model;
    std::string error, warning;
    EXPECT_TRUE(loader.LoadBinaryFromFile(&model, &error, &warning, path.string())) << error;
    EXPECT_EQ(error, "");
    EXPECT_EQ(warning, "");
    return model;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("pointmap_glb_" + std::to_string(::getpid()));
};

// Element `index` of an accessor, as T.
template <typename T>
std::vector<T> element(const tinygltf::Model& model, const tinygltf::Accessor& accessor, size_t index) {
  const tinygltf::BufferView& view = model.bufferViews.at(accessor.bufferView);
  std::vector<T> values(static_cast<size_t>(tinygltf::GetNumComponentsInType(accessor.type)));
  const size_t begin = view.byteOffset + accessor.byteOffset + index * static_cast<size_t>(accessor.ByteStride(view));
  std::memcpy(values.data(), model.buffers.at(view.buffer).data.data() + begin, values.size() * sizeof(T));
  return values;
}

TEST_F(GlbWriter, HoldsThePointsWithBoundsAndColours) {
  const std::vector<float> positions = {0.1f, -2, 3, 1e-7f, 5, -6, -7.25f, 0, 2};
  const std::vector<uint8_t> colors = {0, 128, 255, 1, 2, 3, 250, 251, 252};
  write_glb(folder_ / "three.glb", {.points = {positions, colors}});
  const tinygltf::Model model = load(folder_ / "three.glb");
  ASSERT_EQ(model.meshes.size(), 1u);
  ASSERT_EQ(model.meshes[0].primitives.size(), 1u);
  const tinygltf::Primitive& primitive = model.meshes[0].primitives[0];
  EXPECT_EQ(primitive.mode, TINYGLTF_MODE_POINTS);

  const tinygltf::Accessor& position = model.accessors.at(primitive.attributes.at("POSITION"));
  EXPECT_EQ(position.type, TINYGLTF_TYPE_VEC3);
  EXPECT_EQ(position.componentType, TINYGLTF_COMPONENT_TYPE_FLOAT);
  ASSERT_EQ(position.count, 3u);
  EXPECT_THAT(position.minValues, ElementsAre(-7.25, -2, -6));  // exactly: viewers compare in float
  EXPECT_THAT(position.maxValues, ElementsAre(0.1f, 5, 3));
  EXPECT_THAT(element<float>(model, position, 0), ElementsAre(0.1f, -2, 3));
  EXPECT_THAT(element<float>(model, position, 1), ElementsAre(1e-7f, 5, -6));
  EXPECT_THAT(element<float>(model, position, 2), ElementsAre(-7.25f, 0, 2));

  const tinygltf::Accessor& color = model.accessors.at(primitive.attributes.at("COLOR_0"));
  EXPECT_EQ(color.type, TINYGLTF_TYPE_VEC4);
  EXPECT_EQ(color.componentType, TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE);
  EXPECT_TRUE(color.normalized);
  ASSERT_EQ(color.count, 3u);
  EXPECT_THAT(element<uint8_t>(model, color, 0), ElementsAre(0, 128, 255, 255));
  EXPECT_THAT(element<uint8_t>(model, color, 2), ElementsAre(250, 251, 252, 255));
}

TEST_F(GlbWriter, TurnsCameraAxesIntoGltfAxes) {
  const std::vector<float> positions = {1, 2, 3};
  const std::vector<uint8_t> colors(3);
  write_glb(folder_ / "one.glb", {.points = {positions, colors}, .source = "photo \"a\".jpg", .counts = {{"points", 1}, {"pixels", 12}}});
  const tinygltf::Model model = load(folder_ / "one.glb");
  ASSERT_EQ(model.defaultScene, 0);
  ASSERT_THAT(model.scenes.at(0).nodes, ElementsAre(0));
  const std::vector<double> m = model.nodes.at(0).matrix;  // column-major
  ASSERT_EQ(m.size(), 16u);
  const auto row = [&](size_t r) { return m[r] * 1 + m[4 + r] * 2 + m[8 + r] * 3 + m[12 + r]; };
  EXPECT_EQ(row(0), 1);   // right stays right
  EXPECT_EQ(row(1), -2);  // down becomes up
  EXPECT_EQ(row(2), -3);  // forward is -z
  EXPECT_EQ(row(3), 1);
  const tinygltf::Node& points = model.nodes.at(static_cast<size_t>(model.nodes[0].children.at(0)));
  EXPECT_EQ(points.name, "points");
  EXPECT_EQ(points.mesh, 0);
  EXPECT_TRUE(points.matrix.empty()) << "the root alone turns the axes";
  EXPECT_EQ(model.asset.extras.Get("points").GetNumberAsInt(), 1);
  EXPECT_EQ(model.asset.extras.Get("pixels").GetNumberAsInt(), 12);
  EXPECT_EQ(model.asset.version, "2.0");
  EXPECT_EQ(model.asset.extras.Get("source").Get<std::string>(), "photo \"a\".jpg");
  EXPECT_THAT(model.asset.extras.Get("convention").Get<std::string>(), HasSubstr("diag(1, -1, -1)"));
}

// A column-major 4x4 times a point.
std::array<double, 3> moved(const std::vector<double>& m, const std::array<double, 3>& p) {
  std::array<double, 3> result;
  for (size_t r = 0; r < 3; ++r) result[r] = m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r];
  return result;
}

TEST_F(GlbWriter, CamerasAreNodesThatLookWhereTheyShould) {
  const std::vector<float> positions = {1, 2, 3};
  const std::vector<uint8_t> colors(3);
  // At (1, 2, 3), turned a quarter to the right about the vertical: its z axis is the world's x.
  const GlbCamera turned{.name = "turned",
                         .rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0},
                         .position = {1, 2, 3},
                         .fov_y_rad = 1.25,
                         .aspect = 1.5,
                         .base_corners = {{{-3, -2, 4}, {3, -2, 4}, {3, 2, 4}, {-3, 2, 4}}}};
  const std::vector<GlbCamera> cameras = {{.name = "first", .fov_y_rad = 1, .base_corners = turned.base_corners}, turned};
  write_glb(folder_ / "cameras.glb", {.points = {positions, colors}, .cameras = cameras});
  const tinygltf::Model model = load(folder_ / "cameras.glb");
  ASSERT_EQ(model.cameras.size(), 2u);
  EXPECT_EQ(model.cameras[1].type, "perspective");
  EXPECT_EQ(model.cameras[1].perspective.yfov, 1.25);
  EXPECT_EQ(model.cameras[1].perspective.aspectRatio, 1.5);
  ASSERT_EQ(model.nodes.at(0).children.size(), 3u);
  const auto child = [&](const tinygltf::Node& parent, size_t i) { return model.nodes.at(static_cast<size_t>(parent.children.at(i))); };
  const tinygltf::Node all_cameras = child(model.nodes[0], 1), all_frusta = child(model.nodes[0], 2);
  EXPECT_EQ(all_cameras.name, "cameras");
  EXPECT_EQ(all_frusta.name, "frusta") << "in a node of their own";
  EXPECT_EQ(all_cameras.children.size(), 2u);
  EXPECT_EQ(all_frusta.children.size(), 2u);
  const tinygltf::Node node = child(all_cameras, 1), frustum = child(all_frusta, 1);
  EXPECT_EQ(node.name, "turned");
  EXPECT_EQ(node.camera, 1);
  EXPECT_EQ(node.mesh, -1);
  EXPECT_EQ(frustum.camera, -1);
  EXPECT_EQ(frustum.matrix, node.matrix);
  // glTF cameras look along their -z with y up; our world (x, y, z) is glTF's (x, -y, -z).
  const auto in_gltf = [&](const std::array<double, 3>& local) { return moved(model.nodes[0].matrix, moved(node.matrix, local)); };
  EXPECT_THAT(in_gltf({0, 0, 0}), ElementsAre(1, -2, -3));
  EXPECT_THAT(in_gltf({0, 0, -1}), ElementsAre(2, -2, -3)) << "forward is the world's x";
  EXPECT_THAT(in_gltf({0, 1, 0}), ElementsAre(1, -1, -3)) << "up is up";
  // The pyramid: lines from the camera to its base and around it.
  const tinygltf::Primitive& lines = model.meshes.at(static_cast<size_t>(frustum.mesh)).primitives.at(0);
  EXPECT_EQ(lines.mode, TINYGLTF_MODE_LINE);
  const tinygltf::Accessor& indices = model.accessors.at(static_cast<size_t>(lines.indices));
  ASSERT_EQ(indices.count, 16u);
  std::set<std::pair<int, int>> edges;
  for (size_t i = 0; i < 16; i += 2) {
    const int a = element<uint16_t>(model, indices, i)[0], b = element<uint16_t>(model, indices, i + 1)[0];
    edges.insert({std::min(a, b), std::max(a, b)});
  }
  EXPECT_EQ(edges, (std::set<std::pair<int, int>>{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {2, 3}, {3, 4}, {1, 4}}));
  const tinygltf::Accessor& vertices = model.accessors.at(lines.attributes.at("POSITION"));
  ASSERT_EQ(vertices.count, 5u);
  EXPECT_THAT(element<float>(model, vertices, 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(element<float>(model, vertices, 1), ElementsAre(-3, 2, -4)) << "(-3, -2, 4) in glTF's camera axes";
}

TEST_F(GlbWriter, AMeshHasTrianglesInThePhotosColours) {
  const std::vector<float> positions = {0, 0, 2, 1, 0, 2, 0, 1, 2, 1, 1, 2.5f};
  const std::vector<uint8_t> colors = {0, 128, 255, 1, 2, 3, 250, 251, 252, 9, 9, 9};
  const std::vector<uint32_t> triangles = {0, 2, 1, 1, 2, 3};
  const std::vector<GlbCamera> cameras = {
      {.name = "eye", .fov_y_rad = 1, .base_corners = {{{-3, -2, 4}, {3, -2, 4}, {3, 2, 4}, {-3, 2, 4}}}}};
  write_glb(folder_ / "mesh.glb", {.points = {positions, colors}, .triangles = triangles, .cameras = cameras});
  const tinygltf::Model model = load(folder_ / "mesh.glb");
  const tinygltf::Node& node = model.nodes.at(static_cast<size_t>(model.nodes.at(0).children.at(0)));
  EXPECT_EQ(node.name, "mesh");
  const tinygltf::Primitive& primitive = model.meshes.at(static_cast<size_t>(node.mesh)).primitives.at(0);
  EXPECT_EQ(primitive.mode, TINYGLTF_MODE_TRIANGLES);
  const tinygltf::Accessor& indices = model.accessors.at(static_cast<size_t>(primitive.indices));
  EXPECT_EQ(indices.componentType, TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT);
  EXPECT_EQ(model.bufferViews.at(static_cast<size_t>(indices.bufferView)).target, TINYGLTF_TARGET_ELEMENT_ARRAY_BUFFER);
  ASSERT_EQ(indices.count, triangles.size());
  for (size_t i = 0; i < triangles.size(); ++i) EXPECT_EQ(element<uint32_t>(model, indices, i)[0], triangles[i]);
  EXPECT_THAT(element<uint8_t>(model, model.accessors.at(primitive.attributes.at("COLOR_0")), 2), ElementsAre(250, 251, 252, 255));
  EXPECT_THAT(element<float>(model, model.accessors.at(primitive.attributes.at("POSITION")), 3), ElementsAre(1, 1, 2.5f));
  const tinygltf::Material& material = model.materials.at(static_cast<size_t>(primitive.material));
  EXPECT_TRUE(material.doubleSided);
  EXPECT_TRUE(material.extensions.contains("KHR_materials_unlit"));
  EXPECT_THAT(model.extensionsUsed, ElementsAre("KHR_materials_unlit"));
  // The pyramid's bytes come after the triangles'.
  const tinygltf::Primitive& lines = model.meshes.at(1).primitives.at(0);
  EXPECT_THAT(element<float>(model, model.accessors.at(lines.attributes.at("POSITION")), 4), ElementsAre(-3, -2, -4));
  EXPECT_EQ(element<uint16_t>(model, model.accessors.at(static_cast<size_t>(lines.indices)), 15)[0], 1);
}

TEST_F(GlbWriter, RefusesCamerasThatGltfCannotHold) {
  const std::vector<float> positions = {1, 2, 3};
  const std::vector<uint8_t> colors(3);
  const auto refused = [&](const GlbCamera& camera) {
    EXPECT_THROW(write_glb(folder_ / "bad.glb", {.points = {positions, colors}, .cameras = std::span(&camera, 1)}), Error);
  };
  refused({.name = "no field of view"});
  refused({.name = "nowhere", .position = {std::nan(""), 0, 0}, .fov_y_rad = 1});
  refused({.name = "no aspect", .fov_y_rad = 1, .aspect = INFINITY});
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(GlbWriter, TakesASourceThatIsNotUtf8) {
  const std::vector<float> positions = {1, 2, 3};
  const std::vector<uint8_t> colors(3);
  write_glb(folder_ / "latin1.glb", {.points = {positions, colors},
                                     .source = "gr\xFC\xDF"
                                               "e.jpg"});
  EXPECT_EQ(load(folder_ / "latin1.glb").accessors.size(), 2u);
}

TEST_F(GlbWriter, RefusesWhatGltfCannotHold) {
  std::vector<float> positions = {1, 2, 3};
  const std::vector<uint8_t> colors(3);
  EXPECT_THROW(write_glb(folder_ / "bad.glb", {}), Error);
  EXPECT_THROW(write_glb(folder_ / "bad.glb", {.points = {positions, {}}}), Error);
  EXPECT_THROW(write_glb(folder_ / "bad.glb", {.points = {std::span(positions).first(2), colors}}), Error);
  const std::vector<uint32_t> missing = {0, 0, 1}, two = {0, 0};
  EXPECT_THROW(write_glb(folder_ / "bad.glb", {.points = {positions, colors}, .triangles = missing}), Error);
  EXPECT_THROW(write_glb(folder_ / "bad.glb", {.points = {positions, colors}, .triangles = two}), Error);
  positions[1] = std::nanf("");
  EXPECT_THROW(write_glb(folder_ / "bad.glb", {.points = {positions, colors}}), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace pointmap
