#include "colmap_reader.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace pointmap {

namespace {

namespace fs = std::filesystem;
using Vector3 = std::array<double, 3>;

template <typename T>
T take(std::istream& in) {
  T value = {};
  in.read(reinterpret_cast<char*>(&value), sizeof(value));
  return value;
}

std::ifstream open(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return in;
}

void expect_at_end(std::istream& in, const fs::path& path) {
  EXPECT_TRUE(in.good()) << path << " is shorter than it says";
  EXPECT_EQ(in.peek(), std::char_traits<char>::eof()) << path << " is longer than it says";
}

// The lines that are not comments.
std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in = open(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] != '#') lines.push_back(line);
  }
  return lines;
}

Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

std::array<double, 4> conjugate(const std::array<double, 4>& q) {
  return {q[0], -q[1], -q[2], -q[3]};
}

}  // namespace

ReadModel read_colmap_binary(const fs::path& folder) {
  ReadModel model;
  std::ifstream cameras = open(folder / "cameras.bin");
  for (auto count = take<uint64_t>(cameras); count > 0 && cameras; --count) {
    ReadCamera& camera = model.cameras[take<uint32_t>(cameras)];
    const auto kind = take<int32_t>(cameras);
    EXPECT_EQ(kind, 1) << "PINHOLE has number 1 in the list of camera models";
    camera.model = "PINHOLE";
    camera.width = take<uint64_t>(cameras);
    camera.height = take<uint64_t>(cameras);
    for (int i = 0; i < 4; ++i) camera.params.push_back(take<double>(cameras));
  }
  expect_at_end(cameras, folder / "cameras.bin");

  std::ifstream images = open(folder / "images.bin");
  for (auto count = take<uint64_t>(images); count > 0 && images; --count) {
    ReadImage& image = model.images[take<uint32_t>(images)];
    image.q = take<std::array<double, 4>>(images);
    image.t = take<Vector3>(images);
    image.camera_id = take<uint32_t>(images);
    std::getline(images, image.name, '\0');
    for (auto seen = take<uint64_t>(images); seen > 0 && images; --seen) {
      ReadObservation& observation = image.observations.emplace_back();
      observation.x = take<double>(images);
      observation.y = take<double>(images);
      observation.point_id = take<int64_t>(images);
    }
  }
  expect_at_end(images, folder / "images.bin");

  std::ifstream points = open(folder / "points3D.bin");
  for (auto count = take<uint64_t>(points); count > 0 && points; --count) {
    ReadPoint& point = model.points[take<int64_t>(points)];
    point.xyz = take<Vector3>(points);
    for (int& channel : point.rgb) channel = take<uint8_t>(points);
    point.error = take<double>(points);
    for (auto length = take<uint64_t>(points); length > 0 && points; --length) {
      const auto image_id = take<uint32_t>(points);
      point.track.emplace_back(image_id, take<uint32_t>(points));
    }
  }
  expect_at_end(points, folder / "points3D.bin");
  return model;
}

ReadModel read_colmap_text(const fs::path& folder) {
  ReadModel model;
  for (const std::string& line : lines_of(folder / "cameras.txt")) {
    std::istringstream words(line);
    uint32_t id = 0;
    words >> id;
    ReadCamera& camera = model.cameras[id];
    words >> camera.model >> camera.width >> camera.height;
    for (double param; words >> param;) camera.params.push_back(param);
    EXPECT_EQ(camera.params.size(), 4u) << line;
  }

  const std::vector<std::string> lines = lines_of(folder / "images.txt");
  EXPECT_EQ(lines.size() % 2, 0u) << "images.txt has two lines for each image";
  for (size_t i = 0; i + 1 < lines.size(); i += 2) {
    std::istringstream words(lines[i]), seen(lines[i + 1]);
    uint32_t id = 0;
    words >> id;
    ReadImage& image = model.images[id];
    for (double& x : image.q) words >> x;
    for (double& x : image.t) words >> x;
    words >> image.camera_id >> image.name;
    EXPECT_TRUE(words.good() || words.eof()) << lines[i];
    EXPECT_EQ(words.peek(), std::char_traits<char>::eof()) << "words after the name: " << lines[i];
    for (ReadObservation observation; seen >> observation.x >> observation.y >> observation.point_id;) {
      image.observations.push_back(observation);
    }
    EXPECT_TRUE(seen.eof()) << "not all numbers: " << lines[i + 1];
  }

  for (const std::string& line : lines_of(folder / "points3D.txt")) {
    std::istringstream words(line);
    int64_t id = 0;
    words >> id;
    ReadPoint& point = model.points[id];
    for (double& x : point.xyz) words >> x;
    for (int& channel : point.rgb) words >> channel;
    words >> point.error;
    for (std::pair<uint32_t, uint32_t> element; words >> element.first >> element.second;) point.track.push_back(element);
    EXPECT_TRUE(words.eof()) << "not all numbers: " << line;
  }
  return model;
}

void expect_consistent(const ReadModel& model) {
  size_t num_observations = 0, num_elements = 0;
  for (const auto& [image_id, image] : model.images) {
    EXPECT_TRUE(model.cameras.contains(image.camera_id)) << image_id;
    num_observations += image.observations.size();
  }
  for (const auto& [point_id, point] : model.points) {
    num_elements += point.track.size();
    for (const auto& [image_id, place] : point.track) {
      ASSERT_TRUE(model.images.contains(image_id));
      const auto& observations = model.images.at(image_id).observations;
      ASSERT_LT(place, observations.size());
      EXPECT_EQ(observations[place].point_id, point_id);
    }
  }
  // Each element has an observation of its own, so as many of both means that none is left over.
  EXPECT_EQ(num_observations, num_elements);
}

Vector3 rotated(const std::array<double, 4>& q, const Vector3& v) {
  const Vector3 n = {q[1], q[2], q[3]};
  const Vector3 once = cross(n, v), twice = cross(n, once);
  Vector3 result = v;
  for (size_t i = 0; i < 3; ++i) result[i] += 2 * q[0] * once[i] + 2 * twice[i];
  return result;
}

std::array<double, 2> projected(const ReadCamera& camera, const ReadImage& image, const Vector3& point) {
  Vector3 in_cam = rotated(image.q, point);
  for (size_t i = 0; i < 3; ++i) in_cam[i] += image.t[i];
  return {camera.params[0] * in_cam[0] / in_cam[2] + camera.params[2], camera.params[1] * in_cam[1] / in_cam[2] + camera.params[3]};
}

Vector3 centre_of(const ReadImage& image) {
  Vector3 centre = rotated(conjugate(image.q), image.t);
  for (double& x : centre) x = -x;
  return centre;
}

Vector3 sight_of(const ReadImage& image) {
  return rotated(conjugate(image.q), {0, 0, 1});
}

}  // namespace pointmap
