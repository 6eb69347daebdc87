#include "io/glb/glb_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"

namespace pointmap {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

namespace {

// Numbers that glTF 2.0 fixes.
constexpr uint32_t kMagic = 0x46546C67;  // "glTF"
constexpr uint32_t kVersion = 2;
constexpr uint32_t kJsonChunk = 0x4E4F534A;
constexpr uint32_t kBinaryChunk = 0x004E4942;
constexpr int kUnsignedByte = 5121;
constexpr int kUnsignedShort = 5123;
constexpr int kUnsignedInt = 5125;
constexpr int kFloat = 5126;
constexpr int kArrayBuffer = 34962;
constexpr int kElementArrayBuffer = 34963;
constexpr int kPointsMode = 0;
constexpr int kLinesMode = 1;
constexpr int kTrianglesMode = 4;
constexpr size_t kPositionBytes = 3 * sizeof(float);
constexpr size_t kColorBytes = 4;               // alpha too: vertex attributes must begin at multiples of four
constexpr size_t kContainerBytes = 12 + 8 + 8;  // GLB header and two chunk headers

// Of a camera's pyramid: the tip is vertex 0; four edges from it and four around its base.
constexpr size_t kPyramidVertices = 5;
constexpr std::array<uint16_t, 16> kPyramidEdges = {0, 1, 0, 2, 0, 3, 0, 4, 1, 2, 2, 3, 3, 4, 4, 1};
constexpr size_t kPyramidBytes = kPyramidVertices * kPositionBytes;
constexpr double kNearPlane = 0.01;  // glTF wants one; in units of the scene, which are unknown

struct Bounds {
  std::array<float, 3> min{}, max{};
};

Bounds bounds_of(std::span<const float> positions, const std::string& file) {
  Bounds bounds;
  bounds.min.fill(std::numeric_limits<float>::infinity());
  bounds.max.fill(-std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < positions.size(); ++i) {
    POINTMAP_CHECK(std::isfinite(positions[i]), "GLB file '" + file + "': point " + std::to_string(i / 3) + " is not finite");
    bounds.min[i % 3] = std::min(bounds.min[i % 3], positions[i]);
    bounds.max[i % 3] = std::max(bounds.max[i % 3], positions[i]);
  }
  return bounds;
}

// [5, 3]: tip and base, in glTF's camera axes (y up, looking along -z).
std::vector<float> pyramid_of(const GlbCamera& camera) {
  std::vector<float> vertices(3, 0.0f);
  for (const auto& [x, y, z] : camera.base_corners) vertices.insert(vertices.end(), {x, -y, -z});
  return vertices;
}

using nlohmann::json;

// The node's matrix, column-major: world from camera, after glTF's camera axes become ours.
json camera_matrix(const GlbCamera& camera) {
  const auto& r = camera.rotation;
  const auto& p = camera.position;
  return {r[0], r[3], r[6], 0, -r[1], -r[4], -r[7], 0, -r[2], -r[5], -r[8], 0, p[0], p[1], p[2], 1};
}

void check_camera(const GlbCamera& camera, const std::string& file) {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  POINTMAP_CHECK(std::ranges::all_of(camera.rotation, is_finite) && std::ranges::all_of(camera.position, is_finite) &&
                     camera.fov_y_rad > 0 && camera.fov_y_rad < std::numbers::pi && camera.aspect > 0 && is_finite(camera.aspect),
                 "GLB file '" + file + "': camera '" + camera.name + "' is not one that glTF can hold: field of view " +
                     std::to_string(camera.fov_y_rad) + ", aspect " + std::to_string(camera.aspect));
}

constexpr const char* kConvention =
    "POSITION is in camera axes: x right, y down, z forward; the root node's matrix diag(1, -1, -1) turns it into glTF's: y up, looking "
    "along "
    "-z";

// The JSON chunk, with the bytes that it speaks of counted along.
class Document {
 public:
  explicit Document(const GlbContent& content) {
    json extras = {{"source", content.source}, {"convention", kConvention}};
    for (const auto& [name, count] : content.counts) extras[name] = count;
    document_ = {{"asset", {{"version", "2.0"}, {"generator", "pointmap"}, {"extras", extras}}},
                 {"scene", 0},
                 {"scenes", json::array({{{"nodes", {0}}}})}};
    add("nodes", {{"name", "gltf_from_camera"}, {"matrix", {1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1}}});
  }

