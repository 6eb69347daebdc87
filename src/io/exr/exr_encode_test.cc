// The encoder through OpenEXR's reader, and through one written here from the format's description, which shares nothing with it.
#include "io/exr/exr_encode.h"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfDoubleAttribute.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfMatrixAttribute.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <cstring>
#include <map>
#include <memory>

#include "base/error.h"

namespace pointmap {
namespace {

using testing::ElementsAre;

class MemoryInput : public Imf::IStream {
 public:
  explicit MemoryInput(const std::vector<std::byte>& bytes) : Imf::IStream("EXR of a test"), bytes_(bytes) {}
  bool read(char* to, int count) override {
    std::memcpy(to, bytes_.data() + position_, static_cast<size_t>(count));
    position_ += static_cast<size_t>(count);
    return position_ < bytes_.size();
  }
  uint64_t tellg() override { return position_; }
  void seekg(uint64_t position) override { position_ = position; }

 private:
  const std::vector<std::byte>& bytes_;
  size_t position_ = 0;
};

// The second reader: scan lines, one FLOAT channel, ZIP (blocks of 16 lines).
struct ParsedExr {
  std::map<std::string, std::pair<std::string, std::string>> attributes;  // name to type and bytes
  std::vector<float> values;
};

class Cursor {
 public:
  explicit Cursor(const std::vector<std::byte>& bytes) : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string take(size_t count) {
    position_ += count;
    return text_.substr(position_ - count, count);
  }
  std::string word() {
    const size_t end = text_.find('\0', position_);
    const std::string word = text_.substr(position_, end - position_);
    position_ = end + 1;
    return word;
  }
  bool at_end() const { return position_ == text_.size(); }

