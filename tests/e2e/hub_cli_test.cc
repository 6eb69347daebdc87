// From a hub to a point cloud, as a user does it: fetch, then reconstruct without a network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/hub/hub_testing.h"
#include "program.h"
#include "tiny_checkpoint.h"

namespace pointmap {
namespace {

using testing::HasSubstr;

TEST(HubCli, FetchesAModelAndRunsItOffline) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / "model.safetensors", tiny_tensors());
  write_test_photo(folder.path() / "left.png", 64, 48, 0);
  write_test_photo(folder.path() / "right.png", 64, 48, 1);
  FakeHub hub;
  hub.files["config.json"] = {.contents = kTinyConfig};
  hub.files["model.safetensors"] = {.contents = read_file(folder.path() / "model.safetensors"), .large = true, .break_after = {1'000'000}};
  const std::string environment = "HF_HUB_CACHE='" + (folder / "cache") + "' HF_ENDPOINT=" + hub.url() + " no_proxy='*' ";
  const std::string program = std::string("'") + POINTMAP_PROGRAM + "' ";
  const std::string pair = "reconstruct " + (folder / "left.png") + " " + (folder / "right.png") + " --preset dust3r224 --formats npz ";

  const ProgramResult absent =
      run_program(environment + "HF_HUB_OFFLINE=1 " + program + pair + "-m hf:org/name -o " + (folder / "a"), "env");
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.err, HasSubstr("pointmap fetch hf:org/name"));

  // The first download of the weights breaks off after a megabyte and goes on from there.
  const ProgramResult fetched = run_program(environment + program + "fetch hf:org/name", "env");
  ASSERT_EQ(fetched.exit_code, 0) << fetched.err;
  EXPECT_THAT(fetched.out, HasSubstr(kTestCommit));
  EXPECT_EQ(hub.seen("GET", "model.safetensors").back().range, "bytes=1000000-");
  hub.stop();

  const ProgramResult run = run_program(environment + "HF_HUB_OFFLINE=1 " + program + pair + "-m hf:org/name -o " + (folder / "b"), "env");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run_program(pair + "-m synthetic:dust3r-tiny -o " + (folder / "c")).exit_code, 0);
  EXPECT_EQ(run_program("compare --equal " + (folder / "b/scene.npz") + " " + (folder / "c/scene.npz")).exit_code, 0);
}

}  // namespace
}  // namespace pointmap
