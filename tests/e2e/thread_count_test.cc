// Same input, same bits, whatever the number of threads: the promise, kept by the whole program.
#include <gtest/gtest.h>

#include <string>

#include "program.h"

namespace pointmap {
namespace {

TEST(ThreadCount, DoesNotChangeABitOfTheScene) {
  const TemporaryFolder folder;
  write_test_photo(folder.path() / "left.png", 64, 48, 0);
  write_test_photo(folder.path() / "right.png", 64, 48, 1);
  const std::string pair = "reconstruct " + (folder / "left.png") + " " + (folder / "right.png") +
                           " -m synthetic:dust3r-tiny --preset dust3r224 --raw --formats npz -o ";
  ASSERT_EQ(run_program(pair + (folder / "one") + " --threads 1").exit_code, 0);
  for (const char* threads : {"2", "3", "7"}) {
    ASSERT_EQ(run_program(pair + (folder / "more") + " --threads " + threads).exit_code, 0);
    const ProgramResult compared = run_program("compare --equal " + (folder / "one/scene.npz") + " " + (folder / "more/scene.npz"));
    EXPECT_EQ(compared.exit_code, 0) << threads << " threads\n" << compared.out;
  }
}

}  // namespace
}  // namespace pointmap
