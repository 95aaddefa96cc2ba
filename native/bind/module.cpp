// The Python module: every family of kernels binds itself through one function.
#include <nanobind/nanobind.h>
#include <omp.h>

namespace nb = nanobind;

NB_MODULE(LYCEUM_MODULE, m) {
    m.def("max_threads", &omp_get_max_threads,
          "Threads that OpenMP would use here: obeys OMP_NUM_THREADS and threadpoolctl.");
}