  // Appends to one of the document's lists; returns its place there.
  size_t add(const char* list, json item) {
    document_[list].push_back(std::move(item));
    return document_[list].size() - 1;
  }
  size_t add_view(size_t bytes, int target) {
    const size_t offset = binary_bytes_;
    binary_bytes_ += bytes;
    return add("bufferViews", {{"buffer", 0}, {"byteOffset", offset}, {"byteLength", bytes}, {"target", target}});
  }
  size_t add_child(size_t parent, json node) {
    const size_t place = add("nodes", std::move(node));
    document_["nodes"][parent]["children"].push_back(place);
    return place;
  }
  // Of the surface: the photo's own light, as seen from both sides.
  size_t add_photo_material() {
    document_["extensionsUsed"] = {"KHR_materials_unlit"};
    return add("materials", {{"name", "photo"},
                             {"doubleSided", true},
                             {"pbrMetallicRoughness", {{"metallicFactor", 0.0}, {"roughnessFactor", 1.0}}},
                             {"extensions", {{"KHR_materials_unlit", json::object()}}}});
  }
  size_t binary_bytes() const { return binary_bytes_; }

  // The chunk's text, padded.
  std::string text() {
    document_["buffers"] = json::array({{{"byteLength", binary_bytes_}}});
    // Text that is not UTF-8 (a file name, say) must not stop an export.
    std::string text = document_.dump(-1, ' ', false, json::error_handler_t::replace);
    text.append((4 - text.size() % 4) % 4, ' ');
    return text;
  }

