#include "io/cameras/number_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(NumberLines, ReadsLinesHoweverTheyAreWritten) {
  const auto lines = parse_number_lines("# a comment\n1 2.5\n\n-3e2,\t+4 # more\r\n   \n5 , 6", "file", "a b");
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0].values, ElementsAre(1, 2.5));
  EXPECT_THAT(lines[1].values, ElementsAre(-300, 4));
  EXPECT_THAT(lines[2].values, ElementsAre(5, 6));
  EXPECT_EQ(lines[0].line, 2u);
  EXPECT_EQ(lines[1].line, 4u);
  EXPECT_EQ(lines[2].line, 6u);
  EXPECT_THAT(parse_number_lines("", "file", "a b"), SizeIs(0));
}

TEST(NumberLines, NamesWhatIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"1 2\n1 two\n", "'file', line 2: 'two' is no finite number; wanted 'a b'"},
      {"1 2 3", "line 1: more than 2 numbers"},
      {"\n1", "line 2: only 1 of 2 numbers"},
      {"1 nan", "'nan' is no finite number"},
      {"1 1e999", "'1e999' is no finite number"},
      {"1 +", "'+' is no finite number"},
      {"1 0x10", "'0x10' is no finite number"},
      {"1 2;", "'2;' is no finite number"},
  };
  for (const auto& row : rows) {
    try {
      parse_number_lines(row.text, "file", "a b");
      FAIL() << row.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kCorruptData);
      EXPECT_THAT(error.what(), HasSubstr(row.message));
    }
  }
}

}  // namespace
}  // namespace pointmap
