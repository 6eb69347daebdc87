// What a user may type where a model is wanted.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace pointmap {

struct ModelName {
  enum class Kind {
    kPath,       // a file or folder on this machine
    kHub,        // a repository on the Hugging Face hub or a mirror
    kDemo,       // "demo": part of this library, resolved elsewhere
    kSynthetic,  // "synthetic:...": weights made from a seed, resolved elsewhere
  };
  Kind kind = Kind::kPath;
  std::string text;            // as typed
  std::filesystem::path path;  // kPath
  std::string repo;            // kHub: "naver/DUSt3R_ViTLarge_BaseDecoder_512_dpt"
  std::string revision;        // kHub: branch, tag or commit; "main" unless typed
  std::string license;         // of the weights, to be printed when they are loaded; empty when we do not know it
};

struct ShortModelName {
  std::string_view name;  // "dust3r"
  std::string_view repo;
  std::string_view license;
};

// The short names we know, for help texts.
std::span<const ShortModelName> short_model_names();

// `hf:ORG/NAME[@REV]`, `SHORT[@REV]`, `demo`, `synthetic:...`; everything else is a path (write ./demo for a folder of that name).
// Whether the model exists is not looked at. Throws Error{kInvalidArgument} naming the text for an empty or malformed name.
ModelName parse_model_name(std::string_view text);

}  // namespace pointmap
