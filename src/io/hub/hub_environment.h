// The settings of the Hugging Face hub that users have in their environment, read once at the edge and passed in.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace pointmap {

struct HubEnvironment {
  std::filesystem::path cache_folder;               // HF_HUB_CACHE; else HF_HOME/hub; else XDG_CACHE_HOME or HOME/.cache, /huggingface/hub
  std::string endpoint = "https://huggingface.co";  // HF_ENDPOINT, no slash at the end
  std::string token;                                // HF_TOKEN; empty is none. Goes to the endpoint only, never into a message
  bool offline = false;                             // HF_HUB_OFFLINE: 1, on, yes or true

  // The value of a variable, or nothing when it is not set.
  using Lookup = std::function<std::optional<std::string>(const char* name)>;
  static HubEnvironment from_variables(const Lookup& lookup);
  static HubEnvironment from_process_env();
};

}  // namespace pointmap
