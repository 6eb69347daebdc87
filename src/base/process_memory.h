// How much memory this process uses and how much the machine has left, from /proc, and how it is paged.
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

// Asks for 2 MiB pages where [data, data + bytes) has not been touched yet: memory that is read from end to end again and again
// then needs no walks of the page table. Only advice; nothing happens where the system has none to give.
void advise_huge_pages(void* data, size_t bytes);

}  // namespace pointmap
