// COLMAP's models read from its description of them (https://colmap.github.io/format.html), by nothing that also writes them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pointmap {

struct ReadCamera {
  std::string model;
  uint64_t width = 0;
  uint64_t height = 0;
  std::vector<double> params;
  bool operator==(const ReadCamera&) const = default;
};

struct ReadObservation {
  double x = 0;
  double y = 0;
  int64_t point_id = 0;
  bool operator==(const ReadObservation&) const = default;
};

struct ReadImage {
  std::array<double, 4> q = {};  // w, x, y, z
  std::array<double, 3> t = {};
  uint32_t camera_id = 0;
  std::string name;
  std::vector<ReadObservation> observations;
  bool operator==(const ReadImage&) const = default;
};

struct ReadPoint {
  std::array<double, 3> xyz = {};
  std::array<int, 3> rgb = {};
  double error = 0;
  std::vector<std::pair<uint32_t, uint32_t>> track;  // image, place among its observations
  bool operator==(const ReadPoint&) const = default;
};

struct ReadModel {
  std::map<uint32_t, ReadCamera> cameras;
  std::map<uint32_t, ReadImage> images;
  std::map<int64_t, ReadPoint> points;
  bool operator==(const ReadModel&) const = default;
};

// Both fail the test that calls them when the files are not what the description says.
ReadModel read_colmap_binary(const std::filesystem::path& folder);
ReadModel read_colmap_text(const std::filesystem::path& folder);

// Tracks and observations point to one another, and every number of a camera or image that is named exists.
void expect_consistent(const ReadModel& model);

// Rotated by the quaternion, by its own formula: v + 2 w (n x v) + 2 n x (n x v) for q = (w, n).
std::array<double, 3> rotated(const std::array<double, 4>& q, const std::array<double, 3>& v);
// COLMAP's: x in the camera is q X + t; a PINHOLE shows it at (fx x / z + cx, fy y / z + cy).
std::array<double, 2> projected(const ReadCamera& camera, const ReadImage& image, const std::array<double, 3>& point);
// In the world: where the camera is, and where its z axis, its line of sight, points.
std::array<double, 3> centre_of(const ReadImage& image);
std::array<double, 3> sight_of(const ReadImage& image);

}  // namespace pointmap
