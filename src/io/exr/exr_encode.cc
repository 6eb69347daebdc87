#include "io/exr/exr_encode.h"

#include <Imath/ImathMatrix.h>
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfDoubleAttribute.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfMatrixAttribute.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStringAttribute.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace pointmap {
namespace {

constexpr const char* kChannel = "Z";  // the name that the format's own documents give depth

// OpenEXR writes to a stream that it can seek in: it fills in the table of line offsets at the end.
class MemoryStream : public Imf::OStream {
 public:
  MemoryStream() : Imf::OStream("EXR in memory") {}
  void write(const char* from, int count) override {
    const auto size = static_cast<size_t>(count);
    bytes_.resize(std::max(bytes_.size(), position_ + size));
    std::memcpy(bytes_.data() + position_, from, size);
    position_ += size;
  }
  uint64_t tellp() override { return position_; }
  void seekp(uint64_t position) override { position_ = position; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  size_t position_ = 0;
};

struct AddAttribute {
  Imf::Header& header;
  const std::string& name;
  void operator()(const std::string& text) const { header.insert(name, Imf::StringAttribute(text)); }
  void operator()(double number) const { header.insert(name, Imf::DoubleAttribute(number)); }
  void operator()(const std::array<double, 9>& m) const {
    header.insert(name, Imf::M33dAttribute(Imath::M33d(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])));
  }
  void operator()(const std::array<double, 16>& m) const {
    header.insert(name, Imf::M44dAttribute(Imath::M44d(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], m[12],
                                                       m[13], m[14], m[15])));
  }
};

}  // namespace

std::vector<std::byte> encode_exr_depth(std::span<const float> depth, int width, int height, std::span<const ExrAttribute> attributes) {
  POINTMAP_CHECK(width > 0 && height > 0 && depth.size() == checked_mul(static_cast<size_t>(width), static_cast<size_t>(height)),
                 "EXR of " + std::to_string(width) + "x" + std::to_string(height) + ": got " + std::to_string(depth.size()) + " numbers");
  Imf::Header header(width, height);
  header.compression() = Imf::ZIP_COMPRESSION;
  header.channels().insert(kChannel, Imf::Channel(Imf::FLOAT));
  for (const auto& [name, value] : attributes) {
    POINTMAP_CHECK(!name.empty(), "EXR attribute without a name");
    std::visit(AddAttribute{header, name}, value);
  }
  MemoryStream stream;
  try {
    constexpr int kThreads = 0;  // this one; the library's own threads are none of ours
    Imf::OutputFile file(stream, header, kThreads);
    Imf::FrameBuffer pixels;
    // The library takes a writable pointer for reading and writing alike; writing a file only reads.
    char* first = const_cast<char*>(reinterpret_cast<const char*>(depth.data()));
    pixels.insert(kChannel, Imf::Slice(Imf::FLOAT, first, sizeof(float), sizeof(float) * static_cast<size_t>(width)));
    file.setFrameBuffer(pixels);
    file.writePixels(height);
  } catch (const std::exception& error) {
    throw Error{kInternal, std::string("EXR encoder: ") + error.what()};
  }
  return stream.take();
}

}  // namespace pointmap
