#include "scene/photo_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scene/scene_testing.h"

namespace pointmap {
namespace {

using testing::ElementsAre;

PhotoNames names_of(const std::vector<std::string>& sources) {
  Scene scene;
  for (const std::string& source : sources) {
    scene.views.push_back(counting_view(1, 1, 1));
    scene.views.back().source = source;
  }
  return photo_names(scene);
}

TEST(PhotoNames, AreBareInOneFolder) {
  EXPECT_THAT(names_of({"a.jpg", "b.jpg"}).names, ElementsAre("a.jpg", "b.jpg"));
  EXPECT_EQ(names_of({"a.jpg", "b.jpg"}).folder, ".");
  EXPECT_THAT(names_of({"x/y/a.jpg", "./x//y/b.jpg"}).names, ElementsAre("a.jpg", "b.jpg"));
  EXPECT_EQ(names_of({"x/y/a.jpg", "./x//y/b.jpg"}).folder, "x/y");
  EXPECT_THAT(names_of({"../a.jpg", "../b.jpg"}).names, ElementsAre("a.jpg", "b.jpg"));
  EXPECT_THAT(names_of({"/p/a.jpg", "/p/b.jpg"}).names, ElementsAre("a.jpg", "b.jpg"));
  EXPECT_EQ(names_of({"/p/a.jpg", "/p/b.jpg"}).folder, "/p");
}

TEST(PhotoNames, TellFilesInSeveralFoldersApart) {
  EXPECT_THAT(names_of({"x/a.jpg", "a.jpg"}).names, ElementsAre("x/a.jpg", "a.jpg"));
  EXPECT_THAT(names_of({"p/x/a.jpg", "p/y/a.jpg", "p/x/../x/b.jpg"}).names, ElementsAre("x/a.jpg", "y/a.jpg", "x/b.jpg"));
  EXPECT_EQ(names_of({"px/a.jpg", "py/a.jpg"}).folder, ".") << "whole parts of the path, not letters";
  EXPECT_THAT(names_of({"/x/a.jpg", "/y/a.jpg"}).names, ElementsAre("x/a.jpg", "y/a.jpg"));
}

TEST(PhotoNames, NeverLeadOutOfTheFolder) {
  const std::filesystem::path here = std::filesystem::current_path();
  const std::string beside = "../pointmap_photo_names/a.jpg";
  const PhotoNames names = names_of({"a.jpg", beside, (here / "b.jpg").string()});
  EXPECT_EQ(names.folder, here.parent_path());
  const std::string mine = here.filename();
  EXPECT_THAT(names.names, ElementsAre(mine + "/a.jpg", "pointmap_photo_names/a.jpg", mine + "/b.jpg"));
}

TEST(PhotoNames, AreThereForEveryViewThatIsOk) {
  EXPECT_THAT(names_of({"", "x/a.jpg", "x/"}).names, ElementsAre("view_1", "a.jpg", "view_3"));
  Scene scene;
  scene.views = {counting_view(1, 1, 1), counting_view(1, 1, 1)};
  scene.views[0].source = "elsewhere/broken.jpg";
  scene.views[0].status = "skipped";
  EXPECT_THAT(photo_names(scene).names, ElementsAre("", "photo.jpg"));
}

TEST(PhotoNames, AreBytesAsTheyAre) {
  EXPECT_THAT(names_of({"p/\xFF \n.jpg"}).names, ElementsAre("\xFF \n.jpg"));
}

TEST(PhotoNames, PathFromFolderLeadsThere) {
  EXPECT_EQ(path_from_folder("photos/a.jpg", "out"), "../photos/a.jpg");
  EXPECT_EQ(path_from_folder("out/a.jpg", "out"), "a.jpg");
  EXPECT_EQ(path_from_folder("a.jpg", "."), "a.jpg");
  EXPECT_EQ(path_from_folder("/no-such-place/a.jpg", "/no-such-place/x/y"), "../../a.jpg");
}

}  // namespace
}  // namespace pointmap
