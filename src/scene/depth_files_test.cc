// Depth and confidence files through OpenCV, which shares no code with our writers but the codecs' own libraries, and through numbers
// worked out by hand. A program of its own: OpenCV's picture library brings a hundred others along.
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfDoubleAttribute.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfMatrixAttribute.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "base/error.h"
#include "scene/export_depth.h"
#include "scene/scene_testing.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kWidth = 40, kHeight = 24;  // a cropped, scaled photo of 160 x 120

// Depth 1 + row + column / 64, in floats exactly; some pixels without. A camera turned a quarter to the right at (1, 2, 3).
Scene scene_with_depth() {
  SceneView view = counting_view(kWidth, kHeight, 2);
  view.source = "gr\xC3\xBC\xC3\x9F.jpg";
  view.transform = {.exif_orientation = 6,
                    .stored_width = 120,
                    .stored_height = 160,
                    .scale_x = 4,
                    .scale_y = 4,
                    .offset_x = 0,
                    .offset_y = 12,
                    .network_width = kWidth,
                    .network_height = kHeight};
  view.camera = {.world_from_cam = {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {1, 2, 3}},
                 .network = {.fx = 50, .fy = 51, .cx = 19.5, .cy = 11.5},
                 .original = {.fx = 200, .fy = 204, .cx = 79.5, .cy = 59.5}};
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) view.depth.push_back(1 + static_cast<float>(v) + static_cast<float>(u) / 64);
  }
  view.depth[5] = std::nanf("");
  view.depth[3 * kWidth + 7] = -1;
  Scene scene;
  scene.model = "tiny";
  scene.views = {counting_view(4, 2, 1), view};
  scene.views[0].status = "skipped";
  return scene;
}

float expected_depth(int u, int v) {
  if ((v == 0 && u == 5) || (v == 3 && u == 7)) return 0;
  return 1 + static_cast<float>(v) + static_cast<float>(u) / 64;
}

class DepthFiles : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  cv::Mat picture(const std::string& name) const { return cv::imread((folder_ / name).string(), cv::IMREAD_UNCHANGED); }
  std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  nlohmann::json sidecar() const { return nlohmann::json::parse(content("depth.json")); }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("pointmap_depth_files_" + std::to_string(::getpid()));
};

void expect_exact(const cv::Mat& got) {
  ASSERT_EQ(got.type(), CV_32FC1);
  ASSERT_EQ(got.cols, kWidth);
  ASSERT_EQ(got.rows, kHeight);
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) ASSERT_EQ(got.at<float>(v, u), expected_depth(u, v)) << u << ", " << v;
  }
}

TEST_F(DepthFiles, OpenCvReadsThePng) {
  const auto files = export_depth(scene_with_depth(), folder_);
  const cv::Mat png = picture("depth_2.png");
  ASSERT_EQ(png.type(), CV_16UC1);
  ASSERT_EQ(png.cols, kWidth);
  ASSERT_EQ(png.rows, kHeight);
  const double scale = sidecar()["files"][0]["scale"];
  EXPECT_EQ(scale, expected_depth(kWidth - 1, kHeight - 1) / 65535.0);
  EXPECT_EQ(files[0].depth_scale, scale);
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      const int steps = png.at<uint16_t>(v, u);
      if (expected_depth(u, v) == 0) {
        ASSERT_EQ(steps, 0);
      } else {
        ASSERT_LE(std::abs(steps * scale - expected_depth(u, v)), 0.5000001 * scale) << "rounded to the nearest step";
      }
    }
  }
}

TEST_F(DepthFiles, OpenCvReadsThePfm) {
  export_depth(scene_with_depth(), folder_, {.formats = {DepthFormat::kPfm}});
  expect_exact(picture("depth_2.pfm"));
}

// By OpenEXR: OpenCV 4.6 knows Y, R, G and B only, and gives zeros for Z. A reader written by hand is beside the encoder.
TEST_F(DepthFiles, TheExrHoldsTheFloatsAndTheCamera) {
  export_depth(scene_with_depth(), folder_, {.formats = {DepthFormat::kExr}});
  Imf::InputFile file((folder_ / "depth_2.exr").c_str(), 0);
  cv::Mat values(file.header().dataWindow().max.y + 1, file.header().dataWindow().max.x + 1, CV_32FC1);
  Imf::FrameBuffer pixels;
  pixels.insert("Z", Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(values.data), sizeof(float), values.step[0]));
  file.setFrameBuffer(pixels);
  file.readPixels(0, values.rows - 1);
  expect_exact(values);
  const auto text = [&](const char* name) { return file.header().typedAttribute<Imf::StringAttribute>(name).value(); };
  EXPECT_EQ(text("frame"), "own camera");
  EXPECT_EQ(text("scale"), "scale unknown");
  EXPECT_EQ(text("source"), "gr\xC3\xBC\xC3\x9F.jpg");
  EXPECT_EQ(file.header().typedAttribute<Imf::DoubleAttribute>("view").value(), 2);
  // Centre and axis of the camera: the last column, and the third, which its z becomes.
  const Imath::M44d& pose = file.header().typedAttribute<Imf::M44dAttribute>("world_from_cam").value();
  EXPECT_THAT((std::array{pose[0][3], pose[1][3], pose[2][3]}), ElementsAre(1, 2, 3));
  EXPECT_THAT((std::array{pose[0][2], pose[1][2], pose[2][2]}), ElementsAre(1, 0, 0));
  EXPECT_EQ(file.header().typedAttribute<Imf::M33dAttribute>("intrinsics").value()[1][1], 51);
  EXPECT_EQ(file.header().typedAttribute<Imf::M33dAttribute>("original_intrinsics").value()[0][2], 79.5);
}

