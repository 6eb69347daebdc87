// Upstream VGGT's two loaders (specification 6.2) and the served one, step by step in their order, so that the 8-bit result is the same
// bit for bit.
#include "recon/preprocess_vggt.h"

#include <algorithm>

#include "base/error.h"
#include "io/image/resize.h"
#include "recon/picture_steps.h"

namespace pointmap {
namespace {

constexpr int kTarget = 518;
constexpr int kPatch = 14;

// `side` at the scale target / other, to the nearest multiple of the patch: multiplied by the quotient, as upstream does.
int scaled_side(int side, int other, int target, int patch) {
  return static_cast<int>(round_half_even(side * (static_cast<double>(target) / other) / patch)) * patch;
}

// The same with the product first, as served.
int served_side(int side, int longest) {
  const double scaled = static_cast<double>(side) * kTarget / longest / kPatch;
  return std::max(kPatch, static_cast<int>(round_half_even(scaled)) * kPatch);
}

PictureSize scaled_to_long_side(const Image& photo, int target, int patch) {
  if (photo.width >= photo.height) return {target, scaled_side(photo.height, photo.width, target, patch)};
  return {scaled_side(photo.width, photo.height, target, patch), target};
}

void scale(PreparedView& view, const Image& photo, PictureSize scaled, const std::string& name) {
  if (scaled.width == 0 || scaled.height == 0) {
    throw Error{kUnsupported, name + ": " + size_text(photo.width, photo.height) + " is too elongated: at a long side of " +
                                  std::to_string(std::max(scaled.width, scaled.height)) + " nothing is left of the short one"};
  }
  check_work_size(scaled.width, scaled.height, name);
  view.image = resize_image(photo, scaled.width, scaled.height, ResizeFilter::kBicubic);
  view.transform.scale_x = static_cast<double>(photo.width) / scaled.width;
  view.transform.scale_y = static_cast<double>(photo.height) / scaled.height;
}

}  // namespace

void prepare_whole(PreparedView& view, const Image& photo, const NetworkSize& size, const std::string& name) {
  scale(view, photo, scaled_to_long_side(photo, size.long_side, size.patch), name);
}

void prepare_vggt_crop(PreparedView& view, const Image& photo, const std::string& name) {
  const PictureSize scaled{kTarget, scaled_side(photo.height, photo.width, kTarget, kPatch)};
  scale(view, photo, scaled, name);
  if (scaled.height <= kTarget) return;
  crop_view(view, {.left = 0, .top = (scaled.height - kTarget) / 2, .width = kTarget, .height = kTarget});
  view.notes.push_back("portrait photo cropped from " + size_text(scaled.width, scaled.height) + " to " + size_text(kTarget, kTarget) +
                       ", as upstream does; preset keep keeps it whole");
}

void prepare_vggt_pad(PreparedView& view, const Image& photo, const std::string& name) {
  scale(view, photo, scaled_to_long_side(photo, kTarget, kPatch), name);
  pad_view(view, {kTarget, kTarget});
}

void prepare_pad518(PreparedView& view, const Image& photo) {
  const int longest = std::max(photo.width, photo.height);
  const PictureSize scaled = photo.width >= photo.height ? PictureSize{kTarget, served_side(photo.height, longest)}
                                                         : PictureSize{served_side(photo.width, longest), kTarget};
  scale(view, photo, scaled, "");  // never too small, never too large
  pad_view(view, {kTarget, kTarget});
}

void pad_to_one_size(const std::vector<PreparedView*>& views) {
  PictureSize largest;
  for (const PreparedView* view : views) {
    largest = {std::max(largest.width, view->image.width), std::max(largest.height, view->image.height)};
  }
  for (PreparedView* view : views) {
    const PictureSize before{view->image.width, view->image.height};
    if (before.width == largest.width && before.height == largest.height) continue;
    pad_view(*view, largest);
    view->transform.network_width = largest.width;
    view->transform.network_height = largest.height;
    view->notes.push_back("padded with white from " + size_text(before.width, before.height) + " to " +
                          size_text(largest.width, largest.height) + ": all views of a run have one size");
  }
}

}  // namespace pointmap
