#include "known_options.h"

#include <algorithm>
#include <filesystem>

#include "pointmap/error.h"
#include "run_options.h"

namespace pointmap::cli {
namespace {

// Four numbers, not a file: a file's name may hold anything else.
bool is_intrinsics(const std::string& entry) {
  return std::ranges::count(entry, ',') == 3 && !std::filesystem::exists(entry);
}

void check_intrinsics(const std::string& entry) {
  if (is_intrinsics(entry)) {
    parse_intrinsics(entry);
  } else if (!std::filesystem::exists(entry)) {
    throw Error{kInvalidArgument, "'" + entry + "' is neither FX,FY,CX,CY nor a file with such lines"};
  }
}

// From what is said of each listed photo to what is said of each photo of the run. One entry is for all.
template <typename T>
std::vector<T> of_photos(const std::vector<T>& entries, const char* what, const std::vector<std::string>& listed,
                         const std::vector<std::string>& photos) {
  if (entries.size() <= 1) return entries;
  if (entries.size() != listed.size())
    throw Error{kInvalidArgument, std::string(what) + " of " + std::to_string(entries.size()) +
                                      " photos, want one for all or one for each of the " + std::to_string(listed.size()) + " photos"};
  std::vector<T> result;
  for (const std::string& photo : photos) result.push_back(entries[static_cast<size_t>(std::ranges::find(listed, photo) - listed.begin())]);
  return result;
}

}  // namespace

void add_known_options(CLI::App& command, KnownArguments& arguments) {
  CLI::Option* intrinsics =
      command
          .add_option(
              "--intrinsics", arguments.intrinsics,
              "The known lens: FX,FY,CX,CY in pixels of the photo as a person sees it, pixel centres at integers; once for all photos, "
              "once for each, or a file with a line 'fx fy cx cy' for each")
          ->check(check_with(check_intrinsics))
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--shared-intrinsics", arguments.shared_intrinsics, "One lens made all photos: one focal length for all views")
      ->excludes(intrinsics);
  command
      .add_option("--masks", arguments.masks,
                  "A folder with a picture for each photo, of the photo's name and size; what is black in it takes no part")
      ->check(CLI::ExistingDirectory);
  CLI::Option* poses =
      command
          .add_option("--poses", arguments.poses,
                      "Known cameras in metres, camera-to-world: a TUM trajectory with a line for each photo, or a transforms.json")
          ->check(CLI::ExistingFile);
  CLI::Option* baseline =
      command.add_option("--baseline", arguments.baseline_metres, "Metres between the first two cameras: everything comes out in metres")
          ->check(CLI::PositiveNumber)
          ->excludes(poses);
  command
      .add_option("--distance", arguments.distance,
                  "P,Q,METRES: metres between the points that two pixels show, each U:V of the first photo or N:U:V of view N; everything "
                  "comes out in metres")
      ->check(check_with(parse_distance))
      ->excludes(poses)
      ->excludes(baseline);
}

KnownInputs known_inputs(const KnownArguments& arguments, const std::vector<std::string>& listed, const std::vector<std::string>& photos) {
  KnownInputs known;
  std::vector<Intrinsics> intrinsics;
  for (const std::string& entry : arguments.intrinsics) {
    const std::vector<Intrinsics> found = is_intrinsics(entry) ? std::vector{parse_intrinsics(entry)} : read_intrinsics(entry);
    intrinsics.insert(intrinsics.end(), found.begin(), found.end());
  }
  known.intrinsics = of_photos(intrinsics, "intrinsics", listed, photos);
  known.shared_intrinsics = arguments.shared_intrinsics;
  if (!arguments.masks.empty()) known.masks = find_masks(arguments.masks, photos);
  if (!arguments.poses.empty()) known.poses = read_poses(arguments.poses, photos, listed);
  known.baseline_metres = arguments.baseline_metres;
  if (!arguments.distance.empty()) known.distance = parse_distance(arguments.distance);
  return known;
}

}  // namespace pointmap::cli
