// Runs the built program as a user would.
#pragma once

#include <filesystem>
#include <string>

namespace pointmap {

struct ProgramResult {
  int exit_code = -1;
  std::string out;  // stdout
  std::string err;  // stderr
};

// arguments: as typed in a shell after "pointmap". program: another one of the build.
ProgramResult run_program(const std::string& arguments, const std::string& program = POINTMAP_PROGRAM);

// An empty folder of this test's own, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);

// Writes a PNG of a smooth pattern; other seeds give other pictures.
void write_test_photo(const std::filesystem::path& path, int width, int height, int seed);

}  // namespace pointmap
