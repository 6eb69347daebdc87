// The writer through our own reader; that numpy.load opens the files was checked by hand (see the commit) and is what the
// byte-for-byte comparison with an archive that NumPy wrote stands for.
#include "io/npz/npz_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "io/npz/npz_file.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

fs::path temporary_file(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / ("pointmap_npz_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  return folder / name;
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void add_sample(NpzWriter& writer) {
  std::vector<float> values(3000);
  std::iota(values.begin(), values.end(), 0.0f);
  const int64_t scalar = -5;
  writer.add("grid", TensorView(values.data(), DType::kF32, Shape{10, 100, 3}));
  writer.add("columns", TensorView(values.data(), DType::kF32, Shape{1000, 3}).slice_last(1, 2));
  writer.add("scalar", TensorView(&scalar, DType::kI64, Shape{}));
  writer.add("none", DType::kF64, Shape{0, 3}, {});
  writer.add_text("meta", R"({"grüße": 1})");
  writer.finish();
}

void write_sample(const fs::path& path, const NpzWriteOptions& options) {
  NpzWriter writer(path, options);
  add_sample(writer);
}

class NpzWriterTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(temporary_file("").parent_path()); }
};
class NpzWriterOptionsTest : public NpzWriterTest, public testing::WithParamInterface<NpzWriteOptions> {};

TEST_P(NpzWriterOptionsTest, ComesBackAsItWasWritten) {
  const fs::path path = temporary_file("sample.npz");
  write_sample(path, GetParam());
  const NpzFile file = NpzFile::read(path);
  EXPECT_THAT(file.names(), ElementsAre("columns", "grid", "meta", "none", "scalar"));
  EXPECT_EQ(file.array("grid").shape, (Shape{10, 100, 3}));
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(file.array("grid").as<float>()[i], static_cast<float>(i));
  EXPECT_EQ(file.array("columns").shape, (Shape{1000, 1}));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(file.array("columns").as<float>()[i], static_cast<float>(3 * i + 1));
  EXPECT_EQ(file.array("scalar").shape, Shape{});
  EXPECT_THAT(file.array("scalar").as<int64_t>(), ElementsAre(-5));
  EXPECT_EQ(file.array("none").shape, (Shape{0, 3}));
  EXPECT_EQ(file.array("meta").text(), R"({"grüße": 1})");
}

TEST_P(NpzWriterOptionsTest, IsReproducible) {
  write_sample(temporary_file("first.npz"), GetParam());
  write_sample(temporary_file("second.npz"), GetParam());
  EXPECT_EQ(content_of(temporary_file("first.npz")), content_of(temporary_file("second.npz")));
}

INSTANTIATE_TEST_SUITE_P(Ways, NpzWriterOptionsTest,
                         testing::Values(NpzWriteOptions{}, NpzWriteOptions{.deflate_level = 6}, NpzWriteOptions{.always_zip64 = true},
                                         NpzWriteOptions{.deflate_level = 1, .always_zip64 = true}));

TEST_F(NpzWriterTest, DeflatesWhatShrinks) {
  write_sample(temporary_file("stored.npz"), {});
  write_sample(temporary_file("deflated.npz"), {.deflate_level = 6});
  EXPECT_LT(fs::file_size(temporary_file("deflated.npz")), fs::file_size(temporary_file("stored.npz")) / 2);
}

TEST_F(NpzWriterTest, WritesTheMemberThatNumpyWrites) {
  // The stored .npy member is contiguous in both archives, header and elements; NumPy's is found by its magic.
  const std::string numpy = content_of(fs::path(POINTMAP_SOURCE_DIR) / "src/io/npz/testdata/numpy_stored.npz");
  const size_t begin = numpy.find("\x93NUMPY");  // the first member, f8
  const double values[] = {1.5, -2.25};
  NpzWriter writer(temporary_file("member.npz"));
  writer.add("f8", TensorView(values, DType::kF64, Shape{2}));
  writer.finish();
  EXPECT_NE(content_of(temporary_file("member.npz")).find(numpy.substr(begin, 128 + sizeof(values))), std::string::npos);
}

TEST_P(NpzWriterOptionsTest, WritesTheSameBytesIntoMemory) {
  write_sample(temporary_file("sample.npz"), GetParam());
  std::string memory = "before";
  NpzWriter writer(memory, "memory", GetParam());
  add_sample(writer);
  EXPECT_EQ(memory, "before" + content_of(temporary_file("sample.npz")));
}

TEST_F(NpzWriterTest, LeavesNothingUnlessFinished) {
  const fs::path path = temporary_file("abandoned.npz");
  { NpzWriter writer(path); }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(NpzWriterTest, HoldsMoreMembersThanThePlainFormatCan) {
  const fs::path path = temporary_file("many.npz");
  const uint8_t value = 9;
  NpzWriter writer(path);
  for (int i = 0; i < 70000; ++i) writer.add(std::to_string(i), TensorView(&value, DType::kU8, Shape{1}));
  writer.finish();
  const NpzFile file = NpzFile::read(path, {.max_members = 70000});
  EXPECT_EQ(file.names().size(), 70000u);
}

TEST_F(NpzWriterTest, RefusesWhatItCannotWrite) {
  const fs::path path = temporary_file("refused.npz");
  NpzWriter writer(path);
  const float value = 1;
  const TensorView view(&value, DType::kF32, Shape{1});
  writer.add("a", view);
  EXPECT_THROW(writer.add("a", view), Error);
  EXPECT_THROW(writer.add("", view), Error);
  EXPECT_THROW(writer.add("bf16", TensorView(&value, DType::kBF16, Shape{2})), Error);
  EXPECT_THROW(writer.add("short", DType::kF32, Shape{2}, std::as_bytes(std::span(&value, 1))), Error);
  EXPECT_THROW(writer.add("nothing", TensorView(nullptr, DType::kF32, Shape{1})), Error);
  EXPECT_THROW(NpzWriter(path, {.deflate_level = 13}), Error);
  EXPECT_THROW(NpzWriter("/no/such/folder/a.npz"), Error);
  writer.finish();
  EXPECT_THROW(writer.add("late", view), Error);
  EXPECT_THROW(writer.finish(), Error);
}

}  // namespace
}  // namespace pointmap
