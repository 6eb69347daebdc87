// pointmap view from the outside: a page from an archive, shown in whatever browser there is. The page itself is tested in tests/viewer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "program.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ViewCli : public testing::Test {
 protected:
  void SetUp() override {
    write_test_photo(folder_ / "a.png", 96, 64, 1);
    const ProgramResult run = run_program("reconstruct '" + folder_ / "a.png" + "' '" + folder_ / "a.png" +
                                          "' -m demo --formats npz --html --quiet -o '" + folder_ / "out" + "'");
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  // With a browser that leaves a file with its argument.
  ProgramResult view(const std::string& arguments) {
    std::ofstream(folder_ / "browser") << "#!/bin/sh\necho \"$@\" >'" << folder_ / "shown.new"
                                       << "'; mv '" << folder_ / "shown.new"
                                       << "' '" << folder_ / "shown"
                                       << "'\n";
    fs::permissions(folder_ / "browser", fs::perms::owner_all);
    ::setenv("BROWSER", (folder_ / "browser").c_str(), 1);
    ProgramResult result = run_program("view '" + folder_ / "out/scene.npz" + "' " + arguments);
    ::unsetenv("BROWSER");
    return result;
  }
  // What the browser was asked to show, when it was: nobody waits for browsers.
  std::string shown() {
    for (int i = 0; i < 500 && !fs::exists(folder_ / "shown"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return read_file(folder_ / "shown");
  }
  TemporaryFolder folder_;
};

TEST_F(ViewCli, GivesThePageThatReconstructWrites) {
  const ProgramResult result = view("--no-open -o '" + folder_ / "page.html" + "'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, folder_ / "page.html" + "\n");
  const std::string page = read_file(folder_ / "page.html");
  EXPECT_GT(page.size(), 10'000u);
  EXPECT_TRUE(page == read_file(folder_ / "out/scene.html")) << "nothing is lost on the way through the archive";
  EXPECT_FALSE(fs::exists(folder_ / "shown"));
}

TEST_F(ViewCli, ShowsItInTheBrowser) {
  const ProgramResult result = view("");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(shown(), result.out);
  const fs::path page = result.out.substr(0, result.out.find('\n'));
  EXPECT_EQ(page.filename(), "scene.html");
  EXPECT_TRUE(fs::exists(page)) << page;
  fs::remove_all(page.parent_path());
}

TEST_F(ViewCli, NamesAFileThatIsNoScene) {
  const ProgramResult result = run_program("view --no-open '" + folder_ / "a.png" + "'");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("a.png"));
  EXPECT_EQ(run_program("view").exit_code, 2);
}

}  // namespace
}  // namespace pointmap
