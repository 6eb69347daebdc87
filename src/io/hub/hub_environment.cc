#include "io/hub/hub_environment.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace pointmap {
namespace {

namespace fs = std::filesystem;

bool means_yes(std::string value) {
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return value == "1" || value == "on" || value == "yes" || value == "true";
}

}  // namespace

HubEnvironment HubEnvironment::from_variables(const Lookup& lookup) {
  const auto get = [&](const char* name) { return lookup(name).value_or(""); };  // set but empty counts as not set
  const fs::path home = get("HOME");
  // "~/models" arrives unexpanded when a variable comes from a file instead of a shell.
  const auto get_path = [&](const char* name) {
    const std::string value = get(name);
    return value.starts_with("~/") && !home.empty() ? home / value.substr(2) : fs::path(value);
  };
  const auto first_of = [](std::initializer_list<fs::path> paths) {
    const auto* found = std::ranges::find_if(paths, [](const fs::path& path) { return !path.empty(); });
    return found == paths.end() ? fs::path() : *found;
  };
  const auto under = [](const fs::path& folder, const char* name) { return folder.empty() ? fs::path() : folder / name; };

  const fs::path caches = first_of({get_path("XDG_CACHE_HOME"), under(home, ".cache")});
  const fs::path hf_home = first_of({get_path("HF_HOME"), under(caches, "huggingface")});
  HubEnvironment environment;
  environment.cache_folder = first_of({get_path("HF_HUB_CACHE"), get_path("HUGGINGFACE_HUB_CACHE"), under(hf_home, "hub")});
  if (const std::string endpoint = get("HF_ENDPOINT"); !endpoint.empty()) environment.endpoint = endpoint;
  while (environment.endpoint.ends_with('/')) environment.endpoint.pop_back();
  environment.token = get("HF_TOKEN");
  environment.offline = means_yes(get("HF_HUB_OFFLINE"));
  return environment;
}

HubEnvironment HubEnvironment::from_process_env() {
  return from_variables([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace pointmap
