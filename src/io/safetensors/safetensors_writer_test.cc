// What is written reads back, aligned and in a fixed order; bad names are refused and leave no file.
#include "io/safetensors/safetensors_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "io/safetensors/checkpoint.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

class SafetensorsWriterTest : public testing::Test {
 protected:
  SafetensorsWriterTest() : folder_(fs::temp_directory_path() / ("pointmap-writer-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~SafetensorsWriterTest() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(SafetensorsWriterTest, WritesTheBytesOfTheFormat) {
  const uint8_t byte = 7;
  const float number = 1.f;
  const std::vector<NamedTensorView> tensors = {{"a", TensorView(&byte, DType::kU8, {1})}, {"b", TensorView(&number, DType::kF32, {1, 1})}};
  write_safetensors(folder_ / "f.safetensors", tensors, {{"k", "v\""}});
  std::ifstream in(folder_ / "f.safetensors", std::ios::binary);
  const std::string got((std::istreambuf_iterator<char>(in)), {});
  // Length, JSON padded to 8 bytes, 1.0f, the byte.
  const std::string json =
      R"({"__metadata__":{"k":"v\""},"b":{"dtype":"F32","shape":[1, 1],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[1],"data_offsets":[4,5]}})";
  const size_t padded = (json.size() + 7) / 8 * 8;
  std::string want(8, '\0');
  want[0] = static_cast<char>(padded);
  want += json + std::string(padded - json.size(), ' ') + std::string("\0\0\x80\x3f\x07", 5);
  EXPECT_EQ(got, want);
}

TEST_F(SafetensorsWriterTest, MixedTypesAndSlicesReadBack) {
  std::vector<float> packed(6);
  std::iota(packed.begin(), packed.end(), 0.f);
  const std::vector<double> doubles = {0.5};
  const std::vector<uint16_t> halves = {1, 2, 3};
  const TensorView slice = TensorView(packed.data(), DType::kF32, {2, 3}).slice_last(1, 3);
  const std::vector<NamedTensorView> tensors = {{"halves", TensorView(halves.data(), DType::kBF16, {3})},
                                                {"\xc3\xa9\n", slice},
                                                {"doubles", TensorView(doubles.data(), DType::kF64, {})},
                                                {"none", TensorView(packed.data(), DType::kF32, {0, 3}).slice_last(0, 2)}};
  write_safetensors(folder_ / "f.safetensors", tensors);
  const Checkpoint checkpoint = Checkpoint::open(folder_ / "f.safetensors");
  ASSERT_EQ(checkpoint.entries().size(), 4u);
  EXPECT_EQ(checkpoint.view(*checkpoint.find("doubles")).data<double>()[0], 0.5);
  const TensorView got = checkpoint.view(*checkpoint.find("\xc3\xa9\n"));
  EXPECT_EQ(got.shape(), (Shape{2, 2}));
  EXPECT_THAT(std::vector<float>(got.data<float>(), got.data<float>() + 4), testing::ElementsAre(1, 2, 4, 5));
  const auto* bits = static_cast<const uint16_t*>(checkpoint.view(*checkpoint.find("halves")).raw());
  EXPECT_THAT(std::vector<uint16_t>(bits, bits + 3), testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(checkpoint.view(*checkpoint.find("none")).shape(), (Shape{0, 2}));
}

TEST_F(SafetensorsWriterTest, BadNamesAreRefusedAndLeaveNothing) {
  const float number = 1.f;
  const TensorView view(&number, DType::kF32, {1});
  const auto write = [&](const std::vector<NamedTensorView>& tensors, const std::map<std::string, std::string>& metadata = {}) {
    write_safetensors(folder_ / "f.safetensors", tensors, metadata);
  };
  EXPECT_THROW(write({{"", view}}), Error);
  EXPECT_THROW(write({{"__metadata__", view}}), Error);
  EXPECT_THROW(write({{"a", view}, {"a", view}}), Error);
  EXPECT_THROW(write({{"\xff", view}}), Error);
  EXPECT_THROW(write({{"a", view}}, {{"k", "\xff"}}), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_THROW(write_safetensors(folder_ / "no/such/folder.safetensors", {}), Error);
}

}  // namespace
}  // namespace pointmap
