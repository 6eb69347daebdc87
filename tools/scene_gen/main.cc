// scene_gen: training pairs as a stream, or complete test scenes in folders. See README.md.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <string>

#include "base/error.h"
#include "scene_folder.h"
#include "stream.h"

namespace {

using pointmap::scene_gen::PairOptions;
using pointmap::scene_gen::SceneFolderOptions;
using pointmap::scene_gen::StreamOptions;
using pointmap::scene_gen::Surroundings;

struct Arguments {
  PairOptions pair;
  uint64_t first = 0, count = 0;
  size_t num_threads = 1;
  std::string kind, kernel, out;
};

void add_shared_options(CLI::App& command, Arguments& arguments) {
  command.add_option("--seed", arguments.pair.seed, "training uses 1, the held-out set 2")->capture_default_str();
  command.add_option("--first", arguments.first, "index of the first pair")->capture_default_str();
  command.add_option("--width", arguments.pair.width, "pixels")->check(CLI::Range(16, 4096))->capture_default_str();
  command.add_option("--height", arguments.pair.height, "pixels")->check(CLI::Range(16, 4096))->capture_default_str();
  command.add_option("--kind", arguments.kind, "room or ground; default: 70 % rooms")->check(CLI::IsMember({"room", "ground"}));
  command.add_option("--threads", arguments.num_threads, "rendering threads")->check(CLI::Range(1, 1024))->capture_default_str();
  command.add_option("--kernel", arguments.kernel, "baseline, avx2 or avx512; default: the fastest here. All give the same bytes")
      ->check(CLI::IsMember({"baseline", "avx2", "avx512"}));
}

// False when the reader closed the pipe.
bool write_to_stdout(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR) {
      throw pointmap::system_error("cannot write to standard output", errno);
    }
  }
  return true;
}

const pointmap::scene_gen::Kernel& chosen_kernel(const std::string& name) {
  if (name.empty()) return pointmap::scene_gen::best_kernel();
  const auto* kernel = pointmap::scene_gen::kernel_named(name.c_str());
  if (kernel == nullptr) throw pointmap::Error{pointmap::kUnsupported, "this processor cannot run the kernel '" + name + "'"};
  return *kernel;
}

void run(const Arguments& arguments, bool to_folders) {
  const auto& kernel = chosen_kernel(arguments.kernel);
  PairOptions pair = arguments.pair;
  if (!arguments.kind.empty()) pair.kind = arguments.kind == "room" ? Surroundings::kRoom : Surroundings::kGround;
  if (to_folders) {
    write_scene_folders(kernel, SceneFolderOptions{pair, arguments.first, arguments.count, arguments.out, arguments.num_threads});
  } else {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is how an endless stream ends
    stream_pairs(kernel, StreamOptions{pair, arguments.first, arguments.count, arguments.num_threads}, write_to_stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"scene_gen: random scenes with exact geometry"};
  app.require_subcommand(1);
  Arguments for_stream;
  CLI::App* stream = app.add_subcommand("stream", "pairs to standard output, for the trainer");
  add_shared_options(*stream, for_stream);
  stream->add_option("--count", for_stream.count, "pairs; 0: until the reader goes away")->capture_default_str();
  Arguments for_scenes;
  for_scenes.count = 1;
  for_scenes.pair.seed = 2;
  for_scenes.pair.width = 512;
  for_scenes.pair.height = 384;
  CLI::App* scenes = app.add_subcommand("scenes", "complete test scenes, one folder each");
  add_shared_options(*scenes, for_scenes);
  scenes->add_option("--count", for_scenes.count, "scenes")->check(CLI::Range(1, 1000000))->capture_default_str();
  scenes->add_option("--out", for_scenes.out, "folder for scene_00000 and so on")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    run(scenes->parsed() ? for_scenes : for_stream, scenes->parsed());
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "scene_gen: " << error.what() << "\n";
    return 1;
  }
}
