// pointmap compare A.npz B.npz: the accuracy gate.
#include "pointmap/compare.h"

#include <iostream>
#include <memory>

#include "commands.h"

namespace pointmap::cli {
namespace {

struct Arguments {
  std::string a;
  std::string b;
  std::vector<std::string> names;
  CompareThresholds thresholds;
  bool json = false;
};

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("compare", "Compare the arrays of two .npz files; exit code 1 beyond the thresholds");
  const auto arguments = std::make_shared<Arguments>();
  CompareThresholds& t = arguments->thresholds;
  command->add_option("a", arguments->a, "The file in question")->required();
  command->add_option("b", arguments->b, "The reference, possibly a golden file")->required();
  command->add_option("--arrays", arguments->names, "Only these arrays")->delimiter(',');
  command->add_option("--min-pcc", t.min_pcc, "Pearson correlation, at least")->capture_default_str();
  command->add_option("--max-relative", t.max_relative_error, "||a - b|| / ||b||, at most")->capture_default_str();
  command->add_option("--max-abs", t.max_abs_diff, "Largest difference, at most")->capture_default_str();
  command->add_option("--max-dz", t.max_median_dz_over_z, "Median |dz|/z of point arrays, at most")->capture_default_str();
  command->add_option("--max-rms-ratio", t.max_rms_over_torch, "RMS error over PyTorch fp32's (golden files), at most")
      ->capture_default_str();
  command->add_option("--max-max-ratio", t.max_max_over_torch, "Largest error over PyTorch fp32's (golden files), at most")
      ->capture_default_str();
  command->add_flag("--equal", t.must_be_equal, "Every element must be the same");
  command->add_flag("--same-arrays", t.must_have_same_arrays, "Both files must have the same arrays");
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  command->callback([arguments, &context] {
    context.run = [arguments] {
      const CompareResult result = compare_files(arguments->a, arguments->b, arguments->thresholds, arguments->names);
      std::cout << (arguments->json ? result.json : result.table) << "\n";
      return result.within ? kExitOk : kExitFailed;
    };
  });
}

}  // namespace pointmap::cli
