#include "io/ply/ply_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"

namespace pointmap {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

namespace {

constexpr size_t kVerticesPerWrite = 16384;

std::string make_header(size_t num_points, bool has_normals, std::span<const std::string> comments) {
  std::string header = "ply\nformat binary_little_endian 1.0\n";
  for (const std::string& comment : comments) {
    POINTMAP_CHECK(comment.find_first_of("\r\n") == std::string::npos, "PLY comment with a line break: '" + comment + "'");
    header += "comment " + comment + "\n";
  }
  header += "element vertex " + std::to_string(num_points) + "\n";
  std::vector<std::string> properties = {"float x", "float y", "float z"};
  if (has_normals) properties.insert(properties.end(), {"float nx", "float ny", "float nz"});
  properties.insert(properties.end(), {"uchar red", "uchar green", "uchar blue", "float confidence"});
  for (const std::string& property : properties) header += "property " + property + "\n";
  return header + "end_header\n";
}

void check_sizes(const std::string& file, const PlyPoints& points) {
  const size_t num_points = points.confidence.size();
  POINTMAP_CHECK(points.positions.size() == 3 * num_points && points.colors.size() == 3 * num_points &&
                     (points.normals.empty() || points.normals.size() == 3 * num_points),
                 "PLY file '" + file + "': " + std::to_string(num_points) +
                     " confidences want three times as many coordinates, colours and, if any, normals, got " +
                     std::to_string(points.positions.size()) + ", " + std::to_string(points.colors.size()) + " and " +
                     std::to_string(points.normals.size()));
}

// Copies `count` elements to `out` and steps over them.
template <typename T>
void put(char*& out, const T* elements, size_t count) {
  std::memcpy(out, elements, count * sizeof(T));
  out += count * sizeof(T);
}

}  // namespace

void write_ply(const std::filesystem::path& path, const PlyPoints& points, std::span<const std::string> comments) {
  check_sizes(path.string(), points);
  const size_t num_points = points.confidence.size();
  const bool has_normals = !points.normals.empty();
  const size_t vertex_bytes = (has_normals ? 6 : 3) * sizeof(float) + 3 + sizeof(float);
  AtomicFile file(path);
  file.write(make_header(num_points, has_normals, comments));
  std::vector<char> block(vertex_bytes * std::min(num_points, kVerticesPerWrite));
  for (size_t begin = 0; begin < num_points; begin += kVerticesPerWrite) {
    const size_t end = std::min(num_points, begin + kVerticesPerWrite);
    char* out = block.data();
    for (size_t i = begin; i < end; ++i) {
      put(out, &points.positions[3 * i], 3);
      if (has_normals) put(out, &points.normals[3 * i], 3);
      put(out, &points.colors[3 * i], 3);
      put(out, &points.confidence[i], 1);
    }
    file.write({block.data(), static_cast<size_t>(out - block.data())});
  }
  file.commit();
}

}  // namespace pointmap
