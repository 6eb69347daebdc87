// What VGGT's presets do beyond the golden hashes, which preprocess_test compares: sizes, notes, EXIF, and pictures of several sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "recon/preprocess.h"
#include "recon/preprocess_testing.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr NetworkSize kVggt{.long_side = 518, .patch = 14, .fit = PatchFit::kScale};

// The whole photo, whatever its shape: the corners of the network's picture are the corners of the photo.
TEST(PreprocessVggt, KeepShowsTheWholePhoto) {
  const struct {
    int width, height, network_width, network_height;
  } rows[] = {{779, 520, 518, 350}, {520, 779, 350, 518}, {1000, 1000, 518, 518}, {4032, 3024, 518, 392},
              {60, 40, 518, 350},   {1000, 27, 518, 14},  {14, 14, 518, 518}};
  for (const auto& row : rows) {
    SCOPED_TRACE(std::to_string(row.width) + "x" + std::to_string(row.height));
    const PreparedView view = prepare_view(photo_of(plain(row.width, row.height, 9)), Preset::kKeep, "plain", kVggt);
    EXPECT_EQ(view.image.width, row.network_width);
    EXPECT_EQ(view.image.height, row.network_height);
    const Pixel top_left = view.transform.oriented_from_network({-0.5, -0.5});
    const Pixel bottom_right = view.transform.oriented_from_network({row.network_width - 0.5, row.network_height - 0.5});
    EXPECT_NEAR(top_left.u, -0.5, 1e-9);
    EXPECT_NEAR(top_left.v, -0.5, 1e-9);
    EXPECT_NEAR(bottom_right.u, row.width - 0.5, 1e-9);
    EXPECT_NEAR(bottom_right.v, row.height - 0.5, 1e-9);
    EXPECT_THAT(view.notes, IsEmpty());
  }
}

TEST(PreprocessVggt, KeepIsUpstreamsPadWithoutThePadding) {
  for (const auto& [width, height] : {std::pair{779, 520}, std::pair{300, 413}}) {
    const DecodedImage photo = photo_of(procedural(width, height));
    const PreparedView whole = prepare_view(photo, Preset::kKeep, "a", kVggt);
    PreparedView padded = whole;
    PreparedView square = prepare_view(photo_of(plain(9, 9, 0)), Preset::kKeep, "b", kVggt);  // 518 x 518
    pad_to_one_size({&padded, &square});
    const PreparedView upstream = prepare_view(photo, Preset::kVggtPad, "a", kVggt);
    EXPECT_EQ(padded.image.rgb, upstream.image.rgb);
    EXPECT_EQ(padded.transform.offset_x, upstream.transform.offset_x);
    EXPECT_EQ(padded.transform.offset_y, upstream.transform.offset_y);
    EXPECT_EQ(padded.transform.network_width, 518);
    EXPECT_EQ(padded.transform.network_height, 518);
    EXPECT_THAT(padded.notes, ElementsAre(HasSubstr("to 518x518")));
    EXPECT_THAT(square.notes, IsEmpty());
  }
}

TEST(PreprocessVggt, CropFixesTheWidthAndLosesTopAndBottomOfPortraits) {
  const PreparedView portrait = prepare_view(photo_of(plain(480, 640, 9)), Preset::kVggtCrop, "tall", kVggt);
  EXPECT_EQ(portrait.image.height, 518);
  EXPECT_DOUBLE_EQ(portrait.transform.scale_y, 640.0 / 686);        // 640 * 518 / 480 = 690.7 = 49.3 patches
  EXPECT_DOUBLE_EQ(portrait.transform.offset_y, 640.0 / 686 * 84);  // (686 - 518) / 2
  EXPECT_THAT(portrait.notes, ElementsAre(HasSubstr("518x686")));
  const PreparedView landscape = prepare_view(photo_of(plain(640, 480, 9)), Preset::kVggtCrop, "wide", kVggt);
  EXPECT_EQ(landscape.image.height, 392);
  EXPECT_THAT(landscape.notes, IsEmpty());
}

