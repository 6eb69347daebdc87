// pointmap reconstruct A B: photos to pointmaps and files.
#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>
#include <set>

#include "commands.h"
#include "known_options.h"
#include "pointmap/export.h"
#include "pointmap/photos.h"
#include "pointmap/pointmap.h"
#include "pointmap/report.h"
#include "run_options.h"
#include "status_line.h"

namespace pointmap::cli {
namespace {

struct Arguments {
  std::vector<std::string> photos;
  PhotoChoice choice;
  bool skip_bad = false;
  std::string points = "auto";
  std::string model;
  std::string folder;
  std::string preset = "keep";
  std::string precision = "fp32";
  std::string formats = "npz,ply,glb";
  std::string depth_formats = "png16";
  bool normals = false;
  bool glb_mesh = false;
  bool html = false;
  int num_threads = 0;
  double percentile = 0;
  uint64_t memory_limit_bytes = 0;
  bool raw = false;
  bool pose = true;
  std::string pose_mode = "auto";
  KnownArguments known;
  bool json = false;
  bool quiet = false;
};

// The same facts as report.json, for people.
void print_summary(const Reconstruction& run, const std::vector<ExportedFile>& files, const std::string& folder) {
  std::cout << std::fixed << std::setprecision(0);
  for (const ExportedFile& file : files) {
    std::cout << file.path.string();
    const bool is_cloud = file.points != PointSource::kAuto;
    if (file.num_total > 0) std::cout << "  " << file.num_kept << " of " << file.num_total << (is_cloud ? " points" : " pixels");
    std::cout << "\n";
  }
  std::cout << folder << "/report.json\n";
  for (const std::string& note : run.report.notes) std::cerr << "note: " << note << "\n";
  std::cerr << std::fixed << std::setprecision(0);
  for (const StageTime& stage : run.report.stages) std::cerr << stage.stage << " " << stage.ms << " ms, ";
  std::cerr << "total " << run.report.total_ms() << " ms; " << run.report.device << ", " << run.report.num_threads << " threads, "
            << run.report.cpu << "; peak memory " << (run.report.peak_resident_bytes >> 20) << " MiB\n";
}

// "all" means all that this scene can be written in; a format that was named is wanted or the run has failed.
std::set<ExportFormat> chosen_formats(const Arguments& arguments, Reconstruction& run) {
  std::set<ExportFormat> formats = parse_formats(arguments.formats);
  if (arguments.html) formats.insert(ExportFormat::kHtml);
  if (arguments.formats != "all") return formats;
  for (const RefusedFormat& refused : refused_formats(run.scene)) {
    formats.erase(refused.format);
    run.report.notes.push_back("not exported: " + std::string(export_format_name(refused.format)) + ": " + refused.reason);
  }
  return formats;
}

// What export_scene would refuse after minutes of work.
void check_cameras_for_formats(const Arguments& arguments, const ModelInfo& model) {
  if (arguments.pose || model.family != "dust3r" || arguments.formats == "all") return;
  for (const ExportFormat format : parse_formats(arguments.formats)) {
    if (!needs_cameras(format)) continue;
    throw Error{kInvalidArgument, "--formats " + std::string(export_format_name(format)) + " needs cameras, which --no-pose leaves out"};
  }
}

int run_reconstruct(const Arguments& arguments, const CancelFlag& cancel) {
  const std::string model = model_or_default(arguments.model, arguments.quiet);
  StatusLine status(arguments.quiet);
  const Progress progress{.on_step = [&](std::string_view stage, int done, int total) { status.step(stage, done, total); },
                          .cancel = &cancel};
  Reconstructor reconstructor = Reconstructor::open(
      model, {.num_threads = arguments.num_threads, .precision = arguments.precision, .memory_limit_bytes = arguments.memory_limit_bytes});
  if (!arguments.quiet) std::cerr << "licence of the weights: " << reconstructor.model().license << "\n";
  check_cameras_for_formats(arguments, reconstructor.model());
  const std::vector<std::string> listed = find_photos(arguments.photos);
  const std::vector<std::string> names = choose_photos(listed, arguments.choice);
  std::vector<Photo> photos;
  for (const std::string& name : names) photos.push_back({.name = name, .bytes = {}});
  Reconstruction run = reconstructor.reconstruct(photos, {.preset = arguments.preset,
                                                          .skip_bad = arguments.skip_bad,
                                                          .keep_raw = arguments.raw,
                                                          .pose = arguments.pose,
                                                          .pose_mode = pose_mode_or_default(arguments.pose_mode),
                                                          .known = known_inputs(arguments.known, listed, names),
                                                          .progress = progress});

  const auto export_start = std::chrono::steady_clock::now();
  status.step("export", 0, 1);
  const std::vector<ExportedFile> files = export_scene(run.scene, arguments.folder,
                                                       {.formats = chosen_formats(arguments, run),
                                                        .filter = {.percentile = arguments.percentile},
                                                        .points = parse_point_source(arguments.points),
                                                        .depth_formats = parse_depth_formats(arguments.depth_formats),
                                                        .generator = generator_name(),
                                                        .ply_normals = arguments.normals,
                                                        .glb_mesh = arguments.glb_mesh});
  const std::chrono::duration<double, std::milli> export_time = std::chrono::steady_clock::now() - export_start;
  run.report.stages.push_back({"export", export_time.count()});
  const std::string report = report_json(reconstructor.model(), run, files);
  write_report(report, arguments.folder);
  status.clear();
  if (arguments.json) {
    std::cout << report << "\n";
  } else if (!arguments.quiet) {
    print_summary(run, files, arguments.folder);
  }
  return kExitOk;
}

}  // namespace

void add_reconstruct(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("reconstruct", "Photos to 3D: point cloud, cameras, depth and arrays");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("photos", arguments->photos,
                   "Photos (JPEG, PNG, WebP, HEIC), folders of photos, or patterns in quotes ('frames/*.jpg'), both in natural order; two "
                   "for DUSt3R, any number for VGGT")
      ->required();
  command->add_option("--first", arguments->choice.first,
                      "The photo that becomes view 1, the frame of reference: a file, its name, or its number in the list");
  command->add_option("--max-views", arguments->choice.max_views, "Take at most so many photos, evenly spread over the list")
      ->check(CLI::Range(1, 10'000));
  command->add_flag("--skip-bad", arguments->skip_bad, "Go on without photos that cannot be read; report.json says which and why");
  add_model_option(*command, arguments->model);
  command->add_option("-o,--output", arguments->folder, "Folder for the results")->required();
  add_preset_option(*command, arguments->preset);
  command->add_option("--precision", arguments->precision, "Arithmetic")->check(CLI::IsMember({"fp32"}))->capture_default_str();
  add_threads_option(*command, arguments->num_threads);
  add_percentile_option(*command, arguments->percentile);
  command
      ->add_option(
          "--formats", arguments->formats,
          "all, or some of " + CLI::detail::join(export_format_names(), ", ") +
              ", separated by commas; picture: cloud.png, a look at it all; colmap, nerfstudio (transforms.json) and tum (trajectory.txt): "
              "cameras for other programs, which the first two want in pixels of the photos as they are stored")
      ->check(check_with(parse_formats))
      ->capture_default_str();
  command
      ->add_option("--depth-formats", arguments->depth_formats,
                   "Of depth: all, or some of " + CLI::detail::join(depth_format_names(), ", ") + "; png16 has a scale in depth.json")
      ->check(check_with(parse_depth_formats))
      ->capture_default_str();
  command->add_flag("--normals", arguments->normals, "Normals in ply, from the neighbouring pixels and towards the camera");
  command->add_flag("--glb-mesh", arguments->glb_mesh,
                    "Triangles between neighbouring pixels in glb instead of points; none across a jump in depth");
  command->add_flag("--html", arguments->html, "Also write scene.html: a page that shows the points in a browser, without a network");
  command->add_option("--memory-limit", arguments->memory_limit_bytes, "Refuse work that needs more bytes than this (8G, 500M)")
      ->transform(CLI::AsSizeValue(false));
  command->add_flag("--raw", arguments->raw, "Also write the network's values before activation");
  command->add_flag("--pose,!--no-pose", arguments->pose, "Find the cameras too; costs a second decoder pass and a third head")
      ->default_str("on");
  add_pose_mode_option(*command, arguments->pose_mode);
  add_known_options(*command, arguments->known);
  add_points_option(*command, arguments->points);
  command->add_flag("--json", arguments->json, "Print the report as JSON");
  command->add_flag("--quiet", arguments->quiet, "No progress and no summary");
  command->callback([arguments, &context] { context.run = [arguments, &context] { return run_reconstruct(*arguments, context.cancel); }; });
}

}  // namespace pointmap::cli
