// Workers render whole pairs; the caller's thread writes them in order. The ring between them bounds how far a worker may run ahead.
#include "stream.h"

#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "tensor/dtype.h"

namespace pointmap::scene_gen {

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

namespace {

class RecordWriter {
 public:
  explicit RecordWriter(std::vector<std::byte>& record) : record_(record) {}
  void put(const void* from, size_t bytes) {
    std::memcpy(record_.data() + position_, from, bytes);
    position_ += bytes;
  }

 private:
  std::vector<std::byte>& record_;
  size_t position_ = 0;
};

// One worker's tools.
class PairMaker {
 public:
  PairMaker(const Kernel& kernel, const PairOptions& options)
      : kernel_(kernel), options_(options), renderer_(kernel, options.width, options.height) {}

  void make(uint64_t index, std::vector<std::byte>& record) {
    const PairPlan plan = plan_pair(kernel_, options_, index);
    for (int i = 0; i < 2; ++i) renderer_.render(plan.scene, plan.cameras[i], plan.exposures[i], views_[i]);
    record.resize(record_bytes(options_.width, options_.height));
    RecordWriter writer(record);
    for (const View& view : views_) writer.put(view.rgb.data(), view.rgb.size());
    for (const View& view : views_) {
      halves_.resize(view.depth.size());
      for (size_t i = 0; i < halves_.size(); ++i) halves_[i] = half_bits(view.depth[i]);
      writer.put(halves_.data(), 2 * halves_.size());
    }
    const std::vector<float> numbers = numbers_of(plan);
    writer.put(numbers.data(), 4 * numbers.size());
  }

 private:
  // Round to nearest even, for 0 and numbers that are normal in binary16, which depths are. The general conversion takes longer than
  // rendering the pixel's ray.
  static uint16_t half_bits(float depth) {
    const uint32_t bits = std::bit_cast<uint32_t>(depth);
    const uint32_t rounded = ((bits + 0xfffu + ((bits >> 13) & 1u)) >> 13) - (112u << 10);
    return depth > 0 ? static_cast<uint16_t>(rounded) : uint16_t{0};
  }

  static std::vector<float> numbers_of(const PairPlan& plan) {
    std::vector<float> numbers;
    for (const Camera& camera : plan.cameras) {
      const float cx = 0.5f * static_cast<float>(camera.width - 1), cy = 0.5f * static_cast<float>(camera.height - 1);
      numbers.insert(numbers.end(), {camera.focal_px, camera.focal_px, cx, cy});
    }
    double pose[16];
    cam1_from_cam2(plan.cameras[0], plan.cameras[1], pose);
    for (double value : pose) numbers.push_back(static_cast<float>(value));
    numbers.insert(numbers.end(), {plan.overlap, plan.baseline_over_median_depth});
    return numbers;
  }

  const Kernel& kernel_;
  PairOptions options_;
  Renderer renderer_;
  View views_[2];
  std::vector<uint16_t> halves_;
};

// Slots for finished records; slot i holds pair i, i + slots, ...
class Ring {
 public:
  Ring(size_t num_slots, uint64_t count) : slots_(num_slots), count_(count) {}

  // The next pair to make; false when there are no more or the reader has gone.
  bool claim(uint64_t& offset) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || next_ < written_ + slots_.size(); });
    if (stopped_ || (count_ != 0 && next_ == count_)) return false;
    offset = next_++;
    return true;
  }
  // Only the worker that claimed `offset` touches its slot until it is finished.
  std::vector<std::byte>& record(uint64_t offset) { return slots_[offset % slots_.size()].bytes; }
  void finish(uint64_t offset) {
    const std::lock_guard lock(mutex_);
    slots_[offset % slots_.size()].ready = true;
    changed_.notify_all();
  }
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    error_ = error;
    stopped_ = true;
    changed_.notify_all();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  // Hands records to the sink in order until all are written, the sink refuses or a worker fails.
  void drain(const ByteSink& sink) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (count_ != 0 && written_ == count_) return;
      Slot& slot = slots_[written_ % slots_.size()];
      changed_.wait(lock, [&] { return stopped_ || slot.ready; });
      if (stopped_) return;
      lock.unlock();
      if (!sink(slot.bytes)) return;
      lock.lock();
      slot.ready = false;
      ++written_;
      changed_.notify_all();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct Slot {
    std::vector<std::byte> bytes;
    bool ready = false;
  };
  std::vector<Slot> slots_;
  const uint64_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ = 0, written_ = 0;  // counted from the first pair
  bool stopped_ = false;
  std::exception_ptr error_;
};

void work(const Kernel& kernel, const StreamOptions& options, Ring& ring) {
  try {
    PairMaker maker(kernel, options.pair);
    for (uint64_t offset = 0; ring.claim(offset);) {
      maker.make(options.first + offset, ring.record(offset));
      ring.finish(offset);
    }
  } catch (...) {
    ring.fail(std::current_exception());
  }
}

}  // namespace

size_t record_bytes(int width, int height) {
  return static_cast<size_t>(width) * static_cast<size_t>(height) * 2 * (3 + 2) + 4 * kRecordFloats;
}

void stream_pairs(const Kernel& kernel, const StreamOptions& options, const ByteSink& sink) {
  POINTMAP_CHECK(options.num_threads >= 1 && options.num_threads <= 1024,
                 "scene_gen: got " + std::to_string(options.num_threads) + " threads, wanted 1 to 1024");
  (void)plan_pair(kernel, options.pair, options.first);  // refuses bad sizes before the header is out
  std::vector<std::byte> header(kHeaderBytes);
  RecordWriter writer(header);
  const uint32_t size[2] = {static_cast<uint32_t>(options.pair.width), static_cast<uint32_t>(options.pair.height)};
  writer.put("PMPAIRS1", 8);
  writer.put(size, sizeof size);
  writer.put(&options.count, sizeof options.count);
  if (!sink(header)) return;

  Ring ring(4 * options.num_threads + 4, options.count);
  std::vector<std::jthread> workers;
  for (size_t i = 0; i < options.num_threads; ++i) workers.emplace_back([&] { work(kernel, options, ring); });
  try {
    ring.drain(sink);
  } catch (...) {
    ring.fail(std::current_exception());
  }
  ring.stop();
  workers.clear();  // joins
  ring.rethrow();
}

}  // namespace pointmap::scene_gen
