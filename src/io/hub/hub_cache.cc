#include "io/hub/hub_cache.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "base/error.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at is not there for us
  return fs::exists(path, ignored);
}

ResolvedModel resolve_path(const ModelName& name) {
  if (is_there(name.path)) return {name.path, "", ""};
  std::string known = "demo";
  for (const ShortModelName& known_name : short_model_names()) known.append(", ").append(known_name.name);
  throw Error{kNotFound, "there is no file or folder '" + name.text + "'; models known by name: " + known +
                             "; a repository of the Hugging Face hub is written hf:ORG/NAME"};
}

bool holds_weights(const fs::path& snapshot) {
  return is_there(snapshot / "model.safetensors") || is_there(snapshot / "model.safetensors.index.json");
}

ResolvedModel resolve_hub(const ModelName& name, const HubEnvironment& environment) {
  const CachedRepo repo(environment, name.repo);
  const std::string commit = repo.commit_of(name.revision);
  if (!commit.empty() && holds_weights(repo.snapshot(commit))) return {repo.snapshot(commit), commit, name.license};
  const fs::path looked_for = commit.empty() ? repo.ref(name.revision) : repo.snapshot(commit) / "model.safetensors";
  throw Error{kNotFound, "model '" + name.text + "' (" + name.repo + ", revision " + name.revision + ") is not in the cache: looked for '" +
                             looked_for.string() + "'; to download it, run: pointmap fetch " + name.text};
}

}  // namespace

bool is_commit_hash(std::string_view text) {
  return text.size() == 40 && std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

CachedRepo::CachedRepo(const HubEnvironment& environment, const std::string& repo) {
  if (environment.cache_folder.empty()) throw Error{kNotFound, "no folder for downloaded models: set HF_HOME, HF_HUB_CACHE or HOME"};
  std::string name = "models--" + repo;
  name.replace(name.find('/'), 1, "--");
  folder_ = environment.cache_folder / name;
  locks_folder_ = environment.cache_folder / ".locks" / name;
}

std::string CachedRepo::commit_of(const std::string& revision) const {
  if (is_commit_hash(revision)) return revision;
  std::ifstream file(ref(revision));
  std::string commit;
  constexpr std::streamsize kMaxBytes = 64;  // 40 digits and perhaps a line end
  commit.resize(kMaxBytes);
  file.read(commit.data(), kMaxBytes);
  commit.resize(static_cast<size_t>(file.gcount()));
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r')) commit.pop_back();
  return is_commit_hash(commit) ? commit : "";
}

ResolvedModel resolve_model(const ModelName& name, const HubEnvironment& environment) {
  switch (name.kind) {
    case ModelName::Kind::kPath:
      return resolve_path(name);
    case ModelName::Kind::kHub:
      return resolve_hub(name, environment);
    case ModelName::Kind::kDemo:
      throw Error{kInvalidArgument, "'" + name.text + "' is part of this program and has no files"};
    case ModelName::Kind::kSynthetic:
      break;
  }
  throw Error{kInvalidArgument, "'" + name.text + "' is made from a seed and has no files"};
}

}  // namespace pointmap
