// The Python module: every family of kernels binds itself through one function.
#define NB_DOMAIN LYCEUM_MODULE  // the types of every level are its own: tests load several into one process
#include <omp.h>

#include "arrays.hpp"

void bind_distances(nb::module_& m);
void bind_node_rules(nb::module_& m);

NB_MODULE(LYCEUM_MODULE, m) {
    m.def("max_threads", &omp_get_max_threads,
          "Threads that OpenMP would use here: obeys OMP_NUM_THREADS and threadpoolctl.");
    bind_boosting(m);
    bind_checks(m);
    bind_coordinate_descent(m);
    bind_row_by_row(m);
    bind_moments(m);
    bind_network(m);
    bind_node_regressions(m);
    bind_histogram_splits(m);
    bind_node_histograms(m);
    bind_density(m);
    bind_category_codes(m);
    bind_bayes(m);
    bind_cluster(m);
    bind_distances(m);
    bind_losses(m);
    bind_interleave_columns(m);
    bind_sparse_rows(m);
    bind_stumps(m);
    bind_tree_grow(m);
    bind_node_rules(m);
    bind_tree_route(m);
}
