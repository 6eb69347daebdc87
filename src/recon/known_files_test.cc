// What people write about their photos, in files and on command lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "geometry/rigid_transform.h"
#include "pointmap/known_inputs.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

class KnownFiles : public testing::Test {
 protected:
  KnownFiles() : folder_(fs::temp_directory_path() / ("pointmap_known_" + std::to_string(::getpid()))) { fs::create_directories(folder_); }
  ~KnownFiles() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string fault_of(const std::string& text, const std::vector<std::string>& photos) const {
    try {
      read_poses(write("poses", text), photos, photos);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

// At (1, 2, 3), a quarter turn to the right: the camera's z is the world's x, its x the world's -z.
void expect_quarter_turn(const RigidTransform& pose) {
  EXPECT_EQ(pose.translation, (Point3{1, 2, 3}));
  const Point3 ahead = transform_point(pose, {0, 0, 1}), right = transform_point(pose, {1, 0, 0}), down = transform_point(pose, {0, 1, 0});
  const double eps = 1e-7;  // seven decimals
  EXPECT_NEAR(ahead[0], 2, eps);
  EXPECT_NEAR(right[2], 2, eps);
  EXPECT_NEAR(down[1], 3, eps);
}

TEST_F(KnownFiles, TrajectoriesHaveALineForEachListedPhoto) {
  const fs::path file =
      write("poses.txt", "# timestamp tx ty tz qx qy qz qw\n1 1 2 3 0 0.7071068 0 0.7071068\n2 0 0 0 0 0 0 1\n3 7 8 9 0 0 0 1\n");
  const std::vector<std::string> listed = {"a.jpg", "b.jpg", "c.jpg"};
  const KnownPoses all = read_poses(file, listed, listed);
  ASSERT_THAT(all.world_from_cam, SizeIs(3));
  expect_quarter_turn(all.world_from_cam[0]);
  EXPECT_FALSE(all.of_stored_pixels);
  EXPECT_EQ(all.source, file.string());
  const KnownPoses chosen = read_poses(file, {"c.jpg", "a.jpg"}, listed);
  ASSERT_THAT(chosen.world_from_cam, SizeIs(2));
  EXPECT_EQ(chosen.world_from_cam[0].translation, (Point3{7, 8, 9}));
  expect_quarter_turn(chosen.world_from_cam[1]);
}

TEST_F(KnownFiles, TransformsAreFoundByNameAndHaveOpenGlsAxes) {
  // The columns are right, up and back: up is the world's -y for a camera that stands upright in a world with y down; back is -x.
  const std::string quarter = "[[0, 0, -1, 1], [0, -1, 0, 2], [-1, 0, 0, 3], [0, 0, 0, 1]]";
  const std::string other = "[[1, 0, 0, 7], [0, -1, 0, 8], [0, 0, -1, 9], [0, 0, 0, 1]]";
  const fs::path file = write("transforms.json", R"({"frames": [{"file_path": "./images/b.jpg", "transform_matrix": )" + other +
                                                     R"(}, {"file_path": "images/a.jpg", "transform_matrix": )" + quarter +
                                                     R"(}, {"file_path": "old/a.jpg", "transform_matrix": )" + other +
                                                     R"(}, {"file_path": "train/r_0", "transform_matrix": )" + quarter + "}]}");
  const std::vector<std::string> photos = {"/home/images/a.jpg", "b.jpg", "r_0.png"};
  const KnownPoses poses = read_poses(file, photos, photos);
  ASSERT_THAT(poses.world_from_cam, SizeIs(3));
  expect_quarter_turn(poses.world_from_cam[0]);
  EXPECT_EQ(poses.world_from_cam[1].translation, (Point3{7, 8, 9}));
  EXPECT_EQ(poses.world_from_cam[1].rotation, RigidTransform{}.rotation);
  expect_quarter_turn(poses.world_from_cam[2]);
  EXPECT_TRUE(poses.of_stored_pixels);
}

TEST_F(KnownFiles, WrongPosesNameTheFrameAndTheDirection) {
  const auto frames = [](const std::string& matrix) {
    return R"({"frames": [{"file_path": "a.jpg", "transform_matrix": )" + matrix + "}]}";
  };
  const struct {
    std::string text;
    const char* fault;
  } rows[] = {
      {"1 0 0 0 0 0 0 0\n", "line 1, photo 'a.jpg': its quaternion is 0 long"},
      {"1 0 0 0 0 0 0 0\n", "wanted is camera-to-world: tx ty tz is the camera's place"},
      {"1 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n", "has 2 poses, want one for each of the 1 photos"},
      {"1 0 0 0 0 0 0\n", "line 1: only 7 of 8 numbers"},
      {"", "has 0 poses"},
      {frames("[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1]]"), "frame 'a.jpg': its rotation is left-handed"},
      {frames("[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1]]"),
       "wanted is camera-to-world: the camera's place in the last column"},
      {frames("[[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]"), "columns are 2 long"},
      {frames("[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [4, 5, 6, 1]]"), "transposed"},
      {R"({"frames": []})", "no frame for photo 'a.jpg'"},
      {R"({"frames": [{"file_path": "x/a.jpg", "transform_matrix": [[1,0,0,0],[0,1,0,0],[0,0,1,0]]},
                      {"file_path": "y/a.jpg", "transform_matrix": [[1,0,0,0],[0,1,0,0],[0,0,1,0]]}]})",
       "two frames that could be photo 'a.jpg': 'x/a.jpg' and 'y/a.jpg'"},
      {"{", "is no JSON"},
  };
  for (const auto& row : rows) EXPECT_THAT(fault_of(row.text, {"a.jpg"}), HasSubstr(row.fault)) << row.text;
}

