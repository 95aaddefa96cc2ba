// The Python module: every family of kernels binds itself through one function.
#define NB_DOMAIN LYCEUM_MODULE  // the types of every level are its own: tests load several into one process
#include <omp.h>

#include "arrays.hpp"

NB_MODULE(LYCEUM_MODULE, m) {
    m.def("max_threads", &omp_get_max_threads,
          "Threads that OpenMP would use here: obeys OMP_NUM_THREADS and threadpoolctl.");
    bind_boosting(m);
    bind_checks(m);
    bind_coordinate_descent(m);
    bind_perceptron(m);
    bind_moments(m);
    bind_network(m);
    bind_node_models(m);
    bind_node_splits(m);
    bind_node_histogram(m);
    bind_kernel_sums(m);
    bind_levels(m);
    bind_densities(m);
    bind_lloyd(m);
    bind_losses(m);
    bind_pack(m);
    bind_sparse_rows(m);
    bind_stumps(m);
    bind_trees(m);
    bind_tree_route(m);
}
