// The loaders of upstream DUSt3R (sizes 512 and 224) and the served one (pad512), step by step in their order, so that the 8-bit result is
// the same bit for bit. Every step that moves pixels also moves the transform. Those of VGGT are in preprocess_vggt.
#include "recon/preprocess.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/check.h"
#include "io/image/resize.h"
#include "recon/picture_steps.h"
#include "recon/preprocess_vggt.h"

namespace pointmap {
namespace {

constexpr int kUpstreamLongSide = 512;
constexpr int kShortSide224 = 224;
constexpr uint8_t kPadGrey = 128;

// Product first, then division, both in double, as upstream does.
PictureSize scaled_to_long_side(const Image& image, int long_side) {
  const double longest = std::max(image.width, image.height);
  return {static_cast<int>(round_half_even(image.width * static_cast<double>(long_side) / longest)),
          static_cast<int>(round_half_even(image.height * static_cast<double>(long_side) / longest))};
}

// The patch-aligned box around the centre. For odd sides the last column or row is lost first.
PictureBox crop_to_patches(PictureSize size, int patch, bool keep_square) {
  const int centre_x = size.width / 2;
  const int centre_y = size.height / 2;
  const int half_width = 2 * centre_x / patch * (patch / 2);
  int half_height = 2 * centre_y / patch * (patch / 2);
  if (size.width == size.height && !keep_square) half_height = 3 * half_width / 4;
  return {centre_x - half_width, centre_y - half_height, 2 * half_width, 2 * half_height};
}

PictureBox crop_to_square(PictureSize size) {
  const int centre_x = size.width / 2;
  const int centre_y = size.height / 2;
  const int half = std::min(centre_x, centre_y);
  return {centre_x - half, centre_y - half, 2 * half, 2 * half};
}

// Both of upstream's loaders: scale the long side, then crop around the centre.
void scale_and_crop(PreparedView& view, const Image& photo, PictureSize scaled, const PictureBox& box) {
  const bool shrinks = std::max(photo.width, photo.height) > std::max(scaled.width, scaled.height);
  view.image = resize_image(photo, scaled.width, scaled.height, shrinks ? ResizeFilter::kLanczos : ResizeFilter::kBicubic);
  view.transform.scale_x = static_cast<double>(photo.width) / scaled.width;
  view.transform.scale_y = static_cast<double>(photo.height) / scaled.height;
  crop_view(view, box);
}

void prepare_long_side(PreparedView& view, const Image& photo, bool keep_square, const NetworkSize& size, const std::string& name) {
  const PictureSize scaled = scaled_to_long_side(photo, size.long_side);
  if (std::min(scaled.width, scaled.height) < size.patch) {
    throw Error{kUnsupported, name + ": " + size_text(photo.width, photo.height) + " is too elongated: at a long side of " +
                                  std::to_string(size.long_side) + " the short side is " +
                                  std::to_string(std::min(scaled.width, scaled.height)) + " pixels, at least " +
                                  std::to_string(size.patch) + " are wanted"};
  }
  scale_and_crop(view, photo, scaled, crop_to_patches(scaled, size.patch, keep_square));
  if (scaled.width != scaled.height) return;
  view.notes.push_back(
      keep_square
          ? "square photo kept square (" + size_text(view.image.width, view.image.height) + "); upstream crops it to 4:3 (preset dust3r)"
          : "square photo cropped to " + size_text(view.image.width, view.image.height) + ", as upstream does; preset keep keeps it whole");
}

void prepare_224(PreparedView& view, const Image& photo, const std::string& name) {
  const double width = photo.width;
  const double height = photo.height;
  const double long_side = round_half_even(kShortSide224 * std::max(width / height, height / width));
  check_work_size(static_cast<int64_t>(long_side), kShortSide224, name);
  const PictureSize scaled = scaled_to_long_side(photo, static_cast<int>(long_side));
  scale_and_crop(view, photo, scaled, crop_to_square(scaled));
}

void prepare_pad512(PreparedView& view, const Image& photo, const std::string& name) {
  const int side = std::max(photo.width, photo.height);
  check_work_size(side, side, name);
  const int left = (side - photo.width) / 2;
  const int top = (side - photo.height) / 2;
  const Image square = centred(photo, {side, side}, kPadGrey);
  view.image = resize_image(square, kUpstreamLongSide, kUpstreamLongSide, ResizeFilter::kBicubic);
  view.transform.scale_x = view.transform.scale_y = static_cast<double>(side) / kUpstreamLongSide;
  view.transform.offset_x = -left;
  view.transform.offset_y = -top;
}

struct PresetName {
  std::string_view name;
  Preset preset;
  int patch;  // that its pictures are made for; 0: as the model wants
};

constexpr PresetName kPresetNames[] = {
    {"keep", Preset::kKeep, 0},      {"dust3r", Preset::kDust3r, 16},      {"dust3r224", Preset::kDust3r224, 16},
    {"pad512", Preset::kPad512, 16}, {"vggt_crop", Preset::kVggtCrop, 14}, {"vggt_pad", Preset::kVggtPad, 14},
    {"pad518", Preset::kPad518, 14},
};

// Those for the patch, or all for 0.
std::string names_for(int patch) {
  std::string names;
  for (const PresetName& row : kPresetNames) {
    if (patch == 0 || row.patch == 0 || row.patch == patch) names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

bool is_upstream_dust3r(Preset preset) {
  return preset == Preset::kDust3r || preset == Preset::kDust3r224;
}

bool is_upstream_vggt(Preset preset) {
  return preset == Preset::kVggtCrop || preset == Preset::kVggtPad;
}

void prepare_picture(PreparedView& view, const Image& photo, Preset preset, const std::string& name, const NetworkSize& size) {
  switch (preset) {
    case Preset::kKeep:
      if (size.fit == PatchFit::kScale) return prepare_whole(view, photo, size, name);
      return prepare_long_side(view, photo, /*keep_square=*/true, size, name);
    case Preset::kDust3r:
      return prepare_long_side(view, photo, /*keep_square=*/false, {.long_side = kUpstreamLongSide, .patch = size.patch}, name);
    case Preset::kDust3r224:
      return prepare_224(view, photo, name);
    case Preset::kPad512:
      return prepare_pad512(view, photo, name);
    case Preset::kVggtCrop:
      return prepare_vggt_crop(view, photo, name);
    case Preset::kVggtPad:
      return prepare_vggt_pad(view, photo, name);
    case Preset::kPad518:
      return prepare_pad518(view, photo);
  }
}

}  // namespace

Preset preset_from_name(std::string_view name) {
  for (const PresetName& row : kPresetNames) {
    if (row.name == name) return row.preset;
  }
  throw Error{kInvalidArgument, "preset '" + std::string(name) + "' is not known; want one of " + names_for(0)};
}

void require_preset_fits(Preset preset, const NetworkSize& size) {
  for (const PresetName& row : kPresetNames) {
    if (row.preset != preset || row.patch == 0 || row.patch == size.patch) continue;
    throw Error{kInvalidArgument, "preset '" + std::string(row.name) + "' makes pictures for patches of " + std::to_string(row.patch) +
                                      " pixels, the patches of this model have " + std::to_string(size.patch) + "; want one of " +
                                      names_for(size.patch)};
  }
}

DecodeOptions decode_options_for(Preset preset) {
  return {.alpha = is_upstream_dust3r(preset) ? AlphaRule::kDrop : AlphaRule::kOverWhite, .apply_exif = !is_upstream_vggt(preset)};
}

PreparedView prepare_view(const DecodedImage& photo, Preset preset, const std::string& name, const NetworkSize& size) {
  POINTMAP_CHECK(photo.image.width > 0 && photo.image.height > 0, name + ": the photo is empty");
  PreparedView view;
  view.transform.exif_orientation = photo.exif_orientation;
  view.transform.stored_width = photo.stored_width;
  view.transform.stored_height = photo.stored_height;
  prepare_picture(view, photo.image, preset, name, size);
  view.transform.network_width = view.image.width;
  view.transform.network_height = view.image.height;
  if (photo.ignored_exif_orientation != 1) {
    view.notes.push_back("EXIF orientation " + std::to_string(photo.ignored_exif_orientation) +
                         " ignored, as upstream does; preset keep turns the photo upright");
  }
  if (photo.had_alpha) {
    view.notes.push_back(photo.alpha_rule == AlphaRule::kOverWhite ? "transparent parts of the photo are shown over white"
                                                                   : "transparency dropped, as upstream does: hidden colours show");
  }
  return view;
}

std::string size_note(Preset preset, const Image& prepared, const NetworkSize& size) {
  const int long_side = std::max(prepared.width, prepared.height);
  if (preset == Preset::kKeep || long_side == size.long_side) return "";
  return "this preset makes pictures with a long side of " + std::to_string(long_side) + ", the model was trained on " +
         std::to_string(size.long_side) + "; preset keep follows the model";
}

void rgb_to_unit_range(const Image& image, float* out) {
  for (const uint8_t value : image.rgb) *out++ = static_cast<float>(value) / 255.0F;
}

void normalize_rgb(const Image& image, float* out) {
  for (const uint8_t value : image.rgb) *out++ = (static_cast<float>(value) / 255.0F - 0.5F) / 0.5F;
}

}  // namespace pointmap
