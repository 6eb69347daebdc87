// Upstream's and the served loaders by hash of their 8-bit result (tests/golden/preprocess.json), and the transform by looking: a mark in
// the stored picture must be found where the transform says.
#include "recon/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "recon/preprocess_testing.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Preprocess, LoadersMatchGoldenHashes) {
  const struct {
    const char* loader;
    Preset preset;
  } loaders[] = {{"dust3r_512", Preset::kDust3r},  {"dust3r_224", Preset::kDust3r224}, {"served_dust3r_pad512", Preset::kPad512},
                 {"vggt_crop", Preset::kVggtCrop}, {"vggt_pad", Preset::kVggtPad},     {"served_vggt_pad518", Preset::kPad518}};
  int compared = 0;
  for (const nlohmann::json& row : golden_rows()) {
    for (const auto& [loader, preset] : loaders) {
      if (row.at("loader") != loader) continue;
      const int width = row.at("in_wh").at(0);
      const int height = row.at("in_wh").at(1);
      SCOPED_TRACE(std::string(loader) + " " + std::to_string(width) + "x" + std::to_string(height));
      const PreparedView view = prepare_view(photo_of(procedural(width, height)), preset, "procedural");
      EXPECT_EQ(view.image.width, row.at("out_wh").at(0));
      EXPECT_EQ(view.image.height, row.at("out_wh").at(1));
      EXPECT_EQ(sha256_hex(view.image.rgb), row.at("sha256_rgb8"));
      if (row.contains("pad_left")) {
        EXPECT_DOUBLE_EQ(view.transform.offset_x, -view.transform.scale_x * row.at("pad_left").get<double>());
        EXPECT_DOUBLE_EQ(view.transform.offset_y, -view.transform.scale_y * row.at("pad_top").get<double>());
      }
      ++compared;
    }
  }
  EXPECT_EQ(compared, 84);  // every row of the file
}

TEST(Preprocess, KeepIsUpstreamExceptForSquares) {
  for (const nlohmann::json& row : golden_rows()) {
    const int width = row.at("in_wh").at(0);
    const int height = row.at("in_wh").at(1);
    if (row.at("loader") != "dust3r_512" || width * height > 2000000) continue;  // the large ones take the same way, for longer
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    const PreparedView view = prepare_view(photo_of(procedural(width, height)), Preset::kKeep, "procedural");
    if (width == height) {
      EXPECT_EQ(view.image.width, 512);
      EXPECT_EQ(view.image.height, 512);
      EXPECT_THAT(view.notes, ElementsAre(HasSubstr("kept square")));
    } else {
      EXPECT_EQ(sha256_hex(view.image.rgb), row.at("sha256_rgb8"));
      EXPECT_THAT(view.notes, IsEmpty());
    }
  }
}

// The table of spec 4.3: sizes and crop boxes, the latter through the transform.
TEST(Preprocess, SpecTable) {
  const struct {
    int width, height;
    Preset preset;
    int scaled_width, scaled_height, left, top, network_width, network_height;
  } rows[] = {
      {640, 480, Preset::kDust3r, 512, 384, 0, 0, 512, 384},     {480, 640, Preset::kDust3r, 384, 512, 0, 0, 384, 512},
      {512, 512, Preset::kDust3r, 512, 512, 0, 64, 512, 384},    {1000, 1000, Preset::kDust3r, 512, 512, 0, 64, 512, 384},
      {333, 500, Preset::kDust3r, 341, 512, 2, 0, 336, 512},     {517, 389, Preset::kDust3r, 512, 385, 0, 0, 512, 384},
      {1920, 1080, Preset::kDust3r, 512, 288, 0, 0, 512, 288},   {300, 200, Preset::kDust3r, 512, 341, 0, 2, 512, 336},
      {700, 100, Preset::kDust3r, 512, 73, 0, 4, 512, 64},       {640, 480, Preset::kDust3r224, 299, 224, 37, 0, 224, 224},
      {300, 200, Preset::kDust3r224, 336, 224, 56, 0, 224, 224}, {700, 100, Preset::kDust3r224, 1568, 224, 672, 0, 224, 224},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::to_string(row.width) + "x" + std::to_string(row.height));
    const PreparedView view = prepare_view(photo_of(plain(row.width, row.height, 9)), row.preset, "plain");
    EXPECT_EQ(view.image.width, row.network_width);
    EXPECT_EQ(view.image.height, row.network_height);
    EXPECT_EQ(view.transform.network_width, row.network_width);
    EXPECT_EQ(view.transform.network_height, row.network_height);
    EXPECT_DOUBLE_EQ(view.transform.scale_x, static_cast<double>(row.width) / row.scaled_width);
    EXPECT_DOUBLE_EQ(view.transform.scale_y, static_cast<double>(row.height) / row.scaled_height);
    EXPECT_DOUBLE_EQ(view.transform.offset_x, view.transform.scale_x * row.left);
    EXPECT_DOUBLE_EQ(view.transform.offset_y, view.transform.scale_y * row.top);
  }
}