 private:
  std::string text_;
  size_t position_ = 0;
};

// Undoes zlib, the differences between neighbouring bytes and the split into even and odd bytes.
std::string unpacked(const std::string& packed, size_t raw_bytes) {
  if (packed.size() == raw_bytes) return packed;  // was not worth it
  std::string bytes(raw_bytes, '\0');
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflate(libdeflate_alloc_decompressor(),
                                                                                             libdeflate_free_decompressor);
  EXPECT_EQ(libdeflate_zlib_decompress(inflate.get(), packed.data(), packed.size(), bytes.data(), bytes.size(), nullptr),
            LIBDEFLATE_SUCCESS);
  for (size_t i = 1; i < raw_bytes; ++i) bytes[i] = static_cast<char>(bytes[i - 1] + bytes[i] - 128);
  std::string result(raw_bytes, '\0');
  for (size_t i = 0; i < raw_bytes; ++i) result[i] = bytes[i % 2 == 0 ? i / 2 : (raw_bytes + 1) / 2 + i / 2];
  return result;
}

ParsedExr parse_exr(const std::vector<std::byte>& bytes, int width, int height) {
  Cursor in(bytes);
  EXPECT_EQ(in.number<uint32_t>(), 20000630u);
  EXPECT_EQ(in.number<uint32_t>(), 2u) << "version 2, scan lines, short names";
  ParsedExr exr;
  for (std::string name = in.word(); !name.empty(); name = in.word()) {
    const std::string type = in.word();
    exr.attributes[name] = {type, in.take(in.number<uint32_t>())};
  }
  const int num_blocks = (height + 15) / 16;
  for (int i = 0; i < num_blocks; ++i) EXPECT_GT(in.number<uint64_t>(), 0u) << "offset " << i;
  for (int i = 0; i < num_blocks; ++i) {
    EXPECT_EQ(in.number<int32_t>(), 16 * i) << "lines from the top";
    const size_t lines = static_cast<size_t>(std::min(16, height - 16 * i));
    std::vector<float> block(lines * static_cast<size_t>(width));
    const std::string raw = unpacked(in.take(in.number<uint32_t>()), block.size() * sizeof(float));
    std::memcpy(block.data(), raw.data(), raw.size());
    exr.values.insert(exr.values.end(), block.begin(), block.end());
  }
  EXPECT_TRUE(in.at_end()) << "bytes after the last block";
  return exr;
}

constexpr int kWidth = 37, kHeight = 21;  // two blocks of lines, the last cut short

std::vector<float> some_depth() {
  std::vector<float> depth;
  for (int i = 0; i < kWidth * kHeight; ++i) depth.push_back(i % 5 == 0 ? 0 : 1 + 0.25f * static_cast<float>(i % 37));
  return depth;
}

const std::vector<ExrAttribute> kAttributes = {{"view", std::string("photo \xC3\xBC.jpg")},
                                               {"unit_in_metres", 0.125},
                                               {"intrinsics", std::array<double, 9>{1, 2, 3, 4, 5, 6, 7, 8, 9}},
                                               {"world_from_cam", std::array<double, 16>{0, 0, 1, 1, 0, 1, 0, 2, -1, 0, 0, 3, 0, 0, 0, 1}}};

TEST(ExrEncode, ASecondReaderFindsTheSameNumbers) {
  const std::vector<float> depth = some_depth();
  const std::vector<std::byte> bytes = encode_exr_depth(depth, kWidth, kHeight, kAttributes);
  const ParsedExr exr = parse_exr(bytes, kWidth, kHeight);
  EXPECT_EQ(exr.values, depth);
  EXPECT_LT(bytes.size(), depth.size() * sizeof(float)) << "it is compressed";
  EXPECT_EQ(exr.attributes.at("compression").second, "\x03") << "ZIP";
  EXPECT_EQ(exr.attributes.at("channels").second.substr(0, 6), std::string("Z\0\2\0\0\0", 6)) << "Z, FLOAT";
  EXPECT_EQ(exr.attributes.at("view"), (std::pair<std::string, std::string>("string", "photo \xC3\xBC.jpg")));
  EXPECT_EQ(exr.attributes.at("world_from_cam").first, "m44d");
  std::array<double, 16> matrix;
  std::memcpy(matrix.data(), exr.attributes.at("world_from_cam").second.data(), sizeof(matrix));
  EXPECT_THAT(matrix, ElementsAre(0, 0, 1, 1, 0, 1, 0, 2, -1, 0, 0, 3, 0, 0, 0, 1));
}

TEST(ExrEncode, OpenExrReadsItBack) {
  const std::vector<float> depth = some_depth();
  const std::vector<std::byte> bytes = encode_exr_depth(depth, kWidth, kHeight, kAttributes);
  MemoryInput stream(bytes);
  Imf::InputFile file(stream, 0);
  const Imath::Box2i box = file.header().dataWindow();
  EXPECT_EQ(box.max.x - box.min.x + 1, kWidth);
  EXPECT_EQ(box.max.y - box.min.y + 1, kHeight);
  ASSERT_NE(file.header().channels().findChannel("Z"), nullptr);
  EXPECT_EQ(file.header().channels().findChannel("Z")->type, Imf::FLOAT);
  std::vector<float> read(depth.size());
  Imf::FrameBuffer pixels;
  pixels.insert("Z", Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(read.data()), sizeof(float), sizeof(float) * kWidth));
  file.setFrameBuffer(pixels);
  file.readPixels(0, kHeight - 1);
  EXPECT_EQ(read, depth);
  EXPECT_EQ(file.header().typedAttribute<Imf::DoubleAttribute>("unit_in_metres").value(), 0.125);
  EXPECT_EQ(file.header().typedAttribute<Imf::M33dAttribute>("intrinsics").value()[1][2], 6);
  EXPECT_EQ(file.header().typedAttribute<Imf::M44dAttribute>("world_from_cam").value()[2][3], 3) << "row 2, column 3: row-major";
}

TEST(ExrEncode, IsReproducible) {
  EXPECT_EQ(encode_exr_depth(some_depth(), kWidth, kHeight, kAttributes), encode_exr_depth(some_depth(), kWidth, kHeight, kAttributes));
}

TEST(ExrEncode, RefusesWhatItCannotHold) {
  EXPECT_THROW(encode_exr_depth(std::vector<float>(5), 3, 2), Error);
  EXPECT_THROW(encode_exr_depth({}, 0, 2), Error);
  const std::vector<ExrAttribute> nameless = {{"", 1.0}};
  EXPECT_THROW(encode_exr_depth(std::vector<float>(6), 3, 2, nameless), Error);
}

}  // namespace
}  // namespace pointmap
