// pointmap eval DIR: how near the truth a model is.
#include "pointmap/eval.h"

#include <iostream>
#include <memory>

#include "commands.h"
#include "run_options.h"
#include "status_line.h"

namespace pointmap::cli {
namespace {

struct Arguments {
  std::string folder;
  std::string model;
  std::string preset = "keep";
  std::string pose_mode = "auto";
  size_t limit = 0;
  int num_threads = 0;
  bool baselines = true;
  bool json = false;
  bool quiet = false;
};

constexpr const char* kFooter =
    "A scene is a folder with scene.json, photos and truth.npz, as tools/scene_gen writes it:\n"
    "  scene.json  {\"format\": \"pointmap-scene\", \"version\": 1, \"views\": [\"view_1.png\", \"view_2.png\"], \"truth\": "
    "\"truth.npz\"}\n"
    "  truth.npz   of view K from 1: depth_K float32 [H, W] (0: none), intrinsics_K float64 [3, 3], world_from_cam_K float64 [4, 4]\n"
    "Errors, after one scale per pair (median of |truth| / |prediction|), at the network's pixels:\n"
    "  AbsRel 1    mean |dz| / z of view 1\n"
    "  d<1.03      share of its pixels whose z is within that factor; d<1.25 likewise\n"
    "  med dz/z    median |dz| / z\n"
    "  points 1/2  mean |error| / |truth| of the points of view 1 and 2, in the frame of camera 1\n"
    "  rot, dir    angles to the true orientation of camera 2 and to the true direction towards it\n"
    "  focal       |f / true f - 1|, mean of both views\n"
    "Baselines:\n"
    "  mean pointmap  the average truth of the other scenes\n"
    "  identity pose  camera 2 where camera 1 is\n"
    "  photo 1 twice  the network without photo 2";

int run_eval(const Arguments& arguments, const CancelFlag& cancel) {
  const std::string model = model_or_default(arguments.model, arguments.quiet);
  Reconstructor reconstructor = Reconstructor::open(model, {.num_threads = arguments.num_threads});
  if (!arguments.quiet) std::cerr << "licence of the weights: " << reconstructor.model().license << "\n";
  StatusLine status(arguments.quiet);
  const Progress progress{.on_step = [&](std::string_view stage, int done, int total) { status.step(stage, done, total); },
                          .cancel = &cancel};
  const EvalResult result = evaluate(reconstructor, arguments.folder,
                                     {.limit = arguments.limit,
                                      .baselines = arguments.baselines,
                                      .preset = arguments.preset,
                                      .pose_mode = pose_mode_or_default(arguments.pose_mode),
                                      .progress = progress});
  status.clear();
  std::cout << (arguments.json ? to_json(result) + "\n" : to_table(result));
  return kExitOk;
}

}  // namespace

void add_eval(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("eval", "Errors of a model over scenes whose geometry is known");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("folder", arguments->folder, "Every scene in this folder and below")->required();
  add_model_option(*command, arguments->model);
  command->add_option("--limit", arguments->limit, "The first N scenes only; 0 is all")->capture_default_str();
  command->add_flag("--baselines,!--no-baselines", arguments->baselines, "Also what is easy to be better than; doubles the time")
      ->default_str("on");
  add_preset_option(*command, arguments->preset);
  add_pose_mode_option(*command, arguments->pose_mode);
  add_threads_option(*command, arguments->num_threads);
  command->add_flag("--json", arguments->json, "Print JSON, with every scene and every baseline");
  command->add_flag("--quiet", arguments->quiet, "No progress");
  command->footer(kFooter);
  command->callback([arguments, &context] { context.run = [arguments, &context] { return run_eval(*arguments, context.cancel); }; });
}

}  // namespace pointmap::cli