// No scaling happens (long side 512), so a single marked pixel must be found exactly.
TEST(Preprocess, MarkedPixelIsWhereTheTransformSays) {
  const NetworkSize vggt{.long_side = 518, .patch = 14, .fit = PatchFit::kScale};
  const struct {
    Preset preset;
    int stored_width, stored_height;
    NetworkSize size = {};
  } cases[] = {{Preset::kKeep, 512, 341},       {Preset::kKeep, 341, 512},       {Preset::kDust3r, 512, 512},
               {Preset::kPad512, 512, 300},     {Preset::kPad512, 299, 512},     {Preset::kDust3r224, 301, 224},
               {Preset::kKeep, 518, 350, vggt}, {Preset::kKeep, 364, 518, vggt}, {Preset::kPad518, 518, 350},
               {Preset::kVggtPad, 364, 518}};
  for (const auto& [preset, stored_width, stored_height, size] : cases) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      SCOPED_TRACE(std::to_string(static_cast<int>(preset)) + " " + std::to_string(stored_width) + ", orientation " +
                   std::to_string(orientation));
      const int mark_x = stored_width / 2 - 20;
      const int mark_y = stored_height / 2 + 31;
      Image stored = plain(stored_width, stored_height, 10);
      stored.rgb[(static_cast<size_t>(mark_y) * static_cast<size_t>(stored_width) + static_cast<size_t>(mark_x)) * 3] = 250;
      const PreparedView view = prepare_view(photo_of(std::move(stored), orientation), preset, "marked", size);
      int found = 0;
      for (int y = 0; y < view.image.height; ++y) {
        for (int x = 0; x < view.image.width; ++x) {
          if (view.image.pixel(x, y)[0] != 250) continue;
          ++found;
          const Pixel stored_pixel = view.transform.stored_from_network({static_cast<double>(x), static_cast<double>(y)});
          EXPECT_EQ(stored_pixel.u, mark_x);
          EXPECT_EQ(stored_pixel.v, mark_y);
          const Pixel back = view.transform.network_from_stored({static_cast<double>(mark_x), static_cast<double>(mark_y)});
          EXPECT_EQ(back.u, x);
          EXPECT_EQ(back.v, y);
        }
      }
      EXPECT_EQ(found, 1);
    }
  }
}

// With scaling: red and green are slanted ramps over the stored picture, so a network pixel's colour tells where it came from. (Slanted,
// and with scales that are no simple fractions, so that rounding to 8 bits averages out instead of repeating.) The filters reproduce ramps;
// what remains is rounding, and its mean over thousands of pixels is within 0.05 levels of zero. Taking pixel corners for centres would
// show as at least 0.15 levels.
TEST(Preprocess, RampSurvivesScaling) {
  for (const Preset preset : {Preset::kKeep, Preset::kDust3r224, Preset::kPad512, Preset::kVggtCrop, Preset::kVggtPad, Preset::kPad518}) {
    for (const auto& [width, height] : {std::pair{1201, 799}, std::pair{301, 199}, std::pair{517, 779}}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(preset)) + " " + std::to_string(width));
      const auto red_at = [&](double u, double v) { return 220 * u / width + 33 * v / height; };
      const auto green_at = [&](double u, double v) { return 33 * u / width + 220 * v / height; };
      Image stored{width, height, {}};
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const auto red = static_cast<uint8_t>(std::lround(red_at(x, y)));
          const auto green = static_cast<uint8_t>(std::lround(green_at(x, y)));
          stored.rgb.insert(stored.rgb.end(), {red, green, uint8_t{0}});
        }
      }
      const PreparedView view = prepare_view(photo_of(std::move(stored), 6), preset, "ramp");
      double red_error = 0;
      double green_error = 0;
      int pixels = 0;
      for (int y = 0; y < view.image.height; ++y) {
        for (int x = 0; x < view.image.width; ++x) {
          const Pixel from = view.transform.stored_from_network({static_cast<double>(x), static_cast<double>(y)});
          const double margin = 0.1 * width;  // away from the edges, where filters are cut
          if (from.u < margin || from.u > width - margin || from.v < margin || from.v > height - margin) continue;
          red_error += view.image.pixel(x, y)[0] - red_at(from.u, from.v);
          green_error += view.image.pixel(x, y)[1] - green_at(from.u, from.v);
          ++pixels;
        }
      }
      ASSERT_GT(pixels, 1000);
      EXPECT_LE(std::abs(red_error / pixels), 0.05);
      EXPECT_LE(std::abs(green_error / pixels), 0.05);
    }
  }
}

