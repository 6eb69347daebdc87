// pointmap eval over scenes that scene_gen wrote: the two programs speak the same format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.h"

namespace pointmap {
namespace {

using testing::HasSubstr;

constexpr const char* kTiny = " -m synthetic:dust3r-tiny-linear --preset dust3r224 ";

TEST(EvalCli, MeasuresEveryScene) {
  const TemporaryFolder folder;
  const ProgramResult made =
      run_program("scenes --seed 2 --first 0 --count 2 --width 64 --height 48 --out " + folder.path().string(), POINTMAP_SCENE_GEN);
  ASSERT_EQ(made.exit_code, 0) << made.err;

  const ProgramResult table = run_program("eval " + folder.path().string() + kTiny + "--limit 1 --no-baselines");
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("scene_00000"));
  EXPECT_THAT(table.out, HasSubstr("median of 1 scene "));
  EXPECT_THAT(table.out, testing::Not(HasSubstr("identity pose")));

  const ProgramResult json = run_program("eval " + folder.path().string() + kTiny + "--json --quiet");
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(json.err, "");
  const nlohmann::json result = nlohmann::json::parse(json.out);
  EXPECT_EQ(result.at("num_scenes"), 2);
  EXPECT_EQ(result.at("scenes")[1].at("folder"), "scene_00001");
  // Weights from names know nothing of rooms; what is easy to be better than, they are not.
  EXPECT_GT(result.at("median").at("model").at("abs_rel").get<double>(), 0.05);
  EXPECT_GT(result.at("median").at("identity_pose").at("rotation_deg").get<double>(), 0);
  EXPECT_TRUE(result.at("median").at("mean_pointmap").at("point_error_2").is_number());
  EXPECT_TRUE(result.at("median").at("same_view").at("point_error_2").is_number());

  std::filesystem::remove(folder.path() / "scene_00001/truth.npz");
  const ProgramResult broken = run_program("eval " + folder.path().string() + kTiny);
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.err, HasSubstr("truth.npz"));
  EXPECT_EQ(run_program("eval").exit_code, 2);
}

}  // namespace
}  // namespace pointmap
