#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>

#include "base/atomic_file.h"
#include "base/check.h"
#include "io/colmap/colmap_writer.h"

namespace pointmap {

namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

// Lines of words with a blank between them.
class Lines {
 public:
  Lines(const std::filesystem::path& path, std::span<const std::string> comments) : file_(path) {
    block_.reserve(kBlockBytes + 4096);
    for (const std::string& comment : comments) add_comment(comment);
  }

  void add_comment(const std::string& comment) {
    POINTMAP_CHECK(comment.find_first_of("\r\n") == std::string::npos, "COLMAP comment with a line break: '" + comment + "'");
    block_ += "# " + comment + "\n";
  }

  // The shortest digits that read back as the same number, whatever the locale.
  template <typename Number>
  requires std::integral<Number> || std::floating_point<Number> Lines& operator<<(Number number) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<size_t>(end - digits.data()));
  }
  Lines& operator<<(std::string_view word) {
    if (!at_start_) block_ += ' ';
    block_ += word;
    at_start_ = false;
    if (block_.size() >= kBlockBytes) flush();  // a line of images.txt can hold millions of points
    return *this;
  }

  void end_line() {
    block_ += '\n';
    at_start_ = true;
  }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(block_);
    block_.clear();
  }

  AtomicFile file_;
  std::string block_;
  bool at_start_ = true;
};

std::string without_blanks(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }, '_');
  return name;
}

void write_cameras(const std::filesystem::path& path, const ColmapModel& model, std::span<const std::string> comments) {
  Lines out(path, comments);
  out.add_comment("Camera list with one line of data per camera:");
  out.add_comment("  CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[] (fx, fy, cx, cy)");
  out.add_comment("Number of cameras: " + std::to_string(model.cameras.size()));
  for (size_t i = 0; i < model.cameras.size(); ++i) {
    const ColmapCamera& camera = model.cameras[i];
    out << i + 1 << "PINHOLE" << camera.width << camera.height << camera.fx << camera.fy << camera.cx << camera.cy;
    out.end_line();
  }
  out.commit();
}

void write_images(const std::filesystem::path& path, const ColmapModel& model, std::span<const std::string> comments) {
  Lines out(path, comments);
  out.add_comment("Image list with two lines of data per image:");
  out.add_comment("  IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME");
  out.add_comment("  POINTS2D[] as (X, Y, POINT3D_ID)");
  out.add_comment("Number of images: " + std::to_string(model.images.size()));
  size_t point = 0;
  for (const ColmapImage& image : model.images) {
    out << image.id;
    for (const double q : image.rotation) out << q;
    for (const double t : image.translation) out << t;
    out << image.camera + 1 << without_blanks(image.name);
    out.end_line();
    for (const size_t end = point + image.num_points; point < end; ++point) {
      out << model.pixels[2 * point] << model.pixels[2 * point + 1] << point + 1;
    }
    out.end_line();  // an image without points has its second line too, an empty one
  }
  out.commit();
}

void write_points(const std::filesystem::path& path, const ColmapModel& model, std::span<const std::string> comments) {
  Lines out(path, comments);
  out.add_comment("3D point list with one line of data per point:");
  out.add_comment("  POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)");
  out.add_comment("Number of points: " + std::to_string(model.num_points()));
  size_t point = 0;
  for (const ColmapImage& image : model.images) {
    for (size_t index = 0; index < image.num_points; ++index, ++point) {
      out << point + 1;
      for (size_t axis = 0; axis < 3; ++axis) out << static_cast<double>(model.positions[3 * point + axis]);
      for (size_t channel = 0; channel < 3; ++channel) out << static_cast<int>(model.colors[3 * point + channel]);
      out << model.errors[point] << image.id << index;
      out.end_line();
    }
  }
  out.commit();
}

}  // namespace

void write_colmap_text(const std::filesystem::path& folder, const ColmapModel& model, std::span<const std::string> comments) {
  check_colmap_model(model);
  write_cameras(folder / "cameras.txt", model, comments);
  write_images(folder / "images.txt", model, comments);
  write_points(folder / "points3D.txt", model, comments);
}

}  // namespace pointmap
