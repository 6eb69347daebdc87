#include "io/glb/glb_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
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
constexpr int kFloat = 5126;
constexpr int kArrayBuffer = 34962;
constexpr int kPointsMode = 0;
constexpr size_t kPositionBytes = 3 * sizeof(float);
constexpr size_t kColorBytes = 4;               // alpha too: vertex attributes must begin at multiples of four
constexpr size_t kContainerBytes = 12 + 8 + 8;  // GLB header and two chunk headers

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

std::string make_json(size_t num_points, const Bounds& bounds, const std::string& source) {
  using nlohmann::json;
  const json document = {
      {"asset",
       {{"version", "2.0"},
        {"generator", "pointmap"},
        {"extras",
         {{"source", source},
          {"convention",
           "POSITION is in camera axes: x right, y down, z forward, scale unknown; the root node's matrix "
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
      {"buffers", json::array({{{"byteLength", num_points * (kPositionBytes + kColorBytes)}}})},
  };
  // Text that is not UTF-8 (a file name, say) must not stop an export.
  std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 3) / 4 * 4, ' ');
  return text;
}

void write_u32(AtomicFile& file, uint32_t value) {
  file.write({reinterpret_cast<const char*>(&value), sizeof(value)});
}

std::vector<uint8_t> opaque(std::span<const uint8_t> rgb) {
  std::vector<uint8_t> rgba;
  rgba.reserve(rgb.size() / 3 * kColorBytes);
  for (size_t i = 0; i < rgb.size(); i += 3) rgba.insert(rgba.end(), {rgb[i], rgb[i + 1], rgb[i + 2], 255});
  return rgba;
}

}  // namespace

void write_glb(const std::filesystem::path& path, const GlbPoints& points, const std::string& source) {
  const size_t num_points = points.positions.size() / 3;
  POINTMAP_CHECK(points.positions.size() == 3 * num_points && points.colors.size() == 3 * num_points,
                 "GLB file '" + path.string() + "': coordinates and colours want three each per point, got " +
                     std::to_string(points.positions.size()) + " and " + std::to_string(points.colors.size()));
  POINTMAP_CHECK(num_points > 0, "GLB file '" + path.string() + "': no points");
  const std::string json = make_json(num_points, bounds_of(points.positions, path.string()), source);
  const size_t binary_bytes = num_points * (kPositionBytes + kColorBytes);  // a multiple of four
  const size_t total_bytes = kContainerBytes + json.size() + binary_bytes;
  if (total_bytes > std::numeric_limits<uint32_t>::max()) {
    throw Error{kLimitExceeded,
                "GLB file '" + path.string() + "' would have " + std::to_string(total_bytes) + " bytes, the format ends at 4 GiB"};
  }
  AtomicFile file(path);
  for (const uint32_t field : {kMagic, kVersion, static_cast<uint32_t>(total_bytes)}) write_u32(file, field);
  write_u32(file, static_cast<uint32_t>(json.size()));
  write_u32(file, kJsonChunk);
  file.write(json);
  write_u32(file, static_cast<uint32_t>(binary_bytes));
  write_u32(file, kBinaryChunk);
  file.write({reinterpret_cast<const char*>(points.positions.data()), num_points * kPositionBytes});
  const std::vector<uint8_t> rgba = opaque(points.colors);
  file.write({reinterpret_cast<const char*>(rgba.data()), rgba.size()});
  file.commit();
}

}  // namespace pointmap
