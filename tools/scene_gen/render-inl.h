// One view: tiles of 4 x 4 rays, more samples where neighbouring pixels see different surfaces, then what a camera does to light.
#pragma once

#include "shade-inl.h"

namespace pointmap::scene_gen::SG_TARGET {

struct View {
  const Camera* camera;
  ShadeContext context;
  Bundle bundle;
  V right, down, forward;
};

// World direction with z = 1 in the camera's frame, so that t along it is the depth.
SG_INLINE V pixel_direction(const View& view, F x, F y) {
  const Camera& camera = *view.camera;
  const float inverse_focal = 1.0f / camera.focal_px;
  const F in_cam_x = (x - 0.5f * static_cast<float>(camera.width - 1)) * inverse_focal;
  const F in_cam_y = (y - 0.5f * static_cast<float>(camera.height - 1)) * inverse_focal;
  return view.right * in_cam_x + view.down * in_cam_y + view.forward;
}

// Whether any part of the solid can appear in the picture.
SG_INLINE bool in_frustum(const Camera& camera, const Primitive& solid) {
  const Vec3 p = camera.cam_from_world * (solid.centre - camera.position);
  const float radius = solid.bound_radius * 1.01f;
  if (p.z < -radius) return false;
  const float half_x = 0.5f * static_cast<float>(camera.width + 1) / camera.focal_px;
  const float half_y = 0.5f * static_cast<float>(camera.height + 1) / camera.focal_px;
  const float ax = p.x < 0 ? -p.x : p.x, ay = p.y < 0 ? -p.y : p.y;
  return ax - p.z * half_x <= radius * __builtin_sqrtf(1 + half_x * half_x) &&
         ay - p.z * half_y <= radius * __builtin_sqrtf(1 + half_y * half_y);
}

SG_INLINE void prepare_view(View& view, const Scene& scene, const Camera& camera) {
  view.camera = &camera;
  view.context.scene = &scene;
  view.context.pixel_angle = 1.0f / camera.focal_px;
  for (int i = 0; i < scene.num_lights; ++i) view.context.lights[i] = make_bundle(scene, scene.lights[i].position);
  view.bundle.origin = camera.position;
  view.bundle.count = 0;
  for (int i = 0; i < scene.num_primitives; ++i) {
    if (in_frustum(camera, scene.primitives[i])) add_to_bundle(view.bundle, scene, i);
  }
  view.right = splat(camera.cam_from_world.row0);
  view.down = splat(camera.cam_from_world.row1);
  view.forward = splat(camera.cam_from_world.row2);
}

SG_INLINE void drop_beyond_far(const Scene& scene, Hit& hit) {
  const float far = scene.surroundings == Surroundings::kGround ? scene.far_m : 1e30f;
  hit.id = select(hit.t < far, hit.id, splat_int(kSkyId));
}

template <typename T>
SG_INLINE void store_tile(T* plane_at_tile, int stride, Lanes<T> lanes) {
  T tile[kLanes];
  store(tile, lanes);
  for (int row = 0; row < 4; ++row) __builtin_memcpy(plane_at_tile + row * stride, tile + 4 * row, 16);
}

// Renders the tile whose first pixel is (x0, y0); returns the light of its pixels inside the picture, lane by lane.
static __attribute__((noinline)) F render_tile(const View& view, const ViewBuffers& out, int x0, int y0) {
  static constexpr int32_t kColumn[kLanes] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3},
                           kRow[kLanes] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  const I ix = load(kColumn) + x0, iy = load(kRow) + y0;
  const V direction = pixel_direction(view, to_float(ix), to_float(iy));
  Hit hit = trace_bundle(*view.context.scene, view.bundle, direction);
  drop_beyond_far(*view.context.scene, hit);
  I label;
  const V colour = shade(view.context, view.camera->position, direction, hit, label);
  const F depth = select(hit.id == kSkyId, splat(0), hit.t);
  const int at = y0 * out.stride + x0;
  store_tile(out.red + at, out.stride, colour.x);
  store_tile(out.green + at, out.stride, colour.y);
  store_tile(out.blue + at, out.stride, colour.z);
  store_tile(out.depth + at, out.stride, depth);
  store_tile(out.label + at, out.stride, label);
  const I inside = (ix < view.camera->width) & (iy < view.camera->height);
  return select(inside, 0.3f * colour.x + 0.6f * colour.y + 0.1f * colour.z, splat(0));
}

