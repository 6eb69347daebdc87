// The yardstick of kernel benchmarks: what the core reaches with nothing but multiply-adds, measured beside the kernel.
#pragma once

#include <cstdint>

namespace pointmap::bench {

// Runs `rounds` rounds of independent multiply-adds on one thread, at the vector width of the instruction set that Highway
// dispatches to. Returns the number of floating-point operations done, 2 per multiply and add.
double run_fma_rounds(int64_t rounds);

// Seconds of CPU that this thread has used: unlike wall time, blind to other processes on the core.
double thread_cpu_seconds();

}  // namespace pointmap::bench
