#include "io/hub/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "base/mapped_file.h"

namespace pointmap {
namespace {

constexpr size_t kGitHashDigits = 40;
constexpr size_t kSha256Digits = 64;
constexpr size_t kPieceBytes = size_t{16} << 20;  // between two looks at the cancel flag

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

void update(const Context& context, const void* data, size_t bytes) {
  if (EVP_DigestUpdate(context.get(), data, bytes) != 1) throw Error{kInternal, "OpenSSL cannot hash"};
}

std::string finish(const Context& context) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1) throw Error{kInternal, "OpenSSL cannot hash"};
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

}  // namespace

bool is_content_hash(std::string_view text) {
  return (text.size() == kGitHashDigits || text.size() == kSha256Digits) &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string content_hash_of_file(const std::filesystem::path& path, std::string_view like, const CancelFlag* cancel) {
  const MappedFile file(path);
  const bool is_git = like.size() == kGitHashDigits;
  const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), is_git ? EVP_sha1() : EVP_sha256(), nullptr) != 1) {
    throw Error{kInternal, "OpenSSL cannot hash"};
  }
  if (is_git) {
    const std::string prefix = "blob " + std::to_string(file.bytes().size());
    update(context, prefix.c_str(), prefix.size() + 1);  // with its NUL
  }
  for (std::span<const std::byte> rest = file.bytes(); !rest.empty();) {
    if (cancel != nullptr) cancel->throw_if_requested();
    const std::span<const std::byte> piece = rest.first(std::min(rest.size(), kPieceBytes));
    update(context, piece.data(), piece.size());
    file.drop_pages(piece);
    rest = rest.subspan(piece.size());
  }
  return finish(context);
}

}  // namespace pointmap
