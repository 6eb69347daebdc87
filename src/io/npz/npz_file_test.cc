// The reader against archives that NumPy wrote (testdata/) and against the golden files.
#include "io/npz/npz_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kTestdata = fs::path(POINTMAP_SOURCE_DIR) / "src/io/npz/testdata";

template <typename T>
std::vector<T> elements_of(const NpzArray& array, DType dtype) {
  EXPECT_EQ(array.dtype, dtype) << array.name;
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

template <typename T>
void expect_limits(const NpzFile& file, const char* name, DType dtype) {
  EXPECT_THAT(elements_of<T>(file.array(name), dtype), ElementsAre(std::numeric_limits<T>::min(), std::numeric_limits<T>::max())) << name;
}

TEST(NpzFile, ReadsEveryNumericTypeThatNumpyDeflated) {
  const NpzFile file = NpzFile::read(kTestdata / "numpy_deflated.npz");
  expect_limits<int8_t>(file, "i8", DType::kI8);
  expect_limits<int16_t>(file, "i16", DType::kI16);
  expect_limits<int32_t>(file, "i32", DType::kI32);
  expect_limits<int64_t>(file, "i64", DType::kI64);
  expect_limits<uint8_t>(file, "u8", DType::kU8);
  expect_limits<uint16_t>(file, "u16", DType::kU16);
  expect_limits<uint32_t>(file, "u32", DType::kU32);
  expect_limits<uint64_t>(file, "u64", DType::kU64);
  EXPECT_THAT(file.array("f8").as<double>(), ElementsAre(1.5, -2.25));
  EXPECT_THAT(file.array("f4").as<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(file.array("f4").shape, (Shape{2, 3}));
  EXPECT_THAT(elements_of<uint16_t>(file.array("f2"), DType::kF16), ElementsAre(0x3800, 0xC000, 0x7C00));
  EXPECT_THAT(elements_of<uint8_t>(file.array("bool"), DType::kBool), ElementsAre(1, 0, 1));
}

TEST(NpzFile, ReadsScalarsAndEmptyArrays) {
  const NpzFile file = NpzFile::read(kTestdata / "numpy_deflated.npz");
  EXPECT_EQ(file.array("scalar").shape.rank(), 0u);
  EXPECT_THAT(file.array("scalar").as<float>(), ElementsAre(7.0f));
  EXPECT_EQ(file.array("empty").shape, (Shape{0, 4}));
  EXPECT_TRUE(file.array("empty").as<float>().empty());
}

TEST(NpzFile, TurnsFortranOrderIntoCOrder) {
  for (const char* archive : {"numpy_deflated.npz", "numpy_stored.npz"}) {
    const NpzFile file = NpzFile::read(kTestdata / archive);
    const NpzArray& array = file.array("fortran");
    EXPECT_EQ(array.shape, (Shape{2, 3, 4}));
    const auto values = array.as<int32_t>();
    ASSERT_EQ(values.size(), 24u);
    for (int i = 0; i < 24; ++i) EXPECT_EQ(values[i], i) << archive;
  }
}

TEST(NpzFile, ReadsHeaderVersionsOneToThree) {
  const NpzFile file = NpzFile::read(kTestdata / "numpy_versions.npz");
  EXPECT_THAT(file.names(), ElementsAre("version1", "version2", "version3"));
  for (const std::string& name : file.names()) EXPECT_THAT(file.array(name).as<float>(), ElementsAre(0, 1, 2, 3, 4, 5)) << name;
  EXPECT_EQ(file.unread().at("notes.txt"), "not an .npy member");
}

TEST(NpzFile, SetsAsideWhatItDoesNotRead) {
  const NpzFile file = NpzFile::read(kTestdata / "numpy_deflated.npz");
  std::vector<std::string> unread;
  for (const auto& [name, reason] : file.unread()) unread.push_back(name);
  EXPECT_THAT(unread, ElementsAre("big_endian", "bytes", "complex", "rank7", "record", "text"));
  EXPECT_FALSE(file.has("text"));
  try {
    file.array("big_endian");
    FAIL() << "gave an array of unread type";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr(">f4"));
  }
}

TEST(NpzFile, NamesWhatIsThereWhenAnArrayIsNot) {
  const NpzFile file = NpzFile::read(kTestdata / "numpy_stored.npz");
  try {
    file.array("pts3d_1");
    FAIL() << "found an array that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kNotFound);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("numpy_stored.npz"), HasSubstr("pts3d_1"), HasSubstr("'f4' 'f8' 'fortran'")));
  }
}

TEST(NpzFile, RefusesTheWrongElementType) {
  const NpzFile file = NpzFile::read(kTestdata / "numpy_stored.npz");
  EXPECT_THROW(file.array("f8").as<float>(), Error);
}

TEST(NpzFile, RefusesAFileThatIsNotThere) {
  EXPECT_THROW(NpzFile::read("/no/such/file.npz"), Error);
}

TEST(NpzFile, ReadsAGoldenFile) {
  fs::path path = fs::path(POINTMAP_SOURCE_DIR) / "tests/golden/dust3r_tiny_32x32.npz";
  if (!fs::exists(path)) path = fs::path(POINTMAP_SHARED_DIR) / "golden/dust3r_tiny_32x32.npz";
  if (!fs::exists(path)) GTEST_SKIP() << "no golden file dust3r_tiny_32x32.npz";
  const NpzFile file = NpzFile::read(path);
  EXPECT_EQ(file.array("pts3d_1").shape, (Shape{1, 32, 32, 3}));
  EXPECT_EQ(file.array("raw1").shape, (Shape{1, 4, 32, 32}));
  EXPECT_THAT(file.array("meta_json").text(), testing::AllOf(testing::StartsWith("{"), HasSubstr("torch_fp32_max_err")));
  // Two arrays that were stored separately but are a function of each other: conf = 1 + exp(raw[3]).
  const auto raw = file.array("raw1").as<float>();
  const auto conf = file.array("conf_1").as<float>();
  ASSERT_EQ(conf.size(), 1024u);
  for (size_t i = 0; i < conf.size(); ++i) {
    const double want = 1 + std::exp(static_cast<double>(raw[3 * 1024 + i]));
    // raw is rounded to float32 (relative 2^-24, scaled by |raw| through exp), conf once more.
    EXPECT_NEAR(conf[i], want, want * 0x1p-24 * (2 + std::abs(raw[3 * 1024 + i])));
  }
}

}  // namespace
}  // namespace pointmap
