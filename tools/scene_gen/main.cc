// scene_gen: training pairs as a stream, or complete test scenes in folders. See README.md.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <string>

#include "base/error.h"
#include "stream.h"

namespace {

using pointmap::scene_gen::PairOptions;
using pointmap::scene_gen::StreamOptions;
using pointmap::scene_gen::Surroundings;

struct Arguments {
  StreamOptions stream;
  std::string kind, kernel;
};

void add_shared_options(CLI::App& command, Arguments& arguments) {
  StreamOptions& stream = arguments.stream;
  command.add_option("--seed", stream.pair.seed, "training uses 1, the held-out set 2")->capture_default_str();
  command.add_option("--first", stream.first, "index of the first pair")->capture_default_str();
  command.add_option("--width", stream.pair.width, "pixels")->check(CLI::Range(16, 4096))->capture_default_str();
  command.add_option("--height", stream.pair.height, "pixels")->check(CLI::Range(16, 4096))->capture_default_str();
  command.add_option("--kind", arguments.kind, "room or ground; default: 70 % rooms")->check(CLI::IsMember({"room", "ground"}));
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

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"scene_gen: random scenes with exact geometry"};
  app.require_subcommand(1);
  CLI::App* stream = app.add_subcommand("stream", "pairs to standard output, for the trainer");
  add_shared_options(*stream, arguments);
  stream->add_option("--count", arguments.stream.count, "pairs; 0: until the reader goes away")->capture_default_str();
  stream->add_option("--threads", arguments.stream.num_threads, "rendering threads")->check(CLI::Range(1, 1024))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is how an endless stream ends
  try {
    if (!arguments.kind.empty()) arguments.stream.pair.kind = arguments.kind == "room" ? Surroundings::kRoom : Surroundings::kGround;
    stream_pairs(chosen_kernel(arguments.kernel), arguments.stream, write_to_stdout);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "scene_gen: " << error.what() << "\n";
    return 1;
  }
}