SG_INLINE void average_into(float* plane, F lanes, const int* pixels, int count) {
  float samples[kLanes];
  store(samples, lanes);
  for (int i = 0; i < count; ++i) {
    const float sum = (samples[4 * i] + samples[4 * i + 1]) + (samples[4 * i + 2] + samples[4 * i + 3]);
    plane[pixels[i]] = (sum + plane[pixels[i]]) * 0.2f;
  }
}

// Four more samples for each of up to four pixels; the pixel becomes the mean of all five.
static __attribute__((noinline)) void refine_pixels(const View& view, const ViewBuffers& out, const int* pixels, int count) {
  float x[kLanes], y[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int pixel = pixels[lane / 4 < count ? lane / 4 : 0];
    constexpr float kOffsetX[4] = {-0.125f, 0.375f, 0.125f, -0.375f}, kOffsetY[4] = {-0.375f, -0.125f, 0.375f, 0.125f};
    x[lane] = static_cast<float>(pixel % out.stride) + kOffsetX[lane % 4];
    y[lane] = static_cast<float>(pixel / out.stride) + kOffsetY[lane % 4];
  }
  const V direction = pixel_direction(view, load(x), load(y));
  Hit hit = trace_bundle(*view.context.scene, view.bundle, direction);
  drop_beyond_far(*view.context.scene, hit);
  I label;
  const V colour = shade(view.context, view.camera->position, direction, hit, label);
  average_into(out.red, colour.x, pixels, count);
  average_into(out.green, colour.y, pixels, count);
  average_into(out.blue, colour.z, pixels, count);
}

static void refine_edges(const View& view, const ViewBuffers& out) {
  const int width = view.camera->width, height = view.camera->height;
  int waiting[4], count = 0;
  for (int y = 0; y < height; ++y) {
    const int32_t* here = out.label + y * out.stride;
    const int32_t* above = y > 0 ? here - out.stride : here;
    const int32_t* below = y + 1 < height ? here + out.stride : here;
    for (int x = 0; x < width; ++x) {
      const int32_t label = here[x];
      const bool same_beside = label == here[x > 0 ? x - 1 : x] && label == here[x + 1 < width ? x + 1 : x];
      if (same_beside && label == above[x] && label == below[x]) continue;
      waiting[count++] = y * out.stride + x;
      if (count == 4) {
        refine_pixels(view, out, waiting, count);
        count = 0;
      }
    }
  }
  if (count > 0) refine_pixels(view, out, waiting, count);
}

// sRGB's curve on [0, 1] to within 0.005, from square roots alone.
SG_INLINE F gamma_curve(F linear) {
  const F s1 = sqrt(linear), s2 = sqrt(s1), s3 = sqrt(s2);
  return clamp01(0.662002687f * s1 + 0.68412206f * s2 - 0.323583601f * s3 - 0.022541147f * linear);
}

SG_INLINE I to_byte(F light, F gain, F noise) {
  const F exposed = light * gain;
  const F level = gamma_curve(min(exposed * 1.25f / (1.0f + 0.25f * exposed), splat(1)));
  return truncated(clamp01(level + noise) * 255.0f + 0.5f);
}

// Triangular in (-amplitude, amplitude), from the low ten bits of two hashes.
SG_INLINE F noise_from(U hash1, U hash2, float amplitude) {
  return to_float(as_int(hash1 & 0x3ffu) - as_int(hash2 & 0x3ffu)) * (amplitude / 1024);
}

