// pointmap view scene.npz: a scene in the browser.
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>

#include "commands.h"
#include "pointmap/export.h"
#include "pointmap/pointmap.h"
#include "run_options.h"

namespace pointmap::cli {
namespace {

struct Arguments {
  std::string npz;
  std::string page;
  double percentile = 0;
  std::string points = "auto";
  bool open = true;
};

// scene.html in a new folder of its own. It stays: nobody knows when the browser has read it.
std::string temporary_page() {
  std::string folder = (std::filesystem::temp_directory_path() / "pointmap-view-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw Error{kIoError, "cannot make the folder '" + folder + "': " + std::strerror(errno)};
  return folder + "/scene.html";
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// The first command of $BROWSER (a list with colons; %s stands for the page), or xdg-open where there is a display; empty when nothing is
// there to show a page.
std::vector<std::string> browser_command(const std::string& page) {
  if (!is_set("BROWSER")) {
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") ? std::vector<std::string>{"xdg-open", page} : std::vector<std::string>{};
  }
  const std::string list = std::getenv("BROWSER");
  std::istringstream words(list.substr(0, list.find(':')));
  std::vector<std::string> command;
  bool has_page = false;
  for (std::string word; words >> word;) {
    if (const size_t place = word.find("%s"); place != std::string::npos) {
      word.replace(place, 2, page);
      has_page = true;
    }
    command.push_back(word);
  }
  if (!has_page && !command.empty()) command.push_back(page);
  return command;
}

// Starts the browser and does not wait for it: it may live for hours. False when it cannot be started.
bool open_in_browser(const std::string& page) {
  std::vector<std::string> command = browser_command(page);
  if (command.empty()) return false;
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // stdout is ours: the path
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0;
}

int run_view(const Arguments& arguments) {
  const Scene scene = read_scene(arguments.npz);
  const std::string page = arguments.page.empty() ? temporary_page() : arguments.page;
  export_page(
      scene, page,
      {.filter = {.percentile = arguments.percentile}, .points = parse_point_source(arguments.points), .generator = generator_name()});
  std::cout << page << std::endl;
  if (arguments.open && !open_in_browser(page)) std::cerr << "no browser found to open it: set BROWSER, or open the file yourself\n";
  return kExitOk;
}

}  // namespace

void add_view(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("view", "A scene in the browser: points to turn, cameras to look through; prints the page's path");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("scene", arguments->npz, "scene.npz, as reconstruct writes it")->required();
  command->add_option("-o,--output", arguments->page, "Write the page to this file; default: a temporary one, which stays");
  add_percentile_option(*command, arguments->percentile);
  add_points_option(*command, arguments->points);
  command->add_flag("!--no-open", arguments->open, "Only write the page");
  command->callback([arguments, &context] { context.run = [arguments] { return run_view(*arguments); }; });
}

}  // namespace pointmap::cli
