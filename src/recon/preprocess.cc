// The loaders of upstream DUSt3R (sizes 512 and 224) and the served one (pad512), step by step in their order, so that the 8-bit result is
// the same bit for bit. Every step that moves pixels also moves the transform.
#include "recon/preprocess.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/check.h"
#include "io/image/resize.h"

namespace pointmap {
namespace {

constexpr int kUpstreamLongSide = 512;
constexpr int kShortSide224 = 224;
constexpr uint8_t kPadGrey = 128;
constexpr int64_t kMaxPixels = int64_t{256} << 20;  // of any picture made on the way

struct Size {
  int width = 0;
  int height = 0;
};

struct Box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

std::string text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

// Python's round(): halves go to the even neighbour. The default floating-point rounding mode is assumed, as everywhere.
double round_half_even(double x) {
  return std::nearbyint(x);
}

// Product first, then division, both in double, as upstream does.
Size scaled_to_long_side(const Image& image, int long_side) {
  const double longest = std::max(image.width, image.height);
  return {static_cast<int>(round_half_even(image.width * static_cast<double>(long_side) / longest)),
          static_cast<int>(round_half_even(image.height * static_cast<double>(long_side) / longest))};
}

// The patch-aligned box around the centre. For odd sides the last column or row is lost first.
Box crop_to_patches(Size size, int patch, bool keep_square) {
  const int centre_x = size.width / 2;
  const int centre_y = size.height / 2;
  const int half_width = 2 * centre_x / patch * (patch / 2);
  int half_height = 2 * centre_y / patch * (patch / 2);
  if (size.width == size.height && !keep_square) half_height = 3 * half_width / 4;
  return {centre_x - half_width, centre_y - half_height, 2 * half_width, 2 * half_height};
}

Box crop_to_square(Size size) {
  const int centre_x = size.width / 2;
  const int centre_y = size.height / 2;
  const int half = std::min(centre_x, centre_y);
  return {centre_x - half, centre_y - half, 2 * half, 2 * half};
}

Image cropped(const Image& image, const Box& box) {
  Image out{box.width, box.height, {}};
  out.rgb.reserve(static_cast<size_t>(box.width) * static_cast<size_t>(box.height) * 3);
  for (int y = 0; y < box.height; ++y) {
    const uint8_t* row = image.pixel(box.left, box.top + y);
    out.rgb.insert(out.rgb.end(), row, row + static_cast<ptrdiff_t>(box.width) * 3);
  }
  return out;
}

void check_work_size(int64_t width, int64_t height, const std::string& name) {
  if (width * height > kMaxPixels) {
    throw Error{kLimitExceeded, name + ": this preset would make a picture of " + std::to_string(width) + " x " + std::to_string(height) +
                                    " pixels on the way, the limit is " + std::to_string(kMaxPixels) + " in all"};
  }
}

// Both of upstream's loaders: scale the long side, then crop around the centre.
void scale_and_crop(PreparedView& view, const Image& photo, Size scaled, const Box& box) {
  const bool shrinks = std::max(photo.width, photo.height) > std::max(scaled.width, scaled.height);
  view.image = cropped(resize_image(photo, scaled.width, scaled.height, shrinks ? ResizeFilter::kLanczos : ResizeFilter::kBicubic), box);
  view.transform.scale_x = static_cast<double>(photo.width) / scaled.width;
  view.transform.scale_y = static_cast<double>(photo.height) / scaled.height;
  view.transform.offset_x = view.transform.scale_x * box.left;
  view.transform.offset_y = view.transform.scale_y * box.top;
}

void prepare_long_side(PreparedView& view, const Image& photo, bool keep_square, const NetworkSize& size, const std::string& name) {
  const Size scaled = scaled_to_long_side(photo, size.long_side);
  if (std::min(scaled.width, scaled.height) < size.patch) {
    throw Error{kUnsupported, name + ": " + text(photo.width, photo.height) + " is too elongated: at a long side of " +
                                  std::to_string(size.long_side) + " the short side is " +
                                  std::to_string(std::min(scaled.width, scaled.height)) + " pixels, at least " +
                                  std::to_string(size.patch) + " are wanted"};
  }
  scale_and_crop(view, photo, scaled, crop_to_patches(scaled, size.patch, keep_square));
  if (scaled.width != scaled.height) return;
  view.notes.push_back(
      keep_square
          ? "square photo kept square (" + text(view.image.width, view.image.height) + "); upstream crops it to 4:3 (preset dust3r)"
          : "square photo cropped to " + text(view.image.width, view.image.height) + ", as upstream does; preset keep keeps it whole");
}

void prepare_224(PreparedView& view, const Image& photo, const std::string& name) {
  const double width = photo.width;
  const double height = photo.height;
  const double long_side = round_half_even(kShortSide224 * std::max(width / height, height / width));
  check_work_size(static_cast<int64_t>(long_side), kShortSide224, name);
  const Size scaled = scaled_to_long_side(photo, static_cast<int>(long_side));
  scale_and_crop(view, photo, scaled, crop_to_square(scaled));
}

void prepare_pad512(PreparedView& view, const Image& photo, const std::string& name) {
  const int side = std::max(photo.width, photo.height);
  check_work_size(side, side, name);
  const int left = (side - photo.width) / 2;
  const int top = (side - photo.height) / 2;
  Image square{side, side, std::vector<uint8_t>(static_cast<size_t>(side) * static_cast<size_t>(side) * 3, kPadGrey)};
  for (int y = 0; y < photo.height; ++y) {
    const size_t at = (static_cast<size_t>(top + y) * static_cast<size_t>(side) + static_cast<size_t>(left)) * 3;
    std::copy_n(photo.pixel(0, y), static_cast<size_t>(photo.width) * 3, square.rgb.data() + at);
  }
  view.image = resize_image(square, kUpstreamLongSide, kUpstreamLongSide, ResizeFilter::kBicubic);
  view.transform.scale_x = view.transform.scale_y = static_cast<double>(side) / kUpstreamLongSide;
  view.transform.offset_x = -left;
  view.transform.offset_y = -top;
}

struct PresetName {
  std::string_view name;
  Preset preset;
};

constexpr PresetName kPresetNames[] = {
    {"keep", Preset::kKeep}, {"dust3r", Preset::kDust3r}, {"dust3r224", Preset::kDust3r224}, {"pad512", Preset::kPad512}};

}  // namespace

Preset preset_from_name(std::string_view name) {
  std::string known;
  for (const PresetName& row : kPresetNames) {
    if (row.name == name) return row.preset;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error{kInvalidArgument, "preset '" + std::string(name) + "' is not known; want one of " + known};
}

DecodeOptions decode_options_for(Preset preset) {
  const bool upstream = preset == Preset::kDust3r || preset == Preset::kDust3r224;
  return {.alpha = upstream ? AlphaRule::kDrop : AlphaRule::kOverWhite};
}

PreparedView prepare_view(const DecodedImage& photo, Preset preset, const std::string& name, const NetworkSize& size) {
  POINTMAP_CHECK(photo.image.width > 0 && photo.image.height > 0, name + ": the photo is empty");
  PreparedView view;
  view.transform.exif_orientation = photo.exif_orientation;
  view.transform.stored_width = photo.stored_width;
  view.transform.stored_height = photo.stored_height;
  switch (preset) {
    case Preset::kKeep:
      prepare_long_side(view, photo.image, /*keep_square=*/true, size, name);
      break;
    case Preset::kDust3r:
      prepare_long_side(view, photo.image, /*keep_square=*/false, {.long_side = kUpstreamLongSide, .patch = size.patch}, name);
      break;
    case Preset::kDust3r224:
      prepare_224(view, photo.image, name);
      break;
    case Preset::kPad512:
      prepare_pad512(view, photo.image, name);
      break;
  }
  view.transform.network_width = view.image.width;
  view.transform.network_height = view.image.height;
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

void normalize_rgb(const Image& image, float* out) {
  for (const uint8_t value : image.rgb) *out++ = (static_cast<float>(value) / 255.0F - 0.5F) / 0.5F;
}

}  // namespace pointmap
