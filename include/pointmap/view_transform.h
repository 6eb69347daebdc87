// The exact way from a pixel of the network's input back to the pixel of the file it came from.
#pragma once

namespace pointmap {

struct Pixel {
  double u = 0;  // column, pixel centres at integers, (0, 0) = centre of the top-left pixel
  double v = 0;  // row
};

// stored: the pixels as the file holds them; oriented: after EXIF orientation, as a person sees them; network: after scaling,
// cropping and padding. With half-pixel centres: oriented + 0.5 = scale * (network + 0.5) + offset.
struct ViewTransform {
  int exif_orientation = 1;  // 1..8
  int stored_width = 0;
  int stored_height = 0;
  double scale_x = 1;  // oriented pixels per network pixel
  double scale_y = 1;
  double offset_x = 0;  // oriented position of the network image's left edge: positive when cropped, negative when padded
  double offset_y = 0;
  int network_width = 0;
  int network_height = 0;

  int oriented_width() const { return exif_orientation >= 5 ? stored_height : stored_width; }
  int oriented_height() const { return exif_orientation >= 5 ? stored_width : stored_height; }

  Pixel oriented_from_network(Pixel network) const;
  Pixel network_from_oriented(Pixel oriented) const;
  Pixel stored_from_network(Pixel network) const;
  Pixel network_from_stored(Pixel stored) const;
  // False in the padding: the network saw no photo there.
  bool shows_photo(Pixel network) const;
};

}  // namespace pointmap
