// Archives of plain files, through our own reader of directories; tests/server opens one with Python's.
#include "io/npz/zip_writer.h"

#include <gtest/gtest.h>

#include "io/npz/zip_directory.h"
#include "pointmap/error.h"

namespace pointmap {
namespace {

std::string text_of(const ZipMember& member) {
  const std::vector<std::byte> bytes = unpack_zip_member(member, "archive");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ZipWriter, KeepsFoldersOrderAndBytes) {
  for (const int level : {0, 1}) {
    std::string archive;
    ZipWriter zip(archive, "archive", {.deflate_level = level});
    zip.add("b/second.txt", std::string(5000, 'x'));
    zip.add("a.bin", "head", "rest");
    zip.add("empty", "");
    zip.finish();
    const std::vector<ZipMember> members = read_zip_directory(std::as_bytes(std::span(archive)), "archive");
    ASSERT_EQ(members.size(), 3u);
    EXPECT_EQ(members[0].name, "b/second.txt");
    EXPECT_EQ(members[0].deflated, level > 0);
    EXPECT_EQ(text_of(members[0]), std::string(5000, 'x'));
    EXPECT_EQ(members[1].name, "a.bin");
    EXPECT_EQ(text_of(members[1]), "headrest");
    EXPECT_EQ(text_of(members[2]), "");
  }
}

TEST(ZipWriter, RefusesNamesThatWillNotDo) {
  std::string archive;
  ZipWriter zip(archive, "archive");
  zip.add("a", "1");
  EXPECT_THROW(zip.add("a", "2"), Error);
  EXPECT_THROW(zip.add("", "2"), Error);
  EXPECT_THROW(zip.add(std::string(kMaxZipNameBytes + 1, 'a'), "2"), Error);
  zip.add(std::string(kMaxZipNameBytes, 'a'), "2");
  zip.finish();
  EXPECT_THROW(zip.add("late", "3"), Error);
}

}  // namespace
}  // namespace pointmap
