// How much memory this process uses and how much the machine has left, from /proc.
#pragma once

#include <cstddef>

namespace pointmap {

struct ProcessMemory {
  size_t resident_bytes = 0;       // now
  size_t peak_resident_bytes = 0;  // highest since the process began
};

ProcessMemory read_process_memory();

// Bytes that can still be taken without swapping, or 0 when unknown.
size_t read_available_memory_bytes();

}  // namespace pointmap
