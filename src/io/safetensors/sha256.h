// SHA-256 over pieces, from OpenSSL. Private to this folder.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace pointmap {

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  // 64 lowercase hex digits; call once.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace pointmap
