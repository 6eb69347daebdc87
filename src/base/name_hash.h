// Pseudo-random numbers that are a function of a name, as the golden data's description defines them: the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace pointmap {

// FNV-1a, 64 bits, over the name's bytes.
constexpr uint64_t fnv1a_64(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

// The output function of SplitMix64 for state x: 64 well-mixed bits.
constexpr uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace pointmap
