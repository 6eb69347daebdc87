// Random numbers and elementary functions that give the same bits on every machine: no libm, no <random> distributions.
#pragma once

#include <cmath>
#include <cstdint>

namespace pointmap::scene_gen {

inline uint64_t mix_bits(uint64_t x) {  // the finaliser of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// log(x) for x > 0 and exp(x) for |x| < 700, to about 1e-14: series in plain arithmetic, so that no machine differs.
double portable_log(double x);
double portable_exp(double x);
// Any angle up to a few thousand radians.
double portable_sin(double radians);
inline double portable_cos(double radians) {
  return portable_sin(radians + 1.5707963267948966);
}

// One stream of numbers per (seed, index, purpose).
class Random {
 public:
  Random(uint64_t seed, uint64_t index, uint64_t purpose)
      : state_(mix_bits(mix_bits(mix_bits(seed + 0x9e3779b97f4a7c15u) ^ (index + 0x632be59bd9b4e019u)) ^ (purpose + 0x2545f4914f6cdd1du))) {
  }

  uint32_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    return static_cast<uint32_t>(mix_bits(state_) >> 32);
  }
  float uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }  // [0, 1)
  float uniform(float low, float high) { return low + (high - low) * uniform(); }
  float log_uniform(float low, float high) {
    return low * static_cast<float>(
                     portable_exp(static_cast<double>(uniform()) * portable_log(static_cast<double>(high) / static_cast<double>(low))));
  }
  float triangular() { return uniform() - uniform(); }  // (-1, 1), peak at 0
  int integer(int low, int high) {                      // both ends included
    return low + static_cast<int>((static_cast<uint64_t>(bits()) * static_cast<uint64_t>(high - low + 1)) >> 32);
  }
  bool chance(float probability) { return uniform() < probability; }

 private:
  uint64_t state_;
};

}  // namespace pointmap::scene_gen
