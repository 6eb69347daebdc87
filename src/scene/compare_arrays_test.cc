// Pairing of arrays, thresholds and reports, on archives written here and on the golden files.
#include "scene/compare_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "io/npz/npz_writer.h"
#include "scene/compare_report.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CompareNpz : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  struct Entry {
    std::string name;
    Shape shape;
    std::vector<float> values;
  };
  NpzFile file(const std::string& name, const std::vector<Entry>& entries, const std::string& meta_json = "") {
    NpzWriter writer(folder_ / name);
    for (const Entry& entry : entries) writer.add(entry.name, TensorView(entry.values.data(), DType::kF32, entry.shape));
    if (!meta_json.empty()) writer.add_text("meta_json", meta_json);
    writer.finish();
    return NpzFile::read(folder_ / name);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("pointmap_compare_" + std::to_string(::getpid()));
};

const ArrayComparison& named(const std::vector<ArrayComparison>& comparisons, const std::string& name) {
  for (const ArrayComparison& comparison : comparisons) {
    if (comparison.name == name) return comparison;
  }
  throw Error{kNotFound, "no comparison of " + name};
}

TEST_F(CompareNpz, PairsSpellingsAndLeadingOnes) {
  const NpzFile ours = file("ours.npz", {{"raw_1", {4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}, {"pts3d_1", {1, 3}, {1, 2, 3}}});
  const NpzFile golden = file("golden.npz", {{"raw1", {1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 9}}, {"pts3d_1", {1, 1, 3}, {1, 2, 4}}});
  const auto comparisons = compare_npz(ours, golden);
  ASSERT_EQ(comparisons.size(), 2u);
  const ArrayComparison& raw = named(comparisons, "raw_1");
  EXPECT_EQ(raw.max_abs_diff, 1);
  EXPECT_EQ(raw.note, "B: raw1");
  EXPECT_TRUE(std::isnan(raw.median_abs_dz_over_z));
  EXPECT_EQ(named(comparisons, "pts3d_1").median_abs_dz_over_z, 0.25);  // B is the reference
}

TEST_F(CompareNpz, ShapesThatDifferFailWhateverTheThresholds) {
  const auto comparisons =
      compare_npz(file("a.npz", {{"x", {2, 3}, std::vector<float>(6)}}), file("b.npz", {{"x", {3, 2}, std::vector<float>(6)}}));
  EXPECT_EQ(comparisons[0].outcome, CompareOutcome::kShapesDiffer);
  EXPECT_THAT(comparisons[0].note, HasSubstr("[2, 3] and [3, 2]"));
  EXPECT_FALSE(within(comparisons[0], {.min_pcc = -1}));
}

TEST_F(CompareNpz, ListsArraysInOneFileOnly) {
  const NpzFile a = file("a.npz", {{"both", {1}, {1}}, {"mine", {1}, {1}}});
  const NpzFile b = file("b.npz", {{"both", {1}, {1}}, {"yours", {1}, {1}}}, "{}");
  const auto comparisons = compare_npz(a, b);
  ASSERT_EQ(comparisons.size(), 3u);  // meta_json is not an array to compare
  EXPECT_EQ(named(comparisons, "mine").outcome, CompareOutcome::kOnlyInA);
  EXPECT_EQ(named(comparisons, "yours").outcome, CompareOutcome::kOnlyInB);
  EXPECT_TRUE(within(comparisons, {}));
  EXPECT_FALSE(within(comparisons, {.must_have_same_arrays = true}));
}

TEST_F(CompareNpz, NothingInCommonIsAnError) {
  const NpzFile a = file("a.npz", {{"mine", {1}, {1}}}, "{}");
  const NpzFile b = file("b.npz", {{"yours", {1}, {1}}}, "{}");
  try {
    compare_npz(a, b);
    FAIL() << "compared files without an array in common";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kNotFound);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("a.npz"), HasSubstr("b.npz")));
  }
}

TEST_F(CompareNpz, ListsWhatCouldNotBeRead) {
  const fs::path testdata = fs::path(POINTMAP_SOURCE_DIR) / "src/io/npz/testdata";
  const auto comparisons = compare_npz(NpzFile::read(testdata / "numpy_stored.npz"), NpzFile::read(testdata / "numpy_deflated.npz"));
  EXPECT_EQ(named(comparisons, "fortran").num_different, 0u);
  EXPECT_THAT(named(comparisons, "text").note, HasSubstr("not read from B: element type <U5"));
}

TEST_F(CompareNpz, OnlyTheNamesAskedFor) {
  const NpzFile a = file("a.npz", {{"raw_1", {1}, {1}}, {"x", {1}, {1}}});
  const NpzFile b = file("b.npz", {{"raw1", {1}, {1}}, {"x", {1}, {2}}});
  const auto comparisons = compare_npz(a, b, {.names = {"raw1"}});
  ASSERT_EQ(comparisons.size(), 1u);
  EXPECT_EQ(comparisons[0].name, "raw_1");
  EXPECT_THROW(compare_npz(a, b, {.names = {"y"}}), Error);
}

