#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/atomic_file.h"
#include "io/image/png_encode.h"

namespace pointmap {

namespace fs = std::filesystem;

ProgramResult run_program(const std::string& arguments, const std::string& program) {
  const TemporaryFolder folder;
  const std::string command = "'" + program + "' " + arguments + " >'" + (folder / "out") + "' 2>'" + (folder / "err") + "' </dev/null";
  const int status = std::system(command.c_str());
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .out = read_file(folder / "out"), .err = read_file(folder / "err")};
}

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> counter{0};
  path_ = fs::temp_directory_path() / ("pointmap_e2e_" + std::to_string(::getpid()) + "_" + std::to_string(counter.fetch_add(1)));
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void write_test_photo(const fs::path& path, int width, int height, int seed) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) image.rgb.push_back(static_cast<uint8_t>((x * (2 + c) + y * 3 + seed * 41) & 255));
    }
  }
  const std::vector<std::byte> png = encode_png8(image);
  AtomicFile file(path);
  file.write({reinterpret_cast<const char*>(png.data()), png.size()});
  file.commit();
}

}  // namespace pointmap
