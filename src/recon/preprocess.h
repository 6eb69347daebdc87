// From a decoded photo to the picture the network sees, and the exact way back to the photo's own pixels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "geometry/view_transform.h"
#include "io/image/decode.h"
#include "io/image/image.h"

namespace pointmap {

enum class Preset {
  kKeep,       // "keep", our default: as kDust3r, but at the size of the model, and a square photo stays square
  kDust3r,     // "dust3r": upstream's loader at size 512, exactly: long side 512, cropped to multiples of 16, squares cropped to 4:3
  kDust3r224,  // "dust3r224": upstream's loader at size 224: short side 224, centred square
  kPad512,     // "pad512": the served variant: centred on a grey (128) square, then bicubic to 512 x 512; nothing is cropped
};

// Throws Error{kInvalidArgument} that lists the names.
Preset preset_from_name(std::string_view name);

// The alpha rule that belongs to the preset: upstream's loaders drop alpha, ours show transparency over white.
DecodeOptions decode_options_for(Preset preset);

// What the model was made for.
struct NetworkSize {
  int long_side = 512;  // of the pictures it was trained on
  int patch = 16;       // both sides of a picture are multiples of it
};

struct PreparedView {
  Image image;                     // both sides multiples of the patch
  ViewTransform transform;         // network pixels to stored pixels; EXIF, scale, crop and padding included
  std::vector<std::string> notes;  // what the user might wonder about, a sentence each
};

// `name` is the file as the user knows it. Only kKeep looks at size.long_side; the others have sizes of their own. Throws
// Error{kUnsupported} for a picture so elongated that nothing is left after cropping to multiples of the patch, Error{kLimitExceeded} when
// padding or scaling it would take more than 256 Mpixel.
PreparedView prepare_view(const DecodedImage& photo, Preset preset, const std::string& name, const NetworkSize& size = {});

// A sentence for the user when a picture of this preset has another size than the model was trained on; empty when it fits.
std::string size_note(Preset preset, const Image& prepared, const NetworkSize& size);

// out: [height, width, 3] float32 in [-1, 1]: (v / 255 - 0.5) / 0.5, each step rounded to float32 as upstream does.
void normalize_rgb(const Image& image, float* out);

}  // namespace pointmap
