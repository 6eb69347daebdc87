#include "io/cameras/transforms_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(TransformsJson, ReadsFramesAndNothingElse) {
  const auto frames = parse_transforms_json(R"({"fl_x": 3, "frames": [
      {"file_path": "./images/a.jpg", "sharpness": 3, "transform_matrix": [[1, 0, 0, 4], [0, 1, 0, 5.5], [0, 0, 1, -6e1], [0, 0, 0, 1]]},
      {"file_path": "b", "transform_matrix": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]}], "other": {"frames": 3}})",
                                            "file");
  ASSERT_THAT(frames, SizeIs(2));
  EXPECT_EQ(frames[0].file_path, "./images/a.jpg");
  EXPECT_THAT(frames[0].matrix, ElementsAre(1, 0, 0, 4, 0, 1, 0, 5.5, 0, 0, 1, -60, 0, 0, 0, 1));
  EXPECT_THAT(frames[1].matrix, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 1));
  EXPECT_THAT(parse_transforms_json(R"({"frames": []})", "file"), SizeIs(0));
}

TEST(TransformsJson, NamesWhatIsWrong) {
  const struct {
    std::string text;
    const char* message;
  } rows[] = {
      {"", "'file' is no JSON"},
      {"{\"frames\": [", "'file' is no JSON"},
      {"[]", "'file': there is no list 'frames'"},
      {R"({"frames": 3})", "no list 'frames'"},
      {R"({"frames": [3]})", "frame 1 has no string 'file_path'"},
      {R"({"frames": [{"file_path": 3}]})", "frame 1 has no string 'file_path'"},
      {R"({"frames": [{"file_path": "a.jpg"}]})", "frame 1 ('a.jpg') has no 'transform_matrix'"},
      {R"({"frames": [{"file_path": "a.jpg", "transform_matrix": [[1, 2]]}]})", "'transform_matrix' is no list of three or four rows"},
      {R"({"frames": [{"file_path": "a.jpg", "transform_matrix": [[1, 2], [3, 4], [5, 6]]}]})", "no list of four numbers"},
      {R"({"frames": [{"file_path": "a.jpg", "transform_matrix": [[1, 2, 3, "x"], [1, 2, 3, 4], [1, 2, 3, 4]]}]})",
       "no list of four numbers"},
      {R"({"frames": [{"file_path": "a.jpg", "transform_matrix": [[1, 2, 3, 1e999], [1, 2, 3, 4], [1, 2, 3, 4]]}]})", "is no JSON"},
      {"{\"a\": " + std::string(40, '[') + std::string(40, ']') + "}", "nested deeper"},
  };
  for (const auto& row : rows) {
    try {
      parse_transforms_json(row.text, "file");
      FAIL() << row.text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.message));
    }
  }
}

}  // namespace
}  // namespace pointmap
