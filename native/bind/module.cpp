// The Python module: every family of kernels binds itself through one function.
#ifdef _OPENMP
#include <omp.h>
#endif

#include <cstdlib>
#include <thread>

#include "arrays.hpp"

void bind_bayes(nb::module_& m);
void bind_bayesnets(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_category_codes(nb::module_& m);
void bind_checks(nb::module_& m);
void bind_cluster(nb::module_& m);
void bind_coordinate_descent(nb::module_& m);
void bind_density(nb::module_& m);
void bind_distances(nb::module_& m);
void bind_histogram_splits(nb::module_& m);
void bind_interleave_columns(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_linkage(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_medoids(nb::module_& m);
void bind_mixtures(nb::module_& m);
void bind_moments(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_neural(nb::module_& m);
void bind_node_histograms(nb::module_& m);
void bind_node_regressions(nb::module_& m);
void bind_node_rules(nb::module_& m);
void bind_row_by_row(nb::module_& m);
void bind_sparse_rows(nb::module_& m);
void bind_stumps(nb::module_& m);
void bind_tree_grow(nb::module_& m);
void bind_tree_route(nb::module_& m);

static int max_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    const char* wanted = std::getenv("OMP_NUM_THREADS");
    const int count = wanted ? std::atoi(wanted) : static_cast<int>(std::thread::hardware_concurrency());
    return std::max(count, 1);
#endif
}

NB_MODULE(LYCEUM_MODULE, m) {
#ifdef NDEBUG  // Python frees not everything before it ends, and users need not hear of it; the sanitizers find leaks
    nb::set_leak_warnings(false);
#endif
    m.def("max_threads", &max_threads, "Threads that OpenMP would use here: obeys OMP_NUM_THREADS and threadpoolctl.");
    bind_bayes(m);
    bind_bayesnets(m);
    bind_boosting(m);
    bind_category_codes(m);
    bind_checks(m);
    bind_cluster(m);
    bind_coordinate_descent(m);
    bind_density(m);
    bind_distances(m);
    bind_histogram_splits(m);
    bind_interleave_columns(m);
    bind_kernels(m);
    bind_linkage(m);
    bind_losses(m);
    bind_medoids(m);
    bind_mixtures(m);
    bind_moments(m);
    bind_neighbors(m);
    bind_neural(m);
    bind_node_histograms(m);
    bind_node_regressions(m);
    bind_node_rules(m);
    bind_row_by_row(m);
    bind_sparse_rows(m);
    bind_stumps(m);
    bind_tree_grow(m);
    bind_tree_route(m);
}
