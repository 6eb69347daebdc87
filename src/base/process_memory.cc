#include "base/process_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

namespace pointmap {
namespace {

// The value of a "Key:   123 kB" line of a /proc file, in bytes; 0 if absent.
size_t read_kilobytes(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!std::string_view(line).starts_with(key)) continue;
    std::istringstream rest(line.substr(key.size()));
    size_t kilobytes = 0;
    rest >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

ProcessMemory read_process_memory() {
  return {.resident_bytes = read_kilobytes("/proc/self/status", "VmRSS:"),
          .peak_resident_bytes = read_kilobytes("/proc/self/status", "VmHWM:")};
}

size_t read_available_memory_bytes() {
  return read_kilobytes("/proc/meminfo", "MemAvailable:");
}

void advise_huge_pages(void* data, size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (std::align(page_bytes, page_bytes, data, bytes) == nullptr) return;  // less than a page
  (void)::madvise(data, bytes / page_bytes * page_bytes, MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}

}  // namespace pointmap
