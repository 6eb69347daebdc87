// Two steps, each with its inverse: network <-> oriented is a scale and an offset per axis, oriented <-> stored is one of the
// eight EXIF mirrors and turns.
#include "geometry/view_transform.h"

namespace pointmap {
namespace {

// What EXIF orientation 1..8 does, as three switches applied to an oriented pixel: swap the axes, then mirror in the stored frame.
struct Orientation {
  bool swap_axes;
  bool mirror_u;  // of the stored picture
  bool mirror_v;
};

Orientation orientation_of(int exif_orientation) {
  switch (exif_orientation) {
    case 2:
      return {false, true, false};
    case 3:
      return {false, true, true};
    case 4:
      return {false, false, true};
    case 5:
      return {true, false, false};
    case 6:
      return {true, false, true};
    case 7:
      return {true, true, true};
    case 8:
      return {true, true, false};
    default:
      return {false, false, false};
  }
}

Pixel oriented_from_stored(const ViewTransform& view, Pixel stored) {
  const Orientation turn = orientation_of(view.exif_orientation);
  if (turn.mirror_u) stored.u = (view.stored_width - 1) - stored.u;
  if (turn.mirror_v) stored.v = (view.stored_height - 1) - stored.v;
  return turn.swap_axes ? Pixel{stored.v, stored.u} : stored;
}

}  // namespace

Pixel stored_from_oriented(const ViewTransform& view, Pixel oriented) {
  const Orientation turn = orientation_of(view.exif_orientation);
  Pixel stored = turn.swap_axes ? Pixel{oriented.v, oriented.u} : oriented;
  if (turn.mirror_u) stored.u = (view.stored_width - 1) - stored.u;
  if (turn.mirror_v) stored.v = (view.stored_height - 1) - stored.v;
  return stored;
}

RigidTransform stored_from_oriented_cam(const ViewTransform& view) {
  const Pixel origin = stored_from_oriented(view, {0, 0});
  const Pixel right = stored_from_oriented(view, {1, 0}), down = stored_from_oriented(view, {0, 1});
  return {.rotation = {right.u - origin.u, down.u - origin.u, 0, right.v - origin.v, down.v - origin.v, 0, 0, 0, 1}, .translation = {}};
}

bool is_stored_mirrored(const ViewTransform& view) {
  const std::array<double, 9> turn = stored_from_oriented_cam(view).rotation;
  return turn[0] * turn[4] - turn[1] * turn[3] < 0;
}

Pixel ViewTransform::oriented_from_network(Pixel network) const {
  return {scale_x * (network.u + 0.5) + offset_x - 0.5, scale_y * (network.v + 0.5) + offset_y - 0.5};
}

Pixel ViewTransform::network_from_oriented(Pixel oriented) const {
  return {(oriented.u + 0.5 - offset_x) / scale_x - 0.5, (oriented.v + 0.5 - offset_y) / scale_y - 0.5};
}

Pixel ViewTransform::stored_from_network(Pixel network) const {
  return stored_from_oriented(*this, oriented_from_network(network));
}

Pixel ViewTransform::network_from_stored(Pixel stored) const {
  return network_from_oriented(oriented_from_stored(*this, stored));
}

bool ViewTransform::shows_photo(Pixel network) const {
  const Pixel oriented = oriented_from_network(network);
  return oriented.u >= -0.5 && oriented.u < oriented_width() - 0.5 && oriented.v >= -0.5 && oriented.v < oriented_height() - 0.5;
}

std::vector<uint8_t> photo_mask(const ViewTransform& view) {
  std::vector<uint8_t> mask;
  mask.reserve(static_cast<size_t>(view.network_width) * static_cast<size_t>(view.network_height));
  for (int v = 0; v < view.network_height; ++v) {
    for (int u = 0; u < view.network_width; ++u) {
      mask.push_back(view.shows_photo({static_cast<double>(u), static_cast<double>(v)}) ? 1 : 0);
    }
  }
  return mask;
}

}  // namespace pointmap
