#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/base64.h"
#include "base/cancel.h"
#include "base/check.h"
#include "base/cpu_info.h"
#include "base/mapped_file.h"
#include "base/name_hash.h"
#include "base/names.h"
#include "base/process_memory.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

fs::path temporary_folder() {
  const fs::path folder = fs::path(testing::TempDir()) / ("pointmap_base_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  return folder;
}

TEST(CheckedMath, ThrowsInsteadOfWrapping) {
  EXPECT_EQ(checked_mul<int64_t>(3, 4), 12);
  EXPECT_THROW(checked_mul<int64_t>(INT64_MAX, 2), Error);
  EXPECT_THROW(checked_add<uint64_t>(UINT64_MAX, 1), Error);
}

TEST(NameHash, MatchesPublishedVectors) {
  EXPECT_EQ(fnv1a_64(""), 0xCBF29CE484222325u);
  EXPECT_EQ(fnv1a_64("a"), 0xAF63DC4C8601EC8Cu);  // from the FNV reference's test suite
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFu);  // first output for seed 0
}

TEST(CancelFlag, ThrowsOnlyAfterRequest) {
  CancelFlag cancel;
  EXPECT_NO_THROW(cancel.throw_if_requested());
  cancel.request();
  EXPECT_THROW(cancel.throw_if_requested(), Error);
}

TEST(MappedFile, ShowsTheBytesAlsoAfterDroppingPages) {
  const fs::path path = temporary_folder() / "mapped";
  const std::string content(100000, 'x');
  std::ofstream(path, std::ios::binary) << content;
  const MappedFile file(path);
  ASSERT_EQ(file.bytes().size(), content.size());
  file.drop_pages(file.bytes());
  EXPECT_EQ(file.bytes()[99999], std::byte{'x'});
}

TEST(MappedFile, NamesTheFileThatIsNotThere) {
  try {
    const MappedFile file("/no/such/file");
    FAIL() << "opened a file that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kNotFound);
    EXPECT_NE(std::string(error.what()).find("/no/such/file"), std::string::npos);
  }
}

TEST(MappedFile, RefusesAFifoWithoutWaitingForIt) {
  const fs::path path = temporary_folder() / "fifo";
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(MappedFile{path}, Error);
}

TEST(MappedFile, RefusesAFolder) {
  EXPECT_THROW(MappedFile("/tmp"), Error);
}

TEST(AtomicFile, AppearsOnlyOnCommit) {
  const fs::path path = temporary_folder() / "atomic";
  fs::remove(path);
  {
    AtomicFile abandoned(path);
    abandoned.write("half");
  }
  EXPECT_FALSE(fs::exists(path));
  AtomicFile file(path);
  file.write("whole");
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(fs::file_size(path), 5u);
}

TEST(AtomicFile, NamesTheFolderItCannotWrite) {
  EXPECT_THROW(AtomicFile("/no/such/folder/file"), Error);
}

TEST(AtomicFile, WritesAFileAtOnceFromTextOrBytes) {
  const fs::path path = temporary_folder() / "at_once";
  write_file(path, "text");
  EXPECT_EQ(fs::file_size(path), 4u);
  const std::array<std::byte, 2> bytes = {std::byte{1}, std::byte{2}};
  write_file(path, bytes);
  EXPECT_EQ(fs::file_size(path), 2u);
}

TEST(Names, FindsAWordOrListsAll) {
  constexpr std::array<std::string_view, 3> kFruits = {"apple", "pear", "plum"};
  EXPECT_EQ(index_of_name(kFruits, "pear", "fruit"), 1u);
  try {
    (void)index_of_name(kFruits, "stone", "fruit");
    FAIL() << "a stone is no fruit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kInvalidArgument);
    EXPECT_STREQ(error.what(), "fruit 'stone' is none of apple, pear, plum");
  }
}

TEST(Names, TakesAListInAnyOrder) {
  constexpr std::array<std::string_view, 3> kFruits = {"apple", "pear", "plum"};
  EXPECT_EQ(indices_of_names(kFruits, "plum,apple,plum", "fruit"), (std::set<size_t>{0, 2}));
  EXPECT_EQ(indices_of_names(kFruits, "all", "fruit").size(), 3u);
  for (const char* text : {"", "plum,", ",plum", "plum pear", "plum,all"}) {
    EXPECT_THROW((void)indices_of_names(kFruits, text, "fruit"), Error) << text;
  }
}

// The test vectors of RFC 4648, section 10, and every digit.
TEST(Base64, IsThatOfTheRfc) {
  const auto encoded = [](const std::string& text) { return base64(std::as_bytes(std::span(text))); };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xFB\xFF\xBE"), "+/++");
}

TEST(CpuInfo, FindsAtLeastOneCore) {
  const CpuInfo info = read_cpu_info();
  EXPECT_FALSE(info.model_name.empty());
  EXPECT_GE(info.available_cores, 1);
}

TEST(CpuInfo, L2IsBetweenTheSmallestAndTheLargestOfRealCores) {
  EXPECT_GE(l2_cache_bytes(), 64u * 1024);
  EXPECT_LE(l2_cache_bytes(), 64u * 1024 * 1024);
}

TEST(ProcessMemory, PeakIsNotBelowNow) {
  const ProcessMemory memory = read_process_memory();
  EXPECT_GT(memory.resident_bytes, 0u);
  EXPECT_GE(memory.peak_resident_bytes, memory.resident_bytes);
}

TEST(ProcessMemory, AdviceAboutPagesLeavesTheBytesAlone) {
  std::vector<char> bytes(5 << 20, 'x');
  advise_huge_pages(bytes.data() + 1, bytes.size() - 1);
  advise_huge_pages(bytes.data(), 1);  // less than a page: nothing to advise
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 'x'), 5 << 20);
}

}  // namespace
}  // namespace pointmap