TEST_F(CompareNpz, TwoSpellingsInOneFileAreRefused) {
  const NpzFile a = file("a.npz", {{"raw1", {1}, {1}}, {"raw_1", {1}, {1}}});
  EXPECT_THROW(compare_npz(a, a), Error);
}

TEST(GoldenSampleIndex, MatchesThePublishedFormula) {
  // 0x949dcda247f91246 and 0xed9e80e3c6f833ef mod n, worked out in Python from golden/README.md.
  EXPECT_EQ(golden_sample_index("raw1", 0, 1 << 20), 0x91246u);
  EXPECT_EQ(golden_sample_index("raw1", 1, 1 << 20), 0x833EFu);
}

// An array of n values and its samples: value i is i, so that a sample tells which element it was.
std::vector<float> counting(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  return values;
}
std::vector<float> samples_of_counting(const std::string& name, size_t n) {
  std::vector<float> samples(4096);
  for (size_t j = 0; j < samples.size(); ++j) samples[j] = static_cast<float>(golden_sample_index(name, j, n));
  return samples;
}

TEST_F(CompareNpz, ComparesSamplesWithTheFullArrayEitherWay) {
  std::vector<float> off_by_one = counting(9000);
  for (size_t i = 2; i < off_by_one.size(); i += 3) off_by_one[i] += 1;  // depth only
  const NpzFile full = file("full.npz", {{"pts3d_1", {3000, 3}, off_by_one}});
  const NpzFile sampled = file("sampled.npz", {{"sample:pts3d_1", {4096}, samples_of_counting("pts3d_1", 9000)}});
  const auto forth = compare_npz(full, sampled)[0];
  EXPECT_EQ(forth.count, 4096u);
  EXPECT_EQ(forth.max_abs_diff, 1);
  EXPECT_THAT(forth.note, HasSubstr("4096 samples of 9000"));
  EXPECT_GT(forth.median_abs_dz_over_z, 0);
  // A third of the elements are depths; 4096 draws stay within five standard deviations of that.
  EXPECT_NEAR(static_cast<double>(forth.num_different), 4096 / 3.0, 5 * std::sqrt(4096 * 2 / 9.0));
  const auto back = compare_npz(sampled, full)[0];
  EXPECT_EQ(back.num_different, forth.num_different);
  EXPECT_EQ(back.rms_diff, forth.rms_diff);
}

TEST_F(CompareNpz, SamplesOfAnotherShapeAreNotCompared) {
  const NpzFile full = file("full.npz", {{"x", {3000, 3}, counting(9000)}});
  const NpzFile sampled = file("sampled.npz", {{"sample:x", {4096}, samples_of_counting("x", 9003)}}, R"({"x": {"shape": [1, 3001, 3]}})");
  EXPECT_EQ(compare_npz(full, sampled)[0].outcome, CompareOutcome::kShapesDiffer);
}

TEST_F(CompareNpz, GivesTheErrorAsAMultipleOfPyTorchs) {
  const std::string meta = R"({"raw1": {"shape": [1, 2], "torch_fp32_max_err": 0.5, "torch_fp32_rms_err": 0.25}, "x": 3})";
  const NpzFile golden = file("golden.npz", {{"raw1", {1, 2}, {1000, 2000}}, {"x", {1}, {1}}}, meta);
  const NpzFile ours = file("ours.npz", {{"raw_1", {2}, {1001, 1999}}, {"x", {1}, {1}}});
  for (const auto& comparisons : {compare_npz(ours, golden), compare_npz(golden, ours)}) {
    EXPECT_EQ(comparisons[0].max_over_torch, 2);
    EXPECT_EQ(comparisons[0].rms_over_torch, 4);
    EXPECT_THAT(violation(comparisons[0], {}), HasSubstr("rms/torch 4"));
    EXPECT_TRUE(within(comparisons[0], {.max_rms_over_torch = 4}));
    EXPECT_FALSE(within(comparisons[0], {.max_rms_over_torch = 4, .max_max_over_torch = 1.9}));
    EXPECT_TRUE(std::isnan(comparisons[1].rms_over_torch));
  }
}

