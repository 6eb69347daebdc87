#include "recon/picture_steps.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace pointmap {
namespace {

constexpr int64_t kMaxPixels = int64_t{256} << 20;
constexpr uint8_t kWhite = 255;

// Of the smaller within the larger.
PictureBox centred_box(const Image& image, PictureSize size) {
  return {(size.width - image.width) / 2, (size.height - image.height) / 2, image.width, image.height};
}

}  // namespace

std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

double round_half_even(double x) {
  return std::nearbyint(x);
}

void check_work_size(int64_t width, int64_t height, const std::string& name) {
  if (width * height > kMaxPixels) {
    throw Error{kLimitExceeded, name + ": this preset would make a picture of " + std::to_string(width) + " x " + std::to_string(height) +
                                    " pixels on the way, the limit is " + std::to_string(kMaxPixels) + " in all"};
  }
}

Image cropped(const Image& image, const PictureBox& box) {
  Image out{box.width, box.height, {}};
  out.rgb.reserve(static_cast<size_t>(box.width) * static_cast<size_t>(box.height) * 3);
  for (int y = 0; y < box.height; ++y) {
    const uint8_t* row = image.pixel(box.left, box.top + y);
    out.rgb.insert(out.rgb.end(), row, row + static_cast<ptrdiff_t>(box.width) * 3);
  }
  return out;
}

Image centred(const Image& image, PictureSize size, uint8_t value) {
  const PictureBox box = centred_box(image, size);
  Image out{size.width, size.height, std::vector<uint8_t>(static_cast<size_t>(size.width) * static_cast<size_t>(size.height) * 3, value)};
  for (int y = 0; y < image.height; ++y) {
    const size_t at = (static_cast<size_t>(box.top + y) * static_cast<size_t>(size.width) + static_cast<size_t>(box.left)) * 3;
    std::copy_n(image.pixel(0, y), static_cast<size_t>(image.width) * 3, out.rgb.data() + at);
  }
  return out;
}

void crop_view(PreparedView& view, const PictureBox& box) {
  view.image = cropped(view.image, box);
  view.transform.offset_x += view.transform.scale_x * box.left;
  view.transform.offset_y += view.transform.scale_y * box.top;
}

void pad_view(PreparedView& view, PictureSize size) {
  const PictureBox box = centred_box(view.image, size);
  view.image = centred(view.image, size, kWhite);
  view.transform.offset_x -= view.transform.scale_x * box.left;
  view.transform.offset_y -= view.transform.scale_y * box.top;
}

}  // namespace pointmap
