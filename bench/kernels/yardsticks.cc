#include "yardsticks.h"

#ifdef POINTMAP_HAVE_OPENBLAS
#include <cblas.h>
#endif
#ifdef POINTMAP_HAVE_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

namespace pointmap::bench {

Yardstick openblas_yardstick() {
#ifdef POINTMAP_HAVE_OPENBLAS
  return {.name = "OpenBLAS",
          .missing = "",
          .set_threads = [](int num_threads) { openblas_set_num_threads(num_threads); },
          .multiply =
              [](const GemmShape& s, const float* a, const float* w, float* c) {
                const auto m = static_cast<int>(s.rows), n = static_cast<int>(s.columns), k = static_cast<int>(s.depth);
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, a, k, w, k, 0.0f, c, n);
              }};
#else
  return {.name = "OpenBLAS", .missing = "CMake found no cblas.h and libopenblas"};
#endif
}

Yardstick onednn_yardstick() {
#ifdef POINTMAP_HAVE_ONEDNN
  return {.name = "oneDNN",
          .missing = "",
          .set_threads = [](int num_threads) { omp_set_num_threads(num_threads); },
          .multiply = [](const GemmShape& s, const float* a, const float* w,
                         float* c) { dnnl_sgemm('N', 'T', s.rows, s.columns, s.depth, 1.0f, a, s.depth, w, s.depth, 0.0f, c, s.columns); }};
#else
  return {.name = "oneDNN", .missing = "CMake found no dnnl with OpenMP"};
#endif
}

}  // namespace pointmap::bench
