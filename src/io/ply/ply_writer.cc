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

constexpr size_t kVertexBytes = 3 * sizeof(float) + 3 + sizeof(float);
constexpr size_t kVerticesPerWrite = 16384;

std::string make_header(size_t num_points, std::span<const std::string> comments) {
  std::string header = "ply\nformat binary_little_endian 1.0\n";
  for (const std::string& comment : comments) {
    POINTMAP_CHECK(comment.find_first_of("\r\n") == std::string::npos, "PLY comment with a line break: '" + comment + "'");
    header += "comment " + comment + "\n";
  }
  header += "element vertex " + std::to_string(num_points) + "\n";
  for (const char* property : {"float x", "float y", "float z", "uchar red", "uchar green", "uchar blue", "float confidence"}) {
    header += std::string("property ") + property + "\n";
  }
  return header + "end_header\n";
}

}  // namespace

void write_ply(const std::filesystem::path& path, const PlyPoints& points, std::span<const std::string> comments) {
  const size_t num_points = points.confidence.size();
  POINTMAP_CHECK(points.positions.size() == 3 * num_points && points.colors.size() == 3 * num_points,
                 "PLY file '" + path.string() + "': " + std::to_string(num_points) +
                     " confidences want three times as many coordinates and colours, got " + std::to_string(points.positions.size()) +
                     " and " + std::to_string(points.colors.size()));
  AtomicFile file(path);
  file.write(make_header(num_points, comments));
  std::vector<char> block(kVertexBytes * std::min(num_points, kVerticesPerWrite));
  for (size_t begin = 0; begin < num_points; begin += kVerticesPerWrite) {
    const size_t end = std::min(num_points, begin + kVerticesPerWrite);
    char* out = block.data();
    for (size_t i = begin; i < end; ++i) {
      std::memcpy(out, &points.positions[3 * i], 3 * sizeof(float));
      std::memcpy(out + 12, &points.colors[3 * i], 3);
      std::memcpy(out + 15, &points.confidence[i], sizeof(float));
      out += kVertexBytes;
    }
    file.write({block.data(), static_cast<size_t>(out - block.data())});
  }
  file.commit();
}

}  // namespace pointmap