 private:
  json document_;
  size_t binary_bytes_ = 0;
};

void add_surface(Document& document, const GlbContent& content, const std::string& file) {
  const size_t num_points = content.points.positions.size() / 3;
  const Bounds bounds = bounds_of(content.points.positions, file);
  json primitive = {{"mode", content.triangles.empty() ? kPointsMode : kTrianglesMode}};
  primitive["attributes"]["POSITION"] =
      document.add("accessors", {{"bufferView", document.add_view(num_points * kPositionBytes, kArrayBuffer)},
                                 {"componentType", kFloat},
                                 {"count", num_points},
                                 {"type", "VEC3"},
                                 {"min", bounds.min},
                                 {"max", bounds.max}});
  primitive["attributes"]["COLOR_0"] = document.add("accessors", {{"bufferView", document.add_view(num_points * kColorBytes, kArrayBuffer)},
                                                                  {"componentType", kUnsignedByte},
                                                                  {"normalized", true},
                                                                  {"count", num_points},
                                                                  {"type", "VEC4"}});
  if (!content.triangles.empty()) {
    primitive["indices"] =
        document.add("accessors", {{"bufferView", document.add_view(content.triangles.size_bytes(), kElementArrayBuffer)},
                                   {"componentType", kUnsignedInt},
                                   {"count", content.triangles.size()},
                                   {"type", "SCALAR"}});
    primitive["material"] = document.add_photo_material();
  }
  const size_t mesh = document.add("meshes", {{"primitives", json::array({primitive})}});
  document.add_child(0, {{"name", content.triangles.empty() ? "points" : "mesh"}, {"mesh", mesh}});
}

void add_cameras(Document& document, std::span<const GlbCamera> cameras, const std::string& file) {
  if (cameras.empty()) return;
  const size_t vertex_view = document.add_view(cameras.size() * kPyramidBytes, kArrayBuffer);
  const size_t edges = document.add("accessors", {{"bufferView", document.add_view(sizeof(kPyramidEdges), kElementArrayBuffer)},
                                                  {"componentType", kUnsignedShort},
                                                  {"count", kPyramidEdges.size()},
                                                  {"type", "SCALAR"}});
  const size_t camera_nodes = document.add_child(0, {{"name", "cameras"}});
  const size_t frustum_nodes = document.add_child(0, {{"name", "frusta"}});
  for (size_t i = 0; i < cameras.size(); ++i) {
    const GlbCamera& camera = cameras[i];
    check_camera(camera, file);
    const Bounds bounds = bounds_of(pyramid_of(camera), file);
    const size_t vertices = document.add("accessors", {{"bufferView", vertex_view},
                                                       {"byteOffset", i * kPyramidBytes},
                                                       {"componentType", kFloat},
                                                       {"count", kPyramidVertices},
                                                       {"type", "VEC3"},
                                                       {"min", bounds.min},
                                                       {"max", bounds.max}});
    const json lines = {{"mode", kLinesMode}, {"attributes", {{"POSITION", vertices}}}, {"indices", edges}};
    const size_t mesh = document.add("meshes", {{"primitives", json::array({lines})}});
    const json perspective = {{"yfov", camera.fov_y_rad}, {"aspectRatio", camera.aspect}, {"znear", kNearPlane}};
    const size_t lens = document.add("cameras", {{"type", "perspective"}, {"name", camera.name}, {"perspective", perspective}});
    document.add_child(camera_nodes, {{"name", camera.name}, {"camera", lens}, {"matrix", camera_matrix(camera)}});
    document.add_child(frustum_nodes, {{"name", camera.name + ", frustum"}, {"mesh", mesh}, {"matrix", camera_matrix(camera)}});
  }
}

void check_content(const GlbContent& content, const std::string& file) {
  const GlbPoints& points = content.points;
  const size_t num_points = points.positions.size() / 3;
  POINTMAP_CHECK(points.positions.size() == 3 * num_points && points.colors.size() == 3 * num_points,
                 "GLB file '" + file + "': coordinates and colours want three each per point, got " +
                     std::to_string(points.positions.size()) + " and " + std::to_string(points.colors.size()));
  POINTMAP_CHECK(num_points > 0, "GLB file '" + file + "': no points");
  POINTMAP_CHECK(
      content.triangles.size() % 3 == 0 && (content.triangles.empty() || *std::ranges::max_element(content.triangles) < num_points),
      "GLB file '" + file + "': " + std::to_string(content.triangles.size()) + " corners of triangles among " + std::to_string(num_points) +
          " points: not threes, or one is not there");
}

void write_u32(AtomicFile& file, uint32_t value) {
  file.write({reinterpret_cast<const char*>(&value), sizeof(value)});
}

template <typename T>
void write_elements(AtomicFile& file, std::span<const T> elements) {
  file.write({reinterpret_cast<const char*>(elements.data()), elements.size_bytes()});
}

std::vector<uint8_t> opaque(std::span<const uint8_t> rgb) {
  std::vector<uint8_t> rgba(rgb.size() / 3 * kColorBytes, 255);
  for (size_t i = 0; i < rgb.size() / 3; ++i) std::copy_n(&rgb[3 * i], 3, &rgba[kColorBytes * i]);
  return rgba;
}

}  // namespace

void write_glb(const std::filesystem::path& path, const GlbContent& content) {
  const std::string name = path.string();
  check_content(content, name);
  Document document(content);
  add_surface(document, content, name);
  add_cameras(document, content.cameras, name);
  const std::string text = document.text();
  const size_t total_bytes = kContainerBytes + text.size() + document.binary_bytes();  // all multiples of four
  if (total_bytes > std::numeric_limits<uint32_t>::max()) {
    throw Error{kLimitExceeded, "GLB file '" + name + "' would have " + std::to_string(total_bytes) + " bytes, the format ends at 4 GiB"};
  }
  AtomicFile file(path);
  for (const uint32_t field : {kMagic, kVersion, static_cast<uint32_t>(total_bytes)}) write_u32(file, field);
  write_u32(file, static_cast<uint32_t>(text.size()));
  write_u32(file, kJsonChunk);
  file.write(text);
  write_u32(file, static_cast<uint32_t>(document.binary_bytes()));
  write_u32(file, kBinaryChunk);
  // In the order in which the buffer views were added.
  write_elements(file, content.points.positions);
  write_elements<uint8_t>(file, opaque(content.points.colors));
  write_elements(file, content.triangles);
  for (const GlbCamera& camera : content.cameras) write_elements<float>(file, pyramid_of(camera));
  if (!content.cameras.empty()) write_elements<uint16_t>(file, kPyramidEdges);
  file.commit();
}

}  // namespace pointmap