TEST_F(CompareNpz, EveryThresholdCanFail) {
  const auto c = compare_npz(file("a.npz", {{"p", {2, 3}, {1, 2, 3, 4, 5, 7}}}), file("b.npz", {{"p", {2, 3}, {1, 2, 3, 4, 5, 6}}}))[0];
  const CompareThresholds loose{.min_pcc = 0, .max_relative_error = 1};
  EXPECT_EQ(violation(c, loose), "");
  const auto with = [&](auto change) {
    CompareThresholds tight = loose;
    change(tight);
    return violation(c, tight);
  };
  EXPECT_THAT(with([](auto& t) { t.min_pcc = 0.999; }), HasSubstr("PCC"));
  EXPECT_THAT(with([](auto& t) { t.max_relative_error = 0.1; }), HasSubstr("relative error"));
  EXPECT_THAT(with([](auto& t) { t.max_abs_diff = 0.9; }), HasSubstr("max difference 1"));
  EXPECT_THAT(with([](auto& t) { t.max_median_dz_over_z = 0.05; }), HasSubstr("median |dz|/z"));
  EXPECT_THAT(with([](auto& t) { t.must_be_equal = true; }), HasSubstr("1 elements differ"));
}

TEST_F(CompareNpz, NonFiniteValuesPassOnlyWhereBothHaveThem) {
  const float nan = std::nanf("");
  const NpzFile a = file("a.npz", {{"x", {3}, {1, nan, 3}}});
  const NpzFile b = file("b.npz", {{"x", {3}, {1, 2, 3}}});
  EXPECT_TRUE(within(compare_npz(a, a), {}));
  EXPECT_THAT(violation(compare_npz(a, b)[0], {}), HasSubstr("not finite"));
  const NpzFile all_nan = file("nan.npz", {{"x", {1}, {nan}}});
  EXPECT_THAT(violation(compare_npz(all_nan, all_nan)[0], {}), HasSubstr("no finite value"));
}

TEST_F(CompareNpz, ReportsAsTableAndJson) {
  const NpzFile a = file("a.npz", {{"x", {4}, {1, 2, 3, 4}}, {"mine", {1}, {0}}});
  const NpzFile b = file("b.npz", {{"x", {4}, {1, 2, 3, 6}}});
  const auto comparisons = compare_npz(a, b);
  const std::string table = render_table(comparisons, {});
  EXPECT_THAT(table,
              AllOf(HasSubstr("0.956182887"), HasSubstr("BEYOND: PCC"), HasSubstr("only in A"), HasSubstr("1 arrays compared, 1 beyond")));
  const std::string json = to_json(comparisons, {});
  EXPECT_THAT(json, AllOf(HasSubstr(R"("within": false)"), HasSubstr(R"("rms_diff": 1.0)"), HasSubstr(R"("median_abs_dz_over_z": null)"),
                          HasSubstr(R"("outcome": "only_in_a")")));
  EXPECT_THAT(json, Not(HasSubstr("nan")));
  EXPECT_THAT(render_table(comparisons, {.min_pcc = 0.9, .max_relative_error = 1}), HasSubstr("1 arrays compared, 0 beyond"));
}

fs::path golden_path(const std::string& name) {
  const fs::path kept = fs::path(POINTMAP_SOURCE_DIR) / "tests/golden" / name;
  return fs::exists(kept) ? kept : fs::path(POINTMAP_SHARED_DIR) / "golden" / name;
}

TEST(CompareGolden, AFileEqualsItself) {
  const fs::path path = golden_path("dust3r_tiny_32x32.npz");
  if (!fs::exists(path)) GTEST_SKIP() << "no golden file " << path;
  const NpzFile golden = NpzFile::read(path);
  const auto comparisons = compare_npz(golden, golden);
  EXPECT_EQ(comparisons.size(), 57u);  // 58 members, less meta_json
  EXPECT_TRUE(within(comparisons, {.must_be_equal = true, .must_have_same_arrays = true}));
  EXPECT_EQ(named(comparisons, "raw1").rms_over_torch, 0);
  EXPECT_EQ(named(comparisons, "sample:head1_refinenet1").max_over_torch, 0);
}

TEST_F(CompareNpz, OurFullMapAgreesWithTheSamplesThatUpstreamTook) {
  const fs::path path = golden_path("dust3r_full_kitchen_pad512.npz");
  if (!fs::exists(path)) GTEST_SKIP() << "no golden file " << path << ", which must not enter the repository";
  const NpzFile golden = NpzFile::read(path);
  const auto raw = golden.array("raw1").as<float>();
  std::vector<float> values(raw.begin(), raw.end());
  const NpzFile exact = file("exact.npz", {{"raw_1", {4, 512, 512}, values}});
  const auto comparisons = compare_npz(exact, golden);
  EXPECT_EQ(comparisons[0].note, "B: raw1");
  EXPECT_EQ(comparisons[1].note, "B: sample:raw1; 4096 samples of 1048576");
  EXPECT_EQ(comparisons[1].num_different, 0u);
  EXPECT_TRUE(within(comparisons, {.must_be_equal = true}));
  EXPECT_EQ(comparisons.size(), 78u);  // the other arrays are listed, not forgotten
}

}  // namespace
}  // namespace pointmap
