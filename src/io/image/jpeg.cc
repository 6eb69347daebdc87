// JPEG through libjpeg-turbo: baseline and progressive, grey, YCbCr, RGB, CMYK and YCCK. The decoder's defaults (accurate DCT, fancy
// upsampling) are kept, since upstream's loader has them too. Error and warning handling is the greater part of this file.
// clang-format off
#include <cstdio>  // jpeglib.h needs FILE and does not say so
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "base/error.h"
#include "io/image/codecs.h"
#include "io/image/exif.h"

namespace pointmap::codec {
namespace {

// A hostile progressive file can ask for thousands of passes over a large picture. Real ones have about ten.
constexpr int kMaxScans = 100;

ErrorCode error_code_of(int jpeg_message) {
  switch (jpeg_message) {
    case JERR_OUT_OF_MEMORY:
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
      return kLimitExceeded;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
      return kUnsupported;
    default:
      return kCorruptData;
  }
}

// Warnings after which the decoder would go on with invented pixels: truncation and broken entropy-coded data. Not among them: odd
// but harmless headers and stray bytes between markers.
bool pixels_were_lost(int jpeg_message) {
  switch (jpeg_message) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_NOT_SEQUENTIAL:
      return true;
    default:
      return false;
  }
}

// libjpeg reports errors by longjmp out of its own frames. The rule that makes this safe: only guarded() calls libjpeg functions that
// can fail, and what it runs has no objects with destructors of its own. Throwing happens afterwards, in ordinary C++.
class JpegDecoder {
 public:
  JpegDecoder() {
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = [](j_common_ptr info) { leave(info); };
    errors_.base.emit_message = [](j_common_ptr info, int level) {
      if (level < 0 && pixels_were_lost(info->err->msg_code)) leave(info);
    };
    progress_.progress_monitor = [](j_common_ptr info) {
      auto* decoder = reinterpret_cast<j_decompress_ptr>(info);
      if (decoder->input_scan_number > kMaxScans) {
        info->err->msg_code = kTooManyScans;
        leave(info);
      }
    };
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // Runs `step`; throws Error naming the file if libjpeg gave up inside it.
  template <typename Step>
  void guarded(const Source& source, Step step) {
    if (!survives(step)) throw_error(source);
  }

  jpeg_decompress_struct& info() { return info_; }
  jpeg_progress_mgr& progress() { return progress_; }

 private:
  static constexpr int kTooManyScans = JMSG_LASTMSGCODE + 1;

  struct Errors {
    jpeg_error_mgr base;  // first, so that info->err is also an Errors*
    jmp_buf jump;
  };

  [[noreturn]] static void leave(j_common_ptr info) { std::longjmp(reinterpret_cast<Errors*>(info->err)->jump, 1); }

  template <typename Step>
  bool survives(Step& step) {
    if (setjmp(errors_.jump) != 0) return false;
    step();
    return true;
  }

  [[noreturn]] void throw_error(const Source& source) {
    if (errors_.base.msg_code == kTooManyScans) {
      throw Error{kLimitExceeded, source.name + ": JPEG with more than " + std::to_string(kMaxScans) + " scans"};
    }
    char message[JMSG_LENGTH_MAX] = {};
    errors_.base.format_message(reinterpret_cast<j_common_ptr>(&info_), message);
    throw Error{error_code_of(errors_.base.msg_code), source.name + ": broken or truncated JPEG: " + message};
  }

  jpeg_decompress_struct info_{};
  Errors errors_{};
  jpeg_progress_mgr progress_{};
};

int orientation_of(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* marker = info.marker_list; marker != nullptr; marker = marker->next) {
    const std::span<const std::byte> data(reinterpret_cast<const std::byte*>(marker->data), marker->data_length);
    if (data.size() >= 6 && std::memcmp(data.data(), "Exif\0\0", 6) == 0) return exif_orientation(data);
  }
  return 1;
}

// Huffman coding spends at least one bit on each 8 x 8 block, so a small file cannot hold a large picture: spares us the memory.
void refuse_if_too_short(const Source& source, const jpeg_decompress_struct& info) {
  const uint64_t blocks = uint64_t{info.image_width} * info.image_height / 64;
  if (info.arith_code == 0 && blocks / 8 > source.bytes.size()) {
    throw Error{kCorruptData, source.name + ": truncated JPEG: " + std::to_string(source.bytes.size()) + " bytes cannot hold " +
                                  std::to_string(info.image_width) + " x " + std::to_string(info.image_height) + " pixels"};
  }
}

// One row, in place from the front of `row` (4 samples a pixel) to `rgb`. Adobe's convention, as Pillow takes for every CMYK JPEG:
// samples are inverted, 255 = no ink. Integer arithmetic of Pillow's CMYK to RGB conversion.
void rgb_from_inverted_cmyk(const uint8_t* row, int width, uint8_t* rgb) {
  for (int x = 0; x < width; ++x, row += 4, rgb += 3) {
    const int not_black = row[3];
    for (int c = 0; c < 3; ++c) {
      const int ink = 255 - row[c];
      const int product = ink * not_black + 128;
      rgb[c] = static_cast<uint8_t>(std::clamp(not_black - ((product + (product >> 8)) >> 8), 0, 255));
    }
  }
}

}  // namespace

Picture decode_jpeg(const Source& source) {
  Picture picture;
  std::vector<uint8_t> cmyk_row;
  JpegDecoder decoder;
  jpeg_decompress_struct& info = decoder.info();
  decoder.guarded(source, [&] {
    jpeg_create_decompress(&info);
    info.progress = &decoder.progress();
    jpeg_mem_src(&info, source.data(), static_cast<unsigned long>(source.bytes.size()));
    jpeg_save_markers(&info, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&info, TRUE);
  });
  check_size(source, info.image_width, info.image_height);
  refuse_if_too_short(source, info);
  picture = blank_picture(info.image_width, info.image_height, 3);
  picture.exif_orientation = orientation_of(info);

  const bool cmyk = info.num_components == 4;
  info.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  if (cmyk) cmyk_row.resize(static_cast<size_t>(picture.width) * 4);
  decoder.guarded(source, [&] {
    jpeg_start_decompress(&info);
    const size_t row_bytes = static_cast<size_t>(info.output_width) * 3;
    while (info.output_scanline < info.output_height) {
      uint8_t* rgb = picture.samples.data() + info.output_scanline * row_bytes;
      JSAMPROW row = cmyk ? cmyk_row.data() : rgb;
      jpeg_read_scanlines(&info, &row, 1);
      if (cmyk) rgb_from_inverted_cmyk(row, picture.width, rgb);
    }
    jpeg_finish_decompress(&info);  // reads up to the end marker: a file cut within its last bytes is truncated too
  });
  return picture;
}

}  // namespace pointmap::codec
