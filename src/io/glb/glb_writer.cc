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
constexpr int kFloat = 5126;
constexpr int kArrayBuffer = 34962;
constexpr int kElementArrayBuffer = 34963;
constexpr int kPointsMode = 0;
constexpr int kLinesMode = 1;
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

// Adds nodes, cameras and pyramids. `offset`: of the pyramids' vertices in the buffer; their edges come after them.
void add_cameras(json& document, std::span<const GlbCamera> cameras, size_t offset, const std::string& file) {
  if (cameras.empty()) return;
  const size_t vertex_bytes = cameras.size() * kPyramidBytes;
  document["bufferViews"].push_back({{"buffer", 0}, {"byteOffset", offset}, {"byteLength", vertex_bytes}, {"target", kArrayBuffer}});
  document["bufferViews"].push_back(
      {{"buffer", 0}, {"byteOffset", offset + vertex_bytes}, {"byteLength", sizeof(kPyramidEdges)}, {"target", kElementArrayBuffer}});
  document["accessors"].push_back(
      {{"bufferView", 3}, {"componentType", kUnsignedShort}, {"count", kPyramidEdges.size()}, {"type", "SCALAR"}});
  for (size_t i = 0; i < cameras.size(); ++i) {
    const GlbCamera& camera = cameras[i];
    check_camera(camera, file);
    const Bounds bounds = bounds_of(pyramid_of(camera), file);
    document["accessors"].push_back({{"bufferView", 2},
                                     {"byteOffset", i * kPyramidBytes},
                                     {"componentType", kFloat},
                                     {"count", kPyramidVertices},
                                     {"type", "VEC3"},
                                     {"min", bounds.min},
                                     {"max", bounds.max}});
    document["meshes"].push_back(
        {{"primitives", json::array({{{"mode", kLinesMode}, {"attributes", {{"POSITION", 3 + i}}}, {"indices", 2}}})}});
    document["cameras"].push_back({{"type", "perspective"},
                                   {"name", camera.name},
                                   {"perspective", {{"yfov", camera.fov_y_rad}, {"aspectRatio", camera.aspect}, {"znear", kNearPlane}}}});
    document["nodes"].push_back({{"name", camera.name}, {"camera", i}, {"mesh", 1 + i}, {"matrix", camera_matrix(camera)}});
    document["nodes"][0]["children"].push_back(1 + i);
  }
}

json points_json(size_t num_points, const Bounds& bounds, const std::string& source) {
  return {
      {"asset",
       {{"version", "2.0"},
        {"generator", "pointmap"},
        {"extras",
         {{"source", source},
          {"convention",
           "POSITION is in camera axes: x right, y down, z forward; the root node's matrix "
           "diag(1, -1, -1) turns it into glTF's: y up, looking along -z"}}}}},
      {"scene", 0},
      {"scenes", json::array({{{"nodes", {0}}}})},
      {"nodes", json::array({{{"name", "gltf_from_camera"}, {"mesh", 0}, {"matrix", {1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1}}}})},
      {"meshes",
       json::array({{{"primitives", json::array({{{"mode", kPointsMode}, {"attributes", {{"POSITION", 0}, {"COLOR_0", 1}}}}})}}})},
      {"accessors",
       json::array({{{"bufferView", 0},
                     {"componentType", kFloat},
                     {"count", num_points},
                     {"type", "VEC3"},
                     {"min", bounds.min},
                     {"max", bounds.max}},
                    {{"bufferView", 1}, {"componentType", kUnsignedByte}, {"normalized", true}, {"count", num_points}, {"type", "VEC4"}}})},
      {"bufferViews",
       json::array({{{"buffer", 0}, {"byteOffset", 0}, {"byteLength", num_points * kPositionBytes}, {"target", kArrayBuffer}},
                    {{"buffer", 0},
                     {"byteOffset", num_points * kPositionBytes},
                     {"byteLength", num_points * kColorBytes},
                     {"target", kArrayBuffer}}})},
  };
}

// The text of the JSON chunk, padded.
std::string chunk_text(const json& document) {
  // Text that is not UTF-8 (a file name, say) must not stop an export.
  std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 3) / 4 * 4, ' ');
  return text;
}

void write_u32(AtomicFile& file, uint32_t value) {
  file.write({reinterpret_cast<const char*>(&value), sizeof(value)});
}

template <typename T>
void write_elements(AtomicFile& file, std::span<const T> elements) {
  file.write({reinterpret_cast<const char*>(elements.data()), elements.size_bytes()});
}

std::vector<uint8_t> opaque(std::span<const uint8_t> rgb) {
  std::vector<uint8_t> rgba;
  rgba.reserve(rgb.size() / 3 * kColorBytes);
  for (size_t i = 0; i < rgb.size(); i += 3) rgba.insert(rgba.end(), {rgb[i], rgb[i + 1], rgb[i + 2], 255});
  return rgba;
}

}  // namespace

void write_glb(const std::filesystem::path& path, const GlbPoints& points, const std::string& source, std::span<const GlbCamera> cameras) {
  const size_t num_points = points.positions.size() / 3;
  POINTMAP_CHECK(points.positions.size() == 3 * num_points && points.colors.size() == 3 * num_points,
                 "GLB file '" + path.string() + "': coordinates and colours want three each per point, got " +
                     std::to_string(points.positions.size()) + " and " + std::to_string(points.colors.size()));
  POINTMAP_CHECK(num_points > 0, "GLB file '" + path.string() + "': no points");
  const size_t point_bytes = num_points * (kPositionBytes + kColorBytes);
  const size_t camera_bytes = cameras.empty() ? 0 : cameras.size() * kPyramidBytes + sizeof(kPyramidEdges);
  const size_t binary_bytes = point_bytes + camera_bytes;  // a multiple of four
  json document = points_json(num_points, bounds_of(points.positions, path.string()), source);
  document["buffers"] = json::array({{{"byteLength", binary_bytes}}});
  add_cameras(document, cameras, point_bytes, path.string());
  const std::string text = chunk_text(document);
  const size_t total_bytes = kContainerBytes + text.size() + binary_bytes;
  if (total_bytes > std::numeric_limits<uint32_t>::max()) {
    throw Error{kLimitExceeded,
                "GLB file '" + path.string() + "' would have " + std::to_string(total_bytes) + " bytes, the format ends at 4 GiB"};
  }
  AtomicFile file(path);
  for (const uint32_t field : {kMagic, kVersion, static_cast<uint32_t>(total_bytes)}) write_u32(file, field);
  write_u32(file, static_cast<uint32_t>(text.size()));
  write_u32(file, kJsonChunk);
  file.write(text);
  write_u32(file, static_cast<uint32_t>(binary_bytes));
  write_u32(file, kBinaryChunk);
  write_elements(file, points.positions);
  write_elements<uint8_t>(file, opaque(points.colors));
  for (const GlbCamera& camera : cameras) write_elements<float>(file, pyramid_of(camera));
  if (!cameras.empty()) write_elements<uint16_t>(file, kPyramidEdges);
  file.commit();
}

}  // namespace pointmap