// Magic, version 1, a dictionary, then the elements: as NumPy's documents have it.
TEST_F(DepthFiles, TheNpyHoldsTheFloats) {
  export_depth(scene_with_depth(), folder_, {.formats = {DepthFormat::kNpy}});
  const std::string npy = content("depth_2.npy");
  ASSERT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\1\0", 8));
  const size_t header_bytes = static_cast<unsigned char>(npy[8]) + 256u * static_cast<unsigned char>(npy[9]);
  EXPECT_THAT(npy.substr(10, header_bytes), HasSubstr("'descr': '<f4', 'fortran_order': False, 'shape': (24, 40)"));
  cv::Mat values(kHeight, kWidth, CV_32FC1);
  ASSERT_EQ(npy.size(), 10 + header_bytes + values.total() * sizeof(float));
  std::memcpy(values.data, npy.data() + 10 + header_bytes, values.total() * sizeof(float));
  expect_exact(values);
}

TEST_F(DepthFiles, TheConfidencePictureIsLinear) {
  Scene scene = scene_with_depth();
  scene.views[1].depth_confidence.assign(kWidth * kHeight, 3);
  scene.views[1].depth_confidence[1] = 12;
  scene.views[1].depth_confidence[2] = std::nanf("");
  export_depth(scene, folder_);
  const cv::Mat png = picture("conf_2.png");
  ASSERT_EQ(png.type(), CV_16UC1);
  const auto entry = sidecar()["files"][1];
  EXPECT_EQ(entry["file"], "conf_2.png");
  EXPECT_EQ(entry["holds"], "confidence");
  EXPECT_EQ(entry["scale"], 12.0 / 65535);
  EXPECT_EQ(entry["valid_pixels"], kWidth * kHeight - 1);
  EXPECT_EQ(png.at<uint16_t>(0, 0), 16384);  // 3 of 12, rounded from 16383.75
  EXPECT_EQ(png.at<uint16_t>(0, 1), 65535);
  EXPECT_EQ(png.at<uint16_t>(0, 2), 0);
}

TEST_F(DepthFiles, ComeOnePerFormatAndOkView) {
  const auto files = export_depth(scene_with_depth(), folder_, {.formats = parse_depth_formats("all")});
  std::vector<std::string> names;
  for (const DepthFile& file : files) names.push_back(file.path.filename());
  EXPECT_THAT(names, ElementsAre("depth_2.png", "depth_2.pfm", "depth_2.exr", "depth_2.npy", "conf_2.png", "depth.json"));
  EXPECT_EQ(files[1].depth_scale, 1);
  EXPECT_EQ(files[1].num_valid, static_cast<size_t>(kWidth * kHeight - 2));
  EXPECT_EQ(files[4].depth_scale, 0);
  EXPECT_EQ(files[5].num_total, 0u);
  const auto listed = sidecar()["files"];
  ASSERT_EQ(listed.size(), 5u) << "all but itself";
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(listed[i]["file"], names[i]);
  EXPECT_EQ(listed[2]["format"], "exr");
  EXPECT_EQ(listed[2]["scale"], 1);
  EXPECT_EQ(listed[2]["frame"], "own camera");
  EXPECT_THROW(export_depth(scene_with_depth(), folder_, {.formats = {}}), Error);
}

// A depth map alone, put through what depth.json says, gives points in the world and pixels of the photo.
TEST_F(DepthFiles, TheSidecarLeadsToTheWorldAndToThePhoto) {
  export_depth(scene_with_depth(), folder_);
  const auto json = sidecar();
  ASSERT_EQ(json["views"].size(), 1u);
  const auto view = json["views"][0];
  EXPECT_EQ(view["view"], 2);
  EXPECT_EQ(view["width"], kWidth);
  EXPECT_EQ(view["original_width"], 160) << "upright: stored on its side";
  EXPECT_EQ(view["original_height"], 120);
  EXPECT_EQ(view["transform"]["exif_orientation"], 6);
  const auto network = view["camera"]["network"], original = view["camera"]["original"], transform = view["transform"];
  // Pixel (10, 20) at depth 2, by both cameras: oriented + 0.5 = scale * (network + 0.5) + offset.
  const double u = 10, v = 20, z = 2;
  const double x = (u - network["cx"].get<double>()) / network["fx"].get<double>() * z;
  const double y = (v - network["cy"].get<double>()) / network["fy"].get<double>() * z;
  EXPECT_NEAR(original["fx"].get<double>() * x / z + original["cx"].get<double>(),
              transform["scale_x"].get<double>() * (u + 0.5) + transform["offset_x"].get<double>() - 0.5, 1e-12);
  EXPECT_NEAR(original["fy"].get<double>() * y / z + original["cy"].get<double>(),
              transform["scale_y"].get<double>() * (v + 0.5) + transform["offset_y"].get<double>() - 0.5, 1e-12);
  const auto pose = view["camera"]["world_from_cam"];
  EXPECT_EQ(pose[0], (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(pose[2], (std::vector<double>{-1, 0, 0, 3}));
  EXPECT_THAT(json["transform_convention"].get<std::string>(), HasSubstr("oriented + 0.5"));
  EXPECT_THAT(json["camera_convention"].get<std::string>(), HasSubstr("world_from_cam"));
}

TEST_F(DepthFiles, WithoutACameraTheFrameIsTheWorlds) {
  export_depth(counting_scene(), folder_);
  const auto json = sidecar();
  EXPECT_EQ(json["files"][0]["frame"], "world");
  EXPECT_EQ(json["files"][0]["scale"], 8.0 / 65535);
  EXPECT_EQ(json["views"][0]["camera"], nullptr);
  EXPECT_THAT(json["convention"].get<std::string>(), HasSubstr("camera frame of view 1"));
}

}  // namespace
}  // namespace pointmap