TEST(Preprocess, PaddingIsGreyAndKnownAsPadding) {
  const PreparedView view = prepare_view(photo_of(plain(512, 300, 77)), Preset::kPad512, "plain");
  EXPECT_EQ(view.image.pixel(5, 105)[0], 128);  // 106 rows above
  EXPECT_EQ(view.image.pixel(5, 106)[0], 77);
  EXPECT_FALSE(view.transform.shows_photo({5, 105}));
  EXPECT_TRUE(view.transform.shows_photo({5, 106}));
  EXPECT_TRUE(view.transform.shows_photo({5, 405}));
  EXPECT_FALSE(view.transform.shows_photo({5, 406}));
}

ErrorCode code_of(const Image& image, Preset preset, std::string& message) {
  try {
    prepare_view(photo_of(image), preset, "long.png");
  } catch (const Error& error) {
    message = error.what();
    return error.code();
  }
  return kInternal;
}

TEST(Preprocess, RefusesWhatWouldBeEmptyOrEnormous) {
  std::string message;
  EXPECT_EQ(code_of(plain(5000, 100, 0), Preset::kKeep, message), kUnsupported);  // 512 x 10
  EXPECT_THAT(message, HasSubstr("long.png"));
  EXPECT_THAT(message, HasSubstr("10 pixels"));
  EXPECT_EQ(code_of(plain(1, 3000, 0), Preset::kDust3r, message), kUnsupported);  // 0 x 512
  EXPECT_EQ(code_of(plain(30000, 1, 0), Preset::kPad512, message), kLimitExceeded);
  EXPECT_EQ(code_of(plain(30000, 1, 0), Preset::kDust3r224, message), kLimitExceeded);
  EXPECT_THAT(message, HasSubstr("long.png"));
}

TEST(Preprocess, TheSmallestPhotoIsScaledUp) {
  for (const Preset preset : {Preset::kKeep, Preset::kPad512}) {
    const PreparedView view = prepare_view(photo_of(plain(1, 1, 33)), preset, "one.png");
    EXPECT_EQ(view.image.width, 512);
    EXPECT_EQ(view.image.height, 512);
    EXPECT_TRUE(std::all_of(view.image.rgb.begin(), view.image.rgb.end(), [](uint8_t v) { return v == 33; }));
  }
}

// A model trained on smaller pictures gets smaller pictures, whatever the photo's size; what the transform says still holds.
TEST(Preprocess, KeepFollowsTheModel) {
  const struct {
    int width, height, long_side, patch;
    int network_width, network_height, left, top;  // of the crop, in scaled pixels
  } rows[] = {
      {512, 384, 192, 16, 192, 144, 0, 0}, {128, 96, 192, 16, 192, 144, 0, 0},   {256, 192, 256, 16, 256, 192, 0, 0},
      {128, 96, 128, 16, 128, 96, 0, 0},   {333, 500, 192, 16, 128, 192, 0, 0},  {1920, 1080, 192, 16, 192, 96, 0, 6},
      {640, 480, 224, 16, 224, 160, 0, 4}, {1000, 600, 200, 16, 192, 112, 4, 4}, {700, 525, 518, 14, 518, 378, 0, 5},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::to_string(row.width) + "x" + std::to_string(row.height) + " at " + std::to_string(row.long_side));
    const NetworkSize size{.long_side = row.long_side, .patch = row.patch};
    const PreparedView view = prepare_view(photo_of(plain(row.width, row.height, 9)), Preset::kKeep, "plain", size);
    EXPECT_EQ(view.image.width, row.network_width);
    EXPECT_EQ(view.image.height, row.network_height);
    EXPECT_DOUBLE_EQ(view.transform.offset_x, view.transform.scale_x * row.left);
    EXPECT_DOUBLE_EQ(view.transform.offset_y, view.transform.scale_y * row.top);
    EXPECT_EQ(size_note(Preset::kKeep, view.image, size), "");
    EXPECT_THAT(view.notes, IsEmpty());
  }
  const PreparedView square = prepare_view(photo_of(plain(700, 700, 9)), Preset::kKeep, "plain", {.long_side = 192});
  EXPECT_EQ(square.image.height, 192);
  EXPECT_THAT(square.notes, ElementsAre(HasSubstr("192x192")));
}

