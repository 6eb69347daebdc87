// A table of signatures. Kinds that we do not read are listed so that the error can name them.
#include "io/image/sniff.h"

namespace pointmap {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view magic;
  Sniffed result;
};

constexpr Signature kSignatures[] = {
    {"\xFF\xD8\xFF"sv, {FileKind::kJpeg, "JPEG"}},
    {"\x89PNG\r\n\x1A\n"sv, {FileKind::kPng, "PNG"}},
    {"GIF8"sv, {FileKind::kKnownButNotRead, "GIF"}},
    {"BM"sv, {FileKind::kKnownButNotRead, "BMP"}},
    {"II*\0"sv, {FileKind::kKnownButNotRead, "TIFF (or camera raw)"}},
    {"MM\0*"sv, {FileKind::kKnownButNotRead, "TIFF (or camera raw)"}},
    {"\xFF\x0A"sv, {FileKind::kKnownButNotRead, "JPEG XL"}},
    {"\0\0\0\x0CJXL \r\n\x87\n"sv, {FileKind::kKnownButNotRead, "JPEG XL"}},
    {"\0\0\0\x0CjP  \r\n\x87\n"sv, {FileKind::kKnownButNotRead, "JPEG 2000"}},
    {"8BPS"sv, {FileKind::kKnownButNotRead, "Photoshop"}},
    {"%PDF"sv, {FileKind::kKnownButNotRead, "PDF"}},
};

std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// ISO media files (HEIC, AVIF, video) begin with a box "ftyp" that names their brand.
Sniffed sniff_iso_media(std::string_view head) {
  const std::string_view brand = head.substr(8, 4);
  for (const std::string_view heic : {"heic"sv, "heix"sv, "heim"sv, "heis"sv, "hevc"sv, "hevx"sv, "mif1"sv, "msf1"sv}) {
    if (brand == heic) return {FileKind::kHeic, "HEIC"};
  }
  if (brand == "avif"sv || brand == "avis"sv) return {FileKind::kKnownButNotRead, "AVIF"};
  return {FileKind::kKnownButNotRead, "ISO media (video?)"};
}

}  // namespace

Sniffed sniff(std::span<const std::byte> bytes) {
  const std::string_view head = text(bytes.first(bytes.size() < 32 ? bytes.size() : 32));
  for (const Signature& signature : kSignatures) {
    if (head.starts_with(signature.magic)) return signature.result;
  }
  if (head.size() >= 12 && head.starts_with("RIFF"sv) && head.substr(8, 4) == "WEBP"sv) return {FileKind::kWebp, "WebP"};
  if (head.size() >= 12 && head.substr(4, 4) == "ftyp"sv) return sniff_iso_media(head);
  return {};
}

}  // namespace pointmap