TEST_F(KnownFiles, MasksHaveTheNamesOfTheirPhotos) {
  for (const char* name : {"masks/a.png", "masks/b.JPG.PNG", "masks/c.txt", "masks/.hidden.png", "masks/d.png", "masks/d.webp"})
    write(name, "");
  const fs::path masks = folder_ / "masks";
  const std::vector<Photo> found = find_masks(masks, {"photos/a.jpg", "b.JPG"});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].name, (masks / "a.png").string());
  EXPECT_EQ(found[1].name, (masks / "b.JPG.PNG").string());
  const auto fault = [&](const fs::path& folder, const char* photo) {
    try {
      find_masks(folder, {photo});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(fault(masks, "x/c.jpg"), HasSubstr("want '" + (masks / "c.png").string() + "'"));
  EXPECT_THAT(fault(masks, "d.jpg"), HasSubstr("two masks"));
  EXPECT_THAT(fault(folder_ / "absent", "a.jpg"), HasSubstr("absent"));
}

TEST(KnownText, DistancesNamePixelsOfPhotos) {
  const KnownDistance distance = parse_distance("10:20.5,2:300:-0.25,1.75");
  EXPECT_EQ(distance.from.photo, 0U);
  EXPECT_EQ(distance.from.pixel.u, 10);
  EXPECT_EQ(distance.from.pixel.v, 20.5);
  EXPECT_EQ(distance.to.photo, 1U);
  EXPECT_EQ(distance.to.pixel.u, 300);
  EXPECT_EQ(distance.to.pixel.v, -0.25);
  EXPECT_EQ(distance.metres, 1.75);
  for (const char* text : {"", "1:2,3:4", "1:2,3:4,", "1:2,3:4,0", "1:2,3:4,-1", "1:2,3:4,nan", "1:2,3:4,1m", "1,3:4,1", "0:1:2,3:4,1",
                           "1:2:3:4,3:4,1", "a:2,3:4,1", "1:2,3:inf,1", "1:2,3:4,1,5"}) {
    EXPECT_THROW((void)parse_distance(text), Error) << text;
  }
}

TEST(KnownText, IntrinsicsAreFourNumbers) {
  const Intrinsics k = parse_intrinsics("1000,1001.5,640,360");
  EXPECT_EQ(k.fx, 1000);
  EXPECT_EQ(k.fy, 1001.5);
  EXPECT_EQ(k.cx, 640);
  EXPECT_EQ(k.cy, 360);
  for (const char* text : {"", "1,2,3", "1,2,3,4,5", "1,2,3,x", "1,2,3,nan"}) EXPECT_THROW((void)parse_intrinsics(text), Error) << text;
}

}  // namespace
}  // namespace pointmap
