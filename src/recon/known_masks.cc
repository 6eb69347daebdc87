#include "recon/known_masks.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace pointmap {
namespace {

// Whether and how the mask's pixels are the photo's.
enum class Layout { kOriented, kStored, kNeither };

struct Fit {
  Layout layout = Layout::kNeither;
  bool is_guess = false;  // both would do, and they differ
};

Fit fit_of(const DecodedImage& mask, const ViewTransform& t) {
  const auto has_size = [&](int width, int height) { return mask.image.width == width && mask.image.height == height; };
  const bool fits_oriented = has_size(t.oriented_width(), t.oriented_height());
  const bool fits_stored = has_size(t.stored_width, t.stored_height) && mask.exif_orientation == 1;
  if (fits_oriented) return {Layout::kOriented, fits_stored && t.exif_orientation != 1};
  return {fits_stored ? Layout::kStored : Layout::kNeither, false};
}

std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

}  // namespace

NetworkMask read_mask(const Photo& mask, const std::string& photo, const ViewTransform& t, const DecodeOptions& options) {
  DecodeOptions mask_options = options;
  mask_options.alpha = AlphaRule::kDrop;  // a transparent pixel is as black as its colour
  const DecodedImage decoded = mask.bytes.empty() ? read_image(mask.name, mask_options) : decode_image(mask.bytes, mask.name, mask_options);
  const Image& image = decoded.image;
  const Fit fit = fit_of(decoded, t);
  POINTMAP_CHECK(fit.layout != Layout::kNeither, "mask '" + mask.name + "' has " + size_text(image.width, image.height) + " pixels, want " +
                                                     size_text(t.oriented_width(), t.oriented_height()) + " as photo '" + photo + "'" +
                                                     (t.exif_orientation >= 5 ? ", or as it is stored" : ""));
  NetworkMask result;
  result.values.reserve(static_cast<size_t>(t.network_width) * static_cast<size_t>(t.network_height));
  for (int v = 0; v < t.network_height; ++v) {
    for (int u = 0; u < t.network_width; ++u) {
      const Pixel network{static_cast<double>(u), static_cast<double>(v)};
      // Rounded as seen, so that a mask says the same however it is stored.
      const Pixel exact = t.oriented_from_network(network);
      Pixel place{std::clamp(std::round(exact.u), 0.0, t.oriented_width() - 1.0),
                  std::clamp(std::round(exact.v), 0.0, t.oriented_height() - 1.0)};
      if (fit.layout == Layout::kStored) place = stored_from_oriented(t, place);
      const uint8_t* rgb = image.pixel(static_cast<int>(place.u), static_cast<int>(place.v));
      result.values.push_back(t.shows_photo(network) && (rgb[0] | rgb[1] | rgb[2]) != 0 ? 1 : 0);
    }
  }
  POINTMAP_CHECK(std::ranges::count(result.values, 1) > 0, "mask '" + mask.name + "' leaves nothing of photo '" + photo + "': it is black");
  if (fit.is_guess)
    result.note = "mask '" + mask.name + "' was taken to be turned as photo '" + photo +
                  "' is seen, not as it is stored (EXIF orientation " + std::to_string(t.exif_orientation) + ")";
  return result;
}

}  // namespace pointmap
