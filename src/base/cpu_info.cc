#include "base/cpu_info.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

namespace pointmap {
namespace {

constexpr std::array<std::string_view, 11> kInterestingFeatures = {
    "sse4_1", "avx", "f16c", "fma", "avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_bf16", "amx_int8"};

std::string value_after_colon(const std::string& line) {
  const size_t colon = line.find(':');
  if (colon == std::string::npos) return "";
  const size_t begin = line.find_first_not_of(" \t", colon + 1);
  return begin == std::string::npos ? "" : line.substr(begin);
}

}  // namespace

CpuInfo read_cpu_info() {
  CpuInfo info;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {  // the first processor stands for all
    if (line.starts_with("model name")) info.model_name = value_after_colon(line);
    if (line.starts_with("flags")) {
      std::istringstream flags(value_after_colon(line));
      for (std::string flag; flags >> flag;) {
        if (std::find(kInterestingFeatures.begin(), kInterestingFeatures.end(), flag) != kInterestingFeatures.end()) {
          info.features.push_back(flag);
        }
      }
    }
  }
  if (info.model_name.empty()) info.model_name = "unknown CPU";
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) info.available_cores = std::max(1, CPU_COUNT(&allowed));
  return info;
}

size_t l2_cache_bytes() {
  const long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<size_t>(bytes) : size_t{512} * 1024;
}

}  // namespace pointmap
