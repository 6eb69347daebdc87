#include <bit>
#include <cstring>
#include <vector>

#include "base/atomic_file.h"
#include "io/colmap/colmap_writer.h"

namespace pointmap {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

namespace {

constexpr int32_t kPinhole = 1;  // COLMAP's number for the model
constexpr size_t kBlockBytes = size_t{1} << 20;

// Collects bytes in blocks: a write to the stream costs more than a number.
class Packer {
 public:
  explicit Packer(const std::filesystem::path& path) : file_(path) { block_.reserve(kBlockBytes + 4096); }

  template <typename T>
  void put(const T& value) {
    append(&value, sizeof(value));
  }
  void put(const std::string& text) { append(text.c_str(), text.size() + 1); }  // with its NUL

  void commit() {
    flush();
    file_.commit();
  }

 private:
  void append(const void* bytes, size_t size) {
    const auto* begin = static_cast<const char*>(bytes);
    block_.insert(block_.end(), begin, begin + size);
    if (block_.size() >= kBlockBytes) flush();
  }
  void flush() {
    file_.write({block_.data(), block_.size()});
    block_.clear();
  }

  AtomicFile file_;
  std::vector<char> block_;
};

void write_cameras(const std::filesystem::path& path, const ColmapModel& model) {
  Packer out(path);
  out.put(uint64_t{model.cameras.size()});
  for (size_t i = 0; i < model.cameras.size(); ++i) {
    const ColmapCamera& camera = model.cameras[i];
    out.put(static_cast<uint32_t>(i + 1));
    out.put(kPinhole);
    out.put(camera.width);
    out.put(camera.height);
    for (const double parameter : {camera.fx, camera.fy, camera.cx, camera.cy}) out.put(parameter);
  }
  out.commit();
}

void write_images(const std::filesystem::path& path, const ColmapModel& model) {
  Packer out(path);
  out.put(uint64_t{model.images.size()});
  size_t point = 0;
  for (const ColmapImage& image : model.images) {
    out.put(image.id);
    out.put(image.rotation);
    out.put(image.translation);
    out.put(static_cast<uint32_t>(image.camera + 1));
    out.put(image.name);
    out.put(uint64_t{image.num_points});
    for (const size_t end = point + image.num_points; point < end; ++point) {
      out.put(model.pixels[2 * point]);
      out.put(model.pixels[2 * point + 1]);
      out.put(uint64_t{point + 1});
    }
  }
  out.commit();
}

void write_points(const std::filesystem::path& path, const ColmapModel& model) {
  Packer out(path);
  out.put(uint64_t{model.num_points()});
  size_t point = 0;
  for (const ColmapImage& image : model.images) {
    for (size_t index = 0; index < image.num_points; ++index, ++point) {
      out.put(uint64_t{point + 1});
      for (size_t axis = 0; axis < 3; ++axis) out.put(static_cast<double>(model.positions[3 * point + axis]));
      for (size_t channel = 0; channel < 3; ++channel) out.put(model.colors[3 * point + channel]);
      out.put(model.errors[point]);
      out.put(uint64_t{1});  // the length of its track
      out.put(image.id);
      out.put(static_cast<uint32_t>(index));
    }
  }
  out.commit();
}

}  // namespace

void write_colmap_binary(const std::filesystem::path& folder, const ColmapModel& model) {
  check_colmap_model(model);
  write_cameras(folder / "cameras.bin", model);
  write_images(folder / "images.bin", model);
  write_points(folder / "points3D.bin", model);
}

}  // namespace pointmap
