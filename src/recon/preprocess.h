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
  kKeep,       // "keep", our default: long side of the model; see PatchFit for what becomes of the rest. A square photo stays square
  kDust3r,     // "dust3r": upstream DUSt3R's loader at size 512, exactly: long side 512, cropped to multiples of 16, squares cropped to 4:3
  kDust3r224,  // "dust3r224": upstream DUSt3R's loader at size 224: short side 224, centred square
  kPad512,     // "pad512": the served variant: centred on a grey (128) square, then bicubic to 512 x 512; nothing is cropped
  kVggtCrop,   // "vggt_crop": upstream VGGT's loader: 518 wide, the height scaled to a multiple of 14, beyond 518 cropped. EXIF ignored
  kVggtPad,    // "vggt_pad": upstream VGGT's other mode: long side 518, the other to a multiple of 14, centred on white. EXIF ignored
  kPad518,     // "pad518": the served variant of the same: sides rounded in another order, never below 14; EXIF applied
};

// How kKeep makes both sides multiples of the patch.
enum class PatchFit {
  kCrop,   // around the centre: up to a patch of the photo is lost, the scale is the same for both axes. As DUSt3R was trained
  kScale,  // the short side to the nearest multiple: nothing is lost, the scales differ by a few per cent. As VGGT was trained
};

// What the model was made for.
struct NetworkSize {
  int long_side = 512;  // of the pictures it was trained on
  int patch = 16;       // both sides of a picture are multiples of it
  PatchFit fit = PatchFit::kCrop;
};

// Throws Error{kInvalidArgument} that lists the names.
Preset preset_from_name(std::string_view name);

// Throws Error{kInvalidArgument} that lists those that do, when the preset makes pictures for patches of another size.
void require_preset_fits(Preset preset, const NetworkSize& size);

// How files are read for the preset: upstream DUSt3R drops alpha, all others show transparency over white; upstream VGGT ignores EXIF.
// Differs: upstream VGGT does so for RGBA pictures only; hidden colours of palette and grey pictures with transparency show there.
DecodeOptions decode_options_for(Preset preset);

struct PreparedView {
  Image image;                     // both sides multiples of the patch
  ViewTransform transform;         // network pixels to stored pixels; EXIF, scale, crop and padding included
  std::vector<std::string> notes;  // what the user might wonder about, a sentence each
};

// `name` is the file as the user knows it. Only kKeep looks at size.long_side and size.fit; the others have sizes of their own. Throws
// Error{kUnsupported} for a picture so elongated that nothing is left of its short side, Error{kLimitExceeded} when padding or scaling it
// would take more than 256 Mpixel.
PreparedView prepare_view(const DecodedImage& photo, Preset preset, const std::string& name, const NetworkSize& size = {});

// A sentence for the user when a picture of this preset has another size than the model was trained on; empty when it fits.
std::string size_note(Preset preset, const Image& prepared, const NetworkSize& size);

// For networks that want all their pictures in one size: those that are smaller go to the middle of white pictures as wide as the widest
// and as high as the highest, which is upstream VGGT's rule. Nothing is cropped or scaled; the notes say what was done.
void pad_to_one_size(const std::vector<PreparedView*>& views);

// out: [height, width, 3] float32 in [0, 1]: v / 255, as VGGT wants it.
void rgb_to_unit_range(const Image& image, float* out);

// As DUSt3R wants it. out: [height, width, 3] float32 in [-1, 1]: (v / 255 - 0.5) / 0.5, each step rounded to float32 as upstream does.
void normalize_rgb(const Image& image, float* out);

}  // namespace pointmap