static void develop_row(const Camera& camera, const Exposure& exposure, float gain, const ViewBuffers& view, int y, uint8_t* rgb_row) {
  static constexpr int32_t kLane[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const I lane = load(kLane);
  const float cx = 0.5f * static_cast<float>(camera.width - 1), cy = 0.5f * static_cast<float>(camera.height - 1);
  const float inverse_square = 1.0f / (cx * cx + cy * cy + 1.0f), dy = static_cast<float>(y) - cy;
  for (int x0 = 0; x0 < camera.width; x0 += kLanes) {
    const F dx = to_float(lane + x0) - cx;
    const F scale = gain * (1.0f - exposure.vignette * inverse_square * (dx * dx + dy * dy));
    const U hash1 = finish_hash(as_unsigned(lane + (x0 + y * 65536)) * 0x9e3779b9u ^ exposure.seed),
            hash2 = finish_hash(hash1 + 0x85ebca6bu);
    const int at = y * view.stride + x0;
    const Vec3 balance = exposure.white_balance;
    int32_t red[kLanes], green[kLanes], blue[kLanes];
    store(red, to_byte(load(view.red + at), scale * balance.x, noise_from(hash1, hash2, exposure.noise)));
    store(green, to_byte(load(view.green + at), scale * balance.y, noise_from(hash1 >> 10, hash2 >> 10, exposure.noise)));
    store(blue, to_byte(load(view.blue + at), scale * balance.z, noise_from(hash1 >> 20, hash2 >> 20, exposure.noise)));
    const int count = camera.width - x0 < kLanes ? camera.width - x0 : kLanes;
    for (int i = 0; i < count; ++i) {
      rgb_row[3 * (x0 + i)] = static_cast<uint8_t>(red[i]);
      rgb_row[3 * (x0 + i) + 1] = static_cast<uint8_t>(green[i]);
      rgb_row[3 * (x0 + i) + 2] = static_cast<uint8_t>(blue[i]);
    }
  }
}

static void render(const Scene& scene, const Camera& camera, const Exposure& exposure, const ViewBuffers& scratch, uint8_t* rgb,
                   float* depth) {
  View view;
  prepare_view(view, scene, camera);
  F light = splat(0);
  for (int y = 0; y < camera.height; y += 4) {
    for (int x = 0; x < camera.width; x += 4) light += render_tile(view, scratch, x, y);
  }
  refine_edges(view, scratch);
  float sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += light.at(lane);
  const float mean = sum / static_cast<float>(camera.width * camera.height);
  const float gain = exposure.mean_level / (mean > 1e-4f ? mean : 1e-4f);
  for (int y = 0; y < camera.height; ++y) {
    develop_row(camera, exposure, gain, scratch, y, rgb + 3 * y * camera.width);
    __builtin_memcpy(depth + y * camera.width, scratch.depth + y * scratch.stride, 4 * static_cast<unsigned>(camera.width));
  }
}

static void trace(const Scene& scene, Vec3 origin, const float* const directions[3], int count, float* t, int32_t* id) {
  const Bundle bundle = make_bundle(scene, origin);
  for (int i = 0; i < count; i += kLanes) {
    const V direction{load(directions[0] + i), load(directions[1] + i), load(directions[2] + i)};
    Hit hit = trace_bundle(scene, bundle, direction);
    drop_beyond_far(scene, hit);
    const F distance = select(hit.id == kSkyId, splat(0), hit.t);
    store(t + i, distance);
    store(id + i, hit.id);
  }
}

static void visible(const Scene& scene, Vec3 origin, const float* const points[3], int count, int32_t* seen) {
  const Bundle bundle = make_bundle(scene, origin);
  for (int i = 0; i < count; i += kLanes) {
    const V point{load(points[0] + i), load(points[1] + i), load(points[2] + i)};
    const I open = 1 & ~blocked(scene, bundle, point - splat(origin), splat_int(kSkyId), 0.998f);
    store(seen + i, open);
  }
}

}  // namespace pointmap::scene_gen::SG_TARGET
