#include "io/hub/model_name.h"

#include <algorithm>

#include "base/check.h"

namespace pointmap {
namespace {

constexpr std::string_view kDust3rLicense = "CC BY-NC-SA 4.0, non-commercial";
constexpr ShortModelName kShortNames[] = {
    {"dust3r", "naver/DUSt3R_ViTLarge_BaseDecoder_512_dpt", kDust3rLicense},
    {"dust3r-linear", "naver/DUSt3R_ViTLarge_BaseDecoder_512_linear", kDust3rLicense},
    {"dust3r-224", "naver/DUSt3R_ViTLarge_BaseDecoder_224_linear", kDust3rLicense},
    {"vggt", "facebook/VGGT-1B", "non-commercial, CC BY-NC 4.0 as far as we know"},
    {"vggt-commercial", "facebook/VGGT-1B-Commercial", "VGGT License v1: commercial use allowed, some uses (military among them) not"},
};
constexpr size_t kMaxNameBytes = 96;  // the hub's own limit for ORG and NAME
constexpr size_t kMaxRevisionBytes = 200;

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

// Names become folder names and parts of a URL: no empty part, no "..", nothing hidden, and no "--", which the cache uses as separator.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, is_word_char) && name.front() != '.' &&
         name.front() != '-' && name.find("..") == std::string_view::npos && name.find("--") == std::string_view::npos;
}

// A revision may have several parts (refs/pr/1), each a plain word.
bool is_revision(std::string_view revision) {
  if (revision.size() > kMaxRevisionBytes) return false;
  while (true) {
    const size_t slash = revision.find('/');
    const std::string_view part = revision.substr(0, slash);
    if (part.empty() || part.front() == '.' || part.front() == '-' || !std::ranges::all_of(part, is_word_char)) return false;
    if (slash == std::string_view::npos) return true;
    revision.remove_prefix(slash + 1);
  }
}

std::string_view license_of(std::string_view repo) {
  const auto* known = std::ranges::find(kShortNames, repo, &ShortModelName::repo);
  return known == std::end(kShortNames) ? std::string_view() : known->license;
}

}  // namespace

std::span<const ShortModelName> short_model_names() {
  return kShortNames;
}

ModelName parse_model_name(std::string_view text) {
  POINTMAP_CHECK(!text.empty(), "the name of the model is empty");
  ModelName name;
  name.text = text;
  if (text.starts_with("synthetic:")) {
    name.kind = ModelName::Kind::kSynthetic;
    return name;
  }
  if (text == "demo") {
    name.kind = ModelName::Kind::kDemo;
    name.license = "Apache-2.0";  // trained by us, on scenes of ours
    return name;
  }
  const size_t at = text.rfind('@');
  const std::string_view before_at = text.substr(0, at);
  const auto* short_name = std::ranges::find(kShortNames, before_at, &ShortModelName::name);
  const bool is_short = short_name != std::end(kShortNames);
  if (!is_short && !text.starts_with("hf:")) {
    name.path = text;
    return name;
  }
  const std::string_view repo = is_short ? short_name->repo : before_at.substr(3);
  const size_t slash = repo.find('/');
  POINTMAP_CHECK(slash != std::string_view::npos && is_plain_name(repo.substr(0, slash)) && is_plain_name(repo.substr(slash + 1)),
                 "'" + name.text + "' does not name a repository, wanted hf:ORG/NAME or hf:ORG/NAME@REVISION");
  const std::string_view revision = at == std::string_view::npos ? "main" : text.substr(at + 1);
  POINTMAP_CHECK(is_revision(revision), "'" + name.text + "' has a malformed revision after '@'");
  name.kind = ModelName::Kind::kHub;
  name.repo = repo;
  name.revision = revision;
  name.license = license_of(repo);
  return name;
}

}  // namespace pointmap