TEST(PreprocessVggt, DifferentHeightsAreCentredOnWhite) {
  PreparedView low = prepare_view(photo_of(plain(640, 360, 77)), Preset::kVggtCrop, "low", kVggt);    // 518 x 294
  PreparedView high = prepare_view(photo_of(plain(640, 480, 50)), Preset::kVggtCrop, "high", kVggt);  // 518 x 392
  pad_to_one_size({&low, &high});
  EXPECT_EQ(low.image.height, 392);
  EXPECT_EQ(low.transform.network_height, 392);
  EXPECT_EQ(low.image.pixel(100, 48)[0], 255);  // (392 - 294) / 2 = 49 rows
  EXPECT_EQ(low.image.pixel(100, 49)[0], 77);
  EXPECT_EQ(low.image.pixel(100, 49 + 293)[0], 77);
  EXPECT_EQ(low.image.pixel(100, 49 + 294)[0], 255);
  EXPECT_FALSE(low.transform.shows_photo({100, 48}));
  EXPECT_TRUE(low.transform.shows_photo({100, 49}));
  EXPECT_TRUE(low.transform.shows_photo({100, 49 + 293}));
  EXPECT_FALSE(low.transform.shows_photo({100, 49 + 294}));
  EXPECT_EQ(high.image.pixel(0, 0)[0], 50);
}

TEST(PreprocessVggt, TooElongatedIsRefusedExceptWhenServed) {
  for (const Preset preset : {Preset::kKeep, Preset::kVggtPad, Preset::kVggtCrop}) {
    try {
      prepare_view(photo_of(plain(5000, 60, 0)), preset, "long.png", kVggt);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kUnsupported);
      EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("long.png"), HasSubstr("5000x60")));
    }
  }
  const PreparedView served = prepare_view(photo_of(plain(5000, 60, 7)), Preset::kPad518, "long.png", kVggt);
  EXPECT_EQ(served.image.pixel(0, 252)[0], 7);  // 14 rows in the middle of 518
  EXPECT_EQ(served.image.pixel(0, 251)[0], 255);
  EXPECT_EQ(served.image.pixel(0, 266)[0], 255);
  EXPECT_THROW(prepare_view(photo_of(plain(1, 3000, 0)), Preset::kVggtCrop, "tall.png", kVggt), Error);  // 518 x 1.5 million
}

TEST(PreprocessVggt, UpstreamsPresetsIgnoreExif) {
  for (const Preset preset : {Preset::kVggtCrop, Preset::kVggtPad}) EXPECT_FALSE(decode_options_for(preset).apply_exif);
  for (const Preset preset : {Preset::kKeep, Preset::kPad518, Preset::kDust3r}) EXPECT_TRUE(decode_options_for(preset).apply_exif);
  DecodedImage photo = photo_of(plain(64, 48, 1));
  photo.ignored_exif_orientation = 6;
  EXPECT_THAT(prepare_view(photo, Preset::kVggtPad, "a.jpg", kVggt).notes, ElementsAre(HasSubstr("EXIF orientation 6 ignored")));
}

TEST(PreprocessVggt, PresetsFitTheirPatch) {
  for (const char* name : {"keep", "vggt_crop", "vggt_pad", "pad518"}) EXPECT_NO_THROW(require_preset_fits(preset_from_name(name), kVggt));
  for (const char* name : {"keep", "dust3r", "dust3r224", "pad512"}) EXPECT_NO_THROW(require_preset_fits(preset_from_name(name), {}));
  try {
    require_preset_fits(Preset::kPad512, kVggt);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("want one of keep, vggt_crop, vggt_pad, pad518"));
  }
  EXPECT_THROW(require_preset_fits(Preset::kPad518, {}), Error);
}

TEST(PreprocessVggt, ValuesAreInTheUnitRange) {
  std::vector<float> out(3);
  rgb_to_unit_range({1, 1, {0, 51, 255}}, out.data());
  EXPECT_THAT(out, ElementsAre(0.0f, 51.0f / 255.0f, 1.0f));
}

// Specification, A.7: hashes of the padded kitchen photos.
TEST(PreprocessVggt, KitchenPhotos) {
  const std::filesystem::path folder = std::filesystem::path(POINTMAP_SHARED_DIR) / "images/kitchen";
  if (!std::filesystem::exists(folder / "00.png")) GTEST_SKIP() << "no kitchen photos in " << folder;
  for (const Preset preset : {Preset::kVggtPad, Preset::kPad518}) {
    EXPECT_EQ(sha256_hex(prepare_view(read_image(folder / "00.png"), preset, "00.png", kVggt).image.rgb),
              "a700e5405e1b243f92447e0f027fce8fd234c2f80b556d33be972fb1a3435b1e");
    EXPECT_EQ(sha256_hex(prepare_view(read_image(folder / "03.png"), preset, "03.png", kVggt).image.rgb),
              "4c12e97cab48ce818debfcefdd6f6f6619f904ecc6d56c9914cd3516690bebf4");
  }
}

}  // namespace
}  // namespace pointmap
