# POINTMAP_HWY_DISABLED_TARGETS: a definition for every target whose sources Highway compiles once per instruction set.

# Instruction sets to generate besides the compiler's baseline: AVX-512, AVX2 and SSE4. The mask drops Highway's bits 0..7 (AVX3_DL
# and above: nothing here uses what they add), 12 (SSSE3) and 24..27 (SVE: vectors of unknown size fit no register tile, NEON serves
# there); by number, since older Highways lack the newer names.
set(POINTMAP_HWY_DISABLED_TARGETS HWY_DISABLED_TARGETS=0x0F0010FF)
if(POINTMAP_SANITIZE MATCHES "thread")
  # AVX-512 (bit 8) too: GCC 12 dies of an internal error on masked broadcasts that the thread sanitizer looks at.
  set(POINTMAP_HWY_DISABLED_TARGETS HWY_DISABLED_TARGETS=0x0F0011FF)
endif()
