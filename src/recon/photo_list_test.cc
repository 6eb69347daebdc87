#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.h"
#include "pointmap/photos.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(NaturalLess, CountsAsAPersonDoes) {
  // In order; every pair of them is compared, both ways.
  const std::vector<std::string> ordered = {"",
                                            "01",
                                            "1",
                                            "2",
                                            "10",
                                            "99999999999999999999",
                                            "100000000000000000000",  // beyond 64 bits
                                            "a",
                                            "a1b2",
                                            "a1b10",
                                            "a2b1",
                                            "frame",
                                            "frame_0",
                                            "frame_00",
                                            "frame_002.png",
                                            "frame_2.png",
                                            "frame_10.png",
                                            "frame_10a.png",
                                            "frame_x",
                                            "x-1",
                                            "\xC3\xA4"};
  for (size_t i = 0; i < ordered.size(); ++i) {
    for (size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << "'" << ordered[i] << "' '" << ordered[j] << "'";
    }
  }
}

TEST(NaturalLess, IsAnOrder) {
  std::mt19937 random(1);
  std::vector<std::string> names(60);
  for (std::string& name : names) {
    for (size_t i = random() % 5; i > 0; --i) name += "012ab"[random() % 5];
  }
  for (const std::string& a : names) {
    EXPECT_FALSE(natural_less(a, a));
    for (const std::string& b : names) {
      EXPECT_EQ(natural_less(a, b) || natural_less(b, a), a != b) << a << " " << b;
      for (const std::string& c : names) EXPECT_FALSE(natural_less(a, b) && natural_less(b, c) && !natural_less(a, c));
    }
  }
}

class FindPhotos : public testing::Test {
 protected:
  FindPhotos() {
    fs::create_directories(folder_ / "inner.png");
    fs::create_directories(folder_ / "empty");
    for (const char* name : {"frame_10.png", "frame_2.png", "frame_1.JPG", "notes.txt", ".hidden.png", "odd[1].webp", "last.heic"}) {
      std::ofstream(folder_ / name) << "x";
    }
  }
  ~FindPhotos() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("pointmap_photos_" + std::to_string(::getpid()));
};

TEST_F(FindPhotos, TakesTheFoldersPhotosInNaturalOrder) {
  EXPECT_THAT(find_photos({folder_.string()}),
              ElementsAre(path("frame_1.JPG"), path("frame_2.png"), path("frame_10.png"), path("last.heic"), path("odd[1].webp")));
}

TEST_F(FindPhotos, ExpandsPatternsAndLeavesFilesAsTheyAre) {
  EXPECT_THAT(find_photos({path("z.png"), path("frame_*.png"), path("a.png")}),
              ElementsAre(path("z.png"), path("frame_2.png"), path("frame_10.png"), path("a.png")));
  EXPECT_THAT(find_photos({path("frame_?.*")}), ElementsAre(path("frame_1.JPG"), path("frame_2.png")));
  EXPECT_THAT(find_photos({path("odd[1].webp")}), ElementsAre(path("odd[1].webp"))) << "a file of that very name";
}

TEST_F(FindPhotos, NamesWhatHasNoPhotos) {
  for (const std::string& entry : {path("empty"), path("none*.png")}) {
    try {
      find_photos({path("frame_2.png"), entry});
      ADD_FAILURE() << "accepted " << entry;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kNotFound);
      EXPECT_THAT(error.what(), HasSubstr(entry));
    }
  }
}

TEST(ChoosePhotos, SpreadsOverTheList) {
  const std::vector<std::string> list = {"d/0", "d/1", "d/2", "d/3", "d/4", "d/5", "d/6", "e/6"};
  EXPECT_EQ(choose_photos(list, {}), list);
  EXPECT_EQ(choose_photos(list, {.max_views = 100}), list);
  EXPECT_THAT(choose_photos(list, {.max_views = 1}), ElementsAre("d/0"));
  EXPECT_THAT(choose_photos(list, {.max_views = 2}), ElementsAre("d/0", "e/6"));
  EXPECT_THAT(choose_photos(list, {.max_views = 3}), ElementsAre("d/0", "d/4", "e/6"));
  EXPECT_THAT(choose_photos({}, {.max_views = 3}), ElementsAre());
}

TEST(ChoosePhotos, PutsOneFirst) {
  const std::vector<std::string> list = {"d/0", "d/1", "d/2", "d/3", "e/3"};
  EXPECT_THAT(choose_photos(list, {.first = "d/3"}), ElementsAre("d/3", "d/0", "d/1", "d/2", "e/3"));
  EXPECT_THAT(choose_photos(list, {.first = "2"}), ElementsAre("d/2", "d/0", "d/1", "d/3", "e/3")) << "a name goes before a number";
  EXPECT_THAT(choose_photos(list, {.first = "5"}), ElementsAre("e/3", "d/0", "d/1", "d/2", "d/3"));
  EXPECT_THAT(choose_photos(list, {.first = "d/1", .max_views = 3}), ElementsAre("d/1", "d/0", "e/3"));
  EXPECT_THAT(choose_photos(list, {.first = "d/1", .max_views = 1}), ElementsAre("d/1"));
  for (const char* first : {"3", "0x", "6", "-1", "d/9"}) {
    try {
      choose_photos(list, {.first = first});
      ADD_FAILURE() << "accepted " << first;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr(first));
    }
  }
}

}  // namespace
}  // namespace pointmap
