// Places two cameras in a random scene so that they see enough of the same, then renders.
#include "pair.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/check.h"
#include "build_scene.h"
#include "random.h"

namespace pointmap::scene_gen {

namespace {

constexpr int kGridColumns = 24, kGridRows = 16, kGridRays = kGridColumns * kGridRows;  // a multiple of kLanes
static_assert(kGridRays % kLanes == 0);
constexpr float kMinOverlap = 0.32f, kMinSolidShare = 0.5f;
constexpr float kMinBaseline = 0.12f, kMaxBaseline = 1.0f;  // of the median depth
constexpr float kMinCosine = 0.70710678f;                   // 45 degrees
constexpr float kRadians = 0.017453292f;

// Rays through a coarse grid of pixels and the points they hit.
struct Probe {
  float direction[3][kGridRays];
  float depth[kGridRays];  // 0 for none
  float point[3][kGridRays];
  int32_t id[kGridRays];
  int num_solid = 0;
  float median_depth = 0;
  float mean_inverse_depth = 0;
};

void set(float planes[3][kGridRays], int i, Vec3 v) {
  planes[0][i] = v.x;
  planes[1][i] = v.y;
  planes[2][i] = v.z;
}
Vec3 get(const float planes[3][kGridRays], int i) {
  return {planes[0][i], planes[1][i], planes[2][i]};
}

Probe probe_view(const Kernel& kernel, const Scene& scene, const Camera& camera) {
  Probe probe;
  for (int i = 0; i < kGridRays; ++i) {
    const float u = (static_cast<float>(i % kGridColumns) + 0.5f) / kGridColumns - 0.5f,
                v = (static_cast<float>(i / kGridColumns) + 0.5f) / kGridRows - 0.5f;
    const Vec3 in_cam{u * static_cast<float>(camera.width) / camera.focal_px, v * static_cast<float>(camera.height) / camera.focal_px, 1};
    set(probe.direction, i, transposed_times(camera.cam_from_world, in_cam));
  }
  const float* const directions[3] = {probe.direction[0], probe.direction[1], probe.direction[2]};
  kernel.trace(scene, camera.position, directions, kGridRays, probe.depth, probe.id);
  float depths[kGridRays];
  for (int i = 0; i < kGridRays; ++i) {
    set(probe.point, i, camera.position + get(probe.direction, i) * probe.depth[i]);
    if (probe.depth[i] > 0) depths[probe.num_solid++] = probe.depth[i];
  }
  if (probe.num_solid > 0) {
    std::nth_element(depths, depths + probe.num_solid / 2, depths + probe.num_solid);
    probe.median_depth = depths[probe.num_solid / 2];
  }
  return probe;
}

// Of the points in `probe`, the share that `other` sees.
float share_seen_by(const Kernel& kernel, const Scene& scene, const Probe& probe, const Camera& other) {
  int32_t seen[kGridRays];
  const float* const points[3] = {probe.point[0], probe.point[1], probe.point[2]};
  kernel.visible(scene, other.position, points, kGridRays, seen);
  const float half_x = 0.5f * static_cast<float>(other.width) / other.focal_px,
              half_y = 0.5f * static_cast<float>(other.height) / other.focal_px;
  const float far = scene.surroundings == Surroundings::kGround ? scene.far_m : 1e30f;
  int count = 0;
  for (int i = 0; i < kGridRays; ++i) {
    if (probe.depth[i] <= 0) continue;
    const Vec3 in_cam = other.cam_from_world * (get(probe.point, i) - other.position);
    const bool in_picture =
        in_cam.z > 0 && in_cam.z < far && std::fabs(in_cam.x) < half_x * in_cam.z && std::fabs(in_cam.y) < half_y * in_cam.z;
    count += in_picture && seen[i] != 0;
  }
  return static_cast<float>(count) / static_cast<float>(std::max(probe.num_solid, 1));
}

// Looks along `forward`, turned by roll about it.
Rotation looking_along(Vec3 forward, float roll) {
  const Vec3 f = normalized(forward);
  const Vec3 right = normalized(cross(f, Vec3{0, 0, 1})), down = cross(f, right);
  const float c = static_cast<float>(portable_cos(static_cast<double>(roll))),
              s = static_cast<float>(portable_sin(static_cast<double>(roll)));
  return {right * c + down * s, down * c - right * s, f};
}

float random_roll(Random& random) {
  const float largest = random.chance(0.15f) ? 15.0f : 4.0f;
  return random.triangular() * largest * kRadians;
}

// From yaw and pitch; pitch is positive upwards.
Vec3 random_forward(Random& random, float pitch_low, float pitch_high) {
  const float yaw = random.uniform(0, 6.2831853f), pitch = random.uniform(pitch_low, pitch_high) * kRadians;
  const float flat = static_cast<float>(portable_cos(static_cast<double>(pitch)));
  return {flat * static_cast<float>(portable_cos(static_cast<double>(yaw))),
          flat * static_cast<float>(portable_sin(static_cast<double>(yaw))), static_cast<float>(portable_sin(static_cast<double>(pitch)))};
}

// Looks at something near the middle of the scene more often than away from it. False when the place is taken.
bool place_first(const Scene& scene, Random& random, Camera& camera) {
  Vec3 target;
  if (scene.surroundings == Surroundings::kRoom) {
    const Vec3 room = scene.room_half;
    camera.position = {random.uniform(-1, 1) * (room.x - 0.25f), random.uniform(-1, 1) * (room.y - 0.25f),
                       random.uniform(0.5f, std::min(2.2f, 2 * room.z - 0.3f))};
    target = {random.uniform(-0.8f, 0.8f) * room.x, random.uniform(-0.8f, 0.8f) * room.y, random.uniform(0.1f, 0.8f) * 2 * room.z};
  } else {
    camera.position = {random.uniform(-14, 14), random.uniform(-14, 14), random.log_uniform(0.8f, 6.0f)};
    target = {random.uniform(-6, 6), random.uniform(-6, 6), random.uniform(0, 2)};
  }
  if (random.chance(0.2f)) target = camera.position + random_forward(random, -35, 15);
  const float roll = random_roll(random);
  const Vec3 forward = target - camera.position;
  const float flat = std::sqrt(forward.x * forward.x + forward.y * forward.y);
  if (flat < 0.3f || std::fabs(forward.z) > 1.2f * flat || clearance(scene, camera.position) < 0.25f) return false;
  camera.cam_from_world = looking_along(forward, roll);
  return true;
}

// Somewhere around the first, looking near a point that the first sees.
bool place_second(const Scene& scene, Random& random, const Camera& first, const Probe& seen, Camera& camera) {
  const float baseline = random.log_uniform(kMinBaseline, kMaxBaseline) * seen.median_depth;
  // Sideways more than along the view, and seldom far up or down.
  const Vec3 in_cam{random.triangular(), 0.45f * random.triangular(), 0.7f * random.triangular()};
  if (dot(in_cam, in_cam) < 0.01f) return false;
  camera = first;
  camera.position = first.position + transposed_times(first.cam_from_world, normalized(in_cam) * baseline);
  const int ray = random.integer(0, kGridRays - 1);
  const float blend = random.uniform(0.0f, 1.0f);  // 0: the middle of view 1, 1: anything in it
  const Vec3 middle = first.position + first.cam_from_world.row2 * seen.median_depth;
  const Vec3 target = seen.depth[ray] > 0 ? mix(middle, get(seen.point, ray), blend) : middle;
  const float roll = random_roll(random);
  const Vec3 forward = target - camera.position;
  if (forward.x * forward.x + forward.y * forward.y < 0.1f * forward.z * forward.z || dot(forward, forward) < 0.04f) return false;
  if (clearance(scene, camera.position) < 0.25f) return false;
  camera.cam_from_world = looking_along(forward, roll);
  const Rotation &a = first.cam_from_world, &b = camera.cam_from_world;
  const float cosine = 0.5f * (dot(a.row0, b.row0) + dot(a.row1, b.row1) + dot(a.row2, b.row2) - 1);
  return cosine > kMinCosine;
}

// Enough is there, not all of it at arm's length, and more than a corner of two bare walls.
bool is_worth_seeing(const Probe& probe) {
  int rays_on[kFirstPrimitiveId + kMaxPrimitives] = {}, num_surfaces = 0;
  for (const int32_t id : probe.id) num_surfaces += id != kSkyId && ++rays_on[id] == 8;
  return num_surfaces >= 3 && static_cast<float>(probe.num_solid) >= kMinSolidShare * kGridRays && probe.median_depth > 0.7f;
}

Exposure random_exposure(Random& random) {
  Exposure exposure;
  exposure.mean_level = random.log_uniform(0.12f, 0.4f);
  const float warm = random.triangular() * 0.18f, green = random.triangular() * 0.06f;
  exposure.white_balance = {1 + warm, 1 + green, 1 - warm};
  exposure.noise = random.uniform(0.0f, 0.035f);
  exposure.vignette = random.uniform(0.0f, 0.35f);
  exposure.seed = random.bits();
  return exposure;
}

// Several second cameras for each first one; false when this scene gave no pair.
bool place_cameras(const Kernel& kernel, Random& random, PairPlan& plan) {
  Camera &first = plan.cameras[0], &second = plan.cameras[1];
  for (int attempt = 0; attempt < 12; ++attempt) {
    if (!place_first(plan.scene, random, first)) continue;
    const Probe probe1 = probe_view(kernel, plan.scene, first);
    if (!is_worth_seeing(probe1)) continue;
    for (int retry = 0; retry < 24; ++retry) {
      if (!place_second(plan.scene, random, first, probe1, second)) continue;
      const float seen1 = share_seen_by(kernel, plan.scene, probe1, second);
      if (seen1 < kMinOverlap) continue;
      const Probe probe2 = probe_view(kernel, plan.scene, second);
      if (!is_worth_seeing(probe2)) continue;
      plan.overlap = std::min(seen1, share_seen_by(kernel, plan.scene, probe2, first));
      if (plan.overlap < kMinOverlap) continue;
      plan.baseline_over_median_depth = length(second.position - first.position) / probe1.median_depth;
      return true;
    }
  }
  return false;
}

}  // namespace

PairPlan plan_pair(const Kernel& kernel, const PairOptions& options, uint64_t index) {
  POINTMAP_CHECK(options.width >= 16 && options.width <= 4096 && options.height >= 16 && options.height <= 4096,
                 "scene_gen: got a picture of " + std::to_string(options.width) + " x " + std::to_string(options.height) +
                     ", wanted 16 to 4096 each way");
  PairPlan plan;
  for (uint64_t attempt = 0; attempt < 200; ++attempt) {
    Random random(options.seed, index, attempt);
    const Surroundings drawn = random.chance(0.7f) ? Surroundings::kRoom : Surroundings::kGround;
    plan.scene = options.kind.value_or(drawn) == Surroundings::kRoom ? build_room(random) : build_ground(random);
    plan.cameras[0].width = options.width;
    plan.cameras[0].height = options.height;
    plan.cameras[0].focal_px = random.log_uniform(0.7f, 1.8f) * static_cast<float>(options.width);
    for (Exposure& exposure : plan.exposures) exposure = random_exposure(random);
    if (place_cameras(kernel, random, plan)) return plan;
  }
  throw Error{kInternal,
              "scene_gen: no pair of views in 200 scenes for seed " + std::to_string(options.seed) + ", index " + std::to_string(index)};
}

Renderer::Renderer(const Kernel& kernel, int width, int height) : kernel_(kernel) {
  const int stride = (width + kLanes - 1) / kLanes * kLanes;
  const size_t samples = static_cast<size_t>(stride) * static_cast<size_t>((height + 3) / 4 * 4);
  planes_.resize(4 * samples);
  ids_.resize(samples);
  buffers_ = {planes_.data(), planes_.data() + samples, planes_.data() + 2 * samples, planes_.data() + 3 * samples, ids_.data(), stride};
}

void Renderer::render(const Scene& scene, const Camera& camera, const Exposure& exposure, View& view) {
  const size_t pixels = static_cast<size_t>(camera.width) * static_cast<size_t>(camera.height);
  view.rgb.resize(3 * pixels);
  view.depth.resize(pixels);
  kernel_.render(scene, camera, exposure, buffers_, view.rgb.data(), view.depth.data());
}

void world_from_cam(const Camera& camera, double out[16]) {
  const Rotation& r = camera.cam_from_world;
  const float values[16] = {r.row0.x, r.row1.x, r.row2.x, camera.position.x, r.row0.y, r.row1.y, r.row2.y, camera.position.y,
                            r.row0.z, r.row1.z, r.row2.z, camera.position.z, 0,        0,        0,        1};
  std::copy(values, values + 16, out);
}

void cam1_from_cam2(const Camera& camera1, const Camera& camera2, double out[16]) {
  double world_from_2[16], world_from_1[16];
  world_from_cam(camera2, world_from_2);
  world_from_cam(camera1, world_from_1);
  std::fill(out, out + 16, 0.0);
  out[15] = 1;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column) {
      for (int k = 0; k < 3; ++k) {
        const double shifted = world_from_2[4 * k + column] - (column == 3 ? world_from_1[4 * k + 3] : 0);
        out[4 * row + column] += world_from_1[4 * k + row] * shifted;
      }
    }
  }
}

}  // namespace pointmap::scene_gen