TEST(Preprocess, OtherPresetsKeepTheirSizeAndSayThatItIsNotTheModels) {
  const NetworkSize demo{.long_side = 192};
  for (const Preset preset : {Preset::kDust3r, Preset::kPad512}) {
    const PreparedView view = prepare_view(photo_of(plain(640, 480, 9)), preset, "plain", demo);
    EXPECT_EQ(view.image.width, 512);
    EXPECT_THAT(size_note(preset, view.image, demo), HasSubstr("long side of 512, the model was trained on 192"));
    EXPECT_EQ(size_note(preset, view.image, NetworkSize{}), "");
  }
}

TEST(Preprocess, PresetNames) {
  EXPECT_EQ(preset_from_name("keep"), Preset::kKeep);
  EXPECT_EQ(preset_from_name("dust3r"), Preset::kDust3r);
  EXPECT_EQ(preset_from_name("dust3r224"), Preset::kDust3r224);
  EXPECT_EQ(preset_from_name("pad512"), Preset::kPad512);
  try {
    preset_from_name("Keep");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("keep, dust3r, dust3r224, pad512"));
  }
}

TEST(Preprocess, AlphaRuleBelongsToThePreset) {
  EXPECT_EQ(decode_options_for(Preset::kKeep).alpha, AlphaRule::kOverWhite);
  EXPECT_EQ(decode_options_for(Preset::kPad512).alpha, AlphaRule::kOverWhite);
  EXPECT_EQ(decode_options_for(Preset::kDust3r).alpha, AlphaRule::kDrop);
  EXPECT_EQ(decode_options_for(Preset::kDust3r224).alpha, AlphaRule::kDrop);
  DecodedImage photo = photo_of(plain(64, 48, 1));
  photo.had_alpha = true;
  EXPECT_THAT(prepare_view(photo, Preset::kKeep, "a.png").notes, ElementsAre(HasSubstr("over white")));
  photo.alpha_rule = AlphaRule::kDrop;
  EXPECT_THAT(prepare_view(photo, Preset::kDust3r, "a.png").notes, ElementsAre(HasSubstr("transparency dropped")));
}

TEST(Preprocess, NormalizeIsFloat32StepByStep) {
  Image image{256, 1, {}};
  for (int v = 0; v < 256; ++v) image.rgb.insert(image.rgb.end(), 3, static_cast<uint8_t>(v));
  std::vector<float> out(image.rgb.size(), 7.0F);
  normalize_rgb(image, out.data());
  EXPECT_EQ(out.front(), -1.0F);
  EXPECT_EQ(out.back(), 1.0F);
  for (int v = 0; v < 256; ++v) {
    // Each step in double, rounded to float: the same as float arithmetic, since double has more than twice the digits.
    const auto unit = static_cast<float>(v / 255.0);
    const auto centred = static_cast<float>(static_cast<double>(unit) - 0.5);
    EXPECT_EQ(out[static_cast<size_t>(v) * 3 + 1], static_cast<float>(static_cast<double>(centred) / 0.5)) << v;
  }
}

// The photo of the goldens, when the shared folder is there: the padded version has the stated offset.
TEST(Preprocess, KitchenPhotos) {
  const std::filesystem::path path = std::filesystem::path(POINTMAP_SHARED_DIR) / "images/kitchen/00.png";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no kitchen photos at " << path;
  const DecodedImage photo = read_image(path);
  EXPECT_EQ(photo.image.width, 779);
  EXPECT_EQ(photo.image.height, 520);
  EXPECT_EQ(prepare_view(photo, Preset::kPad512, path.string()).transform.offset_y, -129);
  EXPECT_EQ(prepare_view(photo, Preset::kKeep, path.string()).image.height, 336);
}

}  // namespace
}  // namespace pointmap
