// Log joint densities of rows and components to responsibilities and log densities:
//   log p(x_i) = log sum_k exp(a_ik),   r_ik = exp(a_ik - log p(x_i)).
// Cost: n K exponentials and n logarithms.
#pragma once
#include <lyceum/bayes/posterior.hpp>

namespace lyceum::mixtures {

inline void log_in_place(double* x, size_t count) {
    constexpr size_t L = lanes<double>;
    size_t i = 0;
    for (; i + L <= count; i += L) store(x + i, vlog(load(x + i)));
    for (; i < count; ++i) x[i] = std::log(x[i]);
}

// a (rows, K) becomes the responsibilities and `level` the log densities; a row that is -inf throughout has none.
inline void responsibilities(double* a, size_t rows, size_t K, double* level) {
    constexpr double nothing = -std::numeric_limits<double>::infinity();
    double* best = scratch<struct MixtureBest, double>(rows);
    for (size_t i = 0; i < rows; ++i) {
        double* row = a + i * K;
        best[i] = bayes::row_maximum(row, K);
        const double from = best[i] == nothing ? 0.0 : best[i];
        for (size_t k = 0; k < K; ++k) row[k] -= from;
    }
    bayes::exp_in_place(a, rows * K);
    for (size_t i = 0; i < rows; ++i) {
        level[i] = bayes::row_sum(a + i * K, K);
        const double scale = level[i] > 0 ? 1.0 / level[i] : 0.0;
        for (size_t k = 0; k < K; ++k) a[i * K + k] *= scale;
    }
    log_in_place(level, rows);
    for (size_t i = 0; i < rows; ++i) level[i] += best[i];
}

}  // namespace lyceum::mixtures
