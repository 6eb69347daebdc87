#include "io/pfm/pfm_encode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <string>

#include "base/error.h"

namespace pointmap {
namespace {

using testing::ElementsAre;

// Another reader: words of the header, one white space, then rows from the bottom.
struct ParsedPfm {
  int width = 0, height = 0;
  std::vector<float> values;  // top row first
};

ParsedPfm parse_pfm(const std::vector<std::byte>& bytes) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  ParsedPfm pfm;
  std::string magic;
  double scale = 0;
  in >> magic >> pfm.width >> pfm.height >> scale;
  in.get();
  EXPECT_EQ(magic, "Pf");
  EXPECT_EQ(scale, -1) << "little-endian";
  const size_t width = static_cast<size_t>(pfm.width), height = static_cast<size_t>(pfm.height);
  pfm.values.resize(width * height);
  for (size_t from_bottom = 0; from_bottom < height; ++from_bottom) {
    for (size_t u = 0; u < width; ++u) {
      unsigned char b[4] = {};
      in.read(reinterpret_cast<char*>(b), 4);
      const uint32_t bits = b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint32_t>(b[3]) << 24;
      std::memcpy(&pfm.values[(height - 1 - from_bottom) * width + u], &bits, 4);
    }
  }
  EXPECT_TRUE(in.good()) << "shorter than its header says";
  EXPECT_EQ(in.peek(), std::char_traits<char>::eof());
  return pfm;
}

TEST(PfmEncode, NumbersComeBackInTheirPlaces) {
  const std::vector<float> values = {0, 1.5f, -2, 1e-40f, 3e38f, 7};
  const ParsedPfm pfm = parse_pfm(encode_pfm(values, 3, 2));
  EXPECT_EQ(pfm.width, 3);
  EXPECT_EQ(pfm.height, 2);
  EXPECT_EQ(pfm.values, values);
}

TEST(PfmEncode, BottomRowComesFirst) {
  const std::vector<std::byte> bytes = encode_pfm(std::vector<float>{1, 2}, 1, 2);
  float first = 0;
  std::memcpy(&first, bytes.data() + bytes.size() - 2 * sizeof(float), sizeof(float));
  EXPECT_EQ(first, 2);
}

TEST(PfmEncode, RefusesSizesThatDisagree) {
  EXPECT_THROW(encode_pfm(std::vector<float>(5), 3, 2), Error);
  EXPECT_THROW(encode_pfm({}, 0, 2), Error);
  EXPECT_THROW(encode_pfm(std::vector<float>(2), -1, -2), Error);
}

}  // namespace
}  // namespace pointmap
