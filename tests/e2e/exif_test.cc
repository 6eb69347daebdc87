// A photo is one photo however its file stores it: all eight EXIF orientations give the same scene, with all that is known about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "geometry/view_transform.h"
#include "io/image/fixtures_testing.h"
#include "pointmap/pointmap.h"

namespace pointmap {
namespace {

constexpr int kWidth = 64, kHeight = 48;  // as a person sees it

Image upright(int seed) {
  Image image{.width = kWidth, .height = kHeight, .rgb = {}};
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < 3; ++c) image.rgb.push_back(static_cast<uint8_t>((x * (2 + c) + y * 3 + seed * 41) & 255));
    }
  }
  return image;
}

// The left half white, the right half black.
Image half_mask() {
  Image image{.width = kWidth, .height = kHeight, .rgb = {}};
  for (int i = 0; i < kWidth * kHeight; ++i) image.rgb.insert(image.rgb.end(), 3, i % kWidth < kWidth / 2 ? 255 : 0);
  return image;
}

// The picture as a file with that orientation; with_exif: the file says so.
Photo stored(const Image& seen, int exif_orientation, bool with_exif, const std::string& name) {
  ViewTransform t{.exif_orientation = exif_orientation, .stored_width = seen.width, .stored_height = seen.height};
  if (exif_orientation >= 5) std::swap(t.stored_width, t.stored_height);
  Image image{.width = t.stored_width, .height = t.stored_height, .rgb = std::vector<uint8_t>(seen.rgb.size())};
  for (int y = 0; y < seen.height; ++y) {
    for (int x = 0; x < seen.width; ++x) {
      const Pixel place = stored_from_oriented(t, {static_cast<double>(x), static_cast<double>(y)});
      const auto index = static_cast<size_t>(place.v) * static_cast<size_t>(image.width) + static_cast<size_t>(place.u);
      for (size_t c = 0; c < 3; ++c) image.rgb[3 * index + c] = seen.pixel(x, y)[c];
    }
  }
  fixtures::PngSpec spec = fixtures::png_spec_of(image);
  if (with_exif) spec.before_image = fixtures::png_chunk("eXIf", fixtures::exif_block(exif_orientation, true));
  return {.name = name, .bytes = fixtures::make_png(spec)};
}

TEST(Exif, AllOrientationsGiveTheSameScene) {
  Reconstructor reconstructor = Reconstructor::open("synthetic:dust3r-tiny-linear");
  ReconstructOptions options{.preset = "dust3r224", .pose = true};
  options.known.intrinsics = {{.fx = 60, .fy = 66, .cx = 30, .cy = 25}};
  options.known.distance = KnownDistance{.from = {.photo = 0, .pixel = {10, 20}}, .to = {.photo = 0, .pixel = {28, 40}}, .metres = 2};
  std::optional<Reconstruction> first;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    // A mask of stored pixels that says nothing of its orientation can be told where the sides are exchanged.
    const bool mask_has_exif = orientation < 5;
    const Photo mask = stored(half_mask(), orientation, mask_has_exif, "mask.png");
    options.known.masks = {mask, mask};
    const Reconstruction run = reconstructor.reconstruct(
        {stored(upright(0), orientation, true, "left.png"), stored(upright(1), orientation, true, "right.png")}, options);
    if (!first) first = run;
    EXPECT_EQ(run.report.known.num_masks, 2U);
    EXPECT_EQ(run.report.known.scale_status, "ok");
    EXPECT_EQ(run.report.notes, first->report.notes);
    for (size_t v = 0; v < 2; ++v) {
      const SceneView &got = run.scene.views[v], &want = first->scene.views[v];
      EXPECT_EQ(got.transform.exif_orientation, orientation);
      EXPECT_EQ(got.image.rgb, want.image.rgb);
      EXPECT_EQ(got.mask, want.mask);
      EXPECT_EQ(got.points, want.points);
      EXPECT_EQ(got.confidence, want.confidence);
      EXPECT_EQ(got.depth, want.depth);
      EXPECT_EQ(got.camera->world_from_cam.rotation, want.camera->world_from_cam.rotation);
      EXPECT_EQ(got.camera->world_from_cam.translation, want.camera->world_from_cam.translation);
      for (const auto number : {&Intrinsics::fx, &Intrinsics::fy, &Intrinsics::cx, &Intrinsics::cy})
        EXPECT_EQ(got.camera->original.*number, want.camera->original.*number);
    }
  }
  // 224 of 299 columns are seen, the middle ones; the mask's edge is in the middle.
  const std::vector<uint8_t>& mask = first->scene.views[0].mask;
  EXPECT_EQ(mask[111], 1);
  EXPECT_EQ(mask[113], 0);
}

}  // namespace
}  // namespace pointmap
