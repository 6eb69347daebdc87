// JPEG fixtures through libjpeg-turbo's encoder.
// clang-format off
#include <cstdio>  // jpeglib.h needs FILE and does not say so
#include <jpeglib.h>
// clang-format on

#include <cstdlib>

#include "io/image/fixtures_testing.h"

namespace pointmap::fixtures {
namespace {

J_COLOR_SPACE input_space(JpegColor color) {
  switch (color) {
    case JpegColor::kGrey:
      return JCS_GRAYSCALE;
    case JpegColor::kCmyk:
    case JpegColor::kYcck:
      return JCS_CMYK;
    case JpegColor::kTwoComponents:
      return JCS_UNKNOWN;
    default:
      return JCS_RGB;
  }
}

int components(JpegColor color) {
  switch (input_space(color)) {
    case JCS_GRAYSCALE:
      return 1;
    case JCS_CMYK:
      return 4;
    case JCS_UNKNOWN:
      return 2;
    default:
      return 3;
  }
}

void configure(jpeg_compress_struct& info, const JpegSpec& spec) {
  info.input_components = components(spec.color);
  info.in_color_space = input_space(spec.color);
  jpeg_set_defaults(&info);
  if (spec.color == JpegColor::kRgb) jpeg_set_colorspace(&info, JCS_RGB);
  if (spec.color == JpegColor::kYcck) jpeg_set_colorspace(&info, JCS_YCCK);
  jpeg_set_quality(&info, 100, TRUE);
  for (int i = 0; i < info.num_components; ++i) info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
  if (spec.half_chroma) info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 2;
  if (spec.progressive) jpeg_simple_progression(&info);
  if (!spec.adobe_marker) info.write_Adobe_marker = FALSE;
  info.restart_interval = static_cast<unsigned>(spec.restart_interval);
  if (!spec.tables) jpeg_suppress_tables(&info, TRUE);
}

}  // namespace

Bytes make_jpeg(const std::vector<uint8_t>& samples, int width, int height, const JpegSpec& spec) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);  // prints and exits: a fixture that cannot be made is a bug of the test
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long buffer_bytes = 0;
  jpeg_mem_dest(&info, &buffer, &buffer_bytes);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  configure(info, spec);
  jpeg_start_compress(&info, spec.tables ? TRUE : FALSE);
  if (!spec.app1.empty()) {
    jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(spec.app1.data()), static_cast<unsigned>(spec.app1.size()));
  }
  std::vector<uint8_t> row(static_cast<size_t>(width) * static_cast<size_t>(info.input_components));
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    row.assign(samples.begin() + static_cast<ptrdiff_t>(y * row.size()), samples.begin() + static_cast<ptrdiff_t>((y + 1) * row.size()));
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const auto* begin = reinterpret_cast<const std::byte*>(buffer);
  Bytes jpeg(begin, begin + buffer_bytes);
  std::free(buffer);
  return jpeg;
}

Bytes make_jpeg(const Image& image, const JpegSpec& spec) {
  return make_jpeg(image.rgb, image.width, image.height, spec);
}

}  // namespace pointmap::fixtures
