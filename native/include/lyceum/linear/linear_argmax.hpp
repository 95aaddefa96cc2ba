// labels[i] = the first k that maximizes intercept[k] + sum_j x_ij coef[k, j], with the check for NaN and infinity in
// the same read. Cost: n d K multiply-adds.
#pragma once
#include <lyceum/core/dots.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>

namespace lyceum::linear {

// Coefficients packed for `dot_group`; outputs that only fill a group have the intercept -inf and never win.
struct LinearRule {
    const double *packed, *intercept;
    size_t groups;
};

inline LinearRule pack_rule(const double* coef, const double* intercept, size_t K, size_t d) {
    const size_t wide = packed_outputs(K);
    double* packed = scratch<struct LinearPacked, double>(wide * d);
    double* level = scratch<struct LinearLevel, double>(wide);
    pack_outputs(coef, K, d, d, packed);
    std::copy_n(intercept, K, level);
    std::fill(level + K, level + wide, -std::numeric_limits<double>::infinity());
    return {packed, level, wide / group_outputs};
}

// x * 0 is NaN for NaN and infinities alone.
inline bool all_finite(const double* x, size_t count) {
    constexpr size_t L = lanes<double>;
    Vec<double> sum{};
    for (size_t i = 0; i < count; i += L) sum += load(x + i) * 0.0;
    return sum_lanes<double>(sum) == 0.0;
}

// The best output of three vectors of rows, [vector][column][lane].
inline void best_outputs(const LinearRule& rule, const double* rows, size_t step, size_t d,
                         Vec<std::int64_t> (&label)[row_vectors]) {
    Vec<double> best[row_vectors];
    for (int v = 0; v < row_vectors; ++v) {
        best[v] = splat(-std::numeric_limits<double>::infinity());
        label[v] = Vec<std::int64_t>{};
    }
    for (size_t g = 0; g < rule.groups; ++g)
        dot_group<double>(rows, step, 0, d, rule.packed + g * d * group_outputs, rule.intercept, g * group_outputs,
                          [&](size_t k, int v, Vec<double> score) {
                              const auto better = score > best[v];
                              best[v] = better ? score : best[v];
                              label[v] = better ? splat(static_cast<std::int64_t>(k)) : label[v];
                          });
}

// False, and labels unspecified from there on, if a cell is NaN or infinite.
template <class T>
bool linear_argmax(Matrix<const T> X, const double* coef, const double* intercept, size_t K, std::int64_t* labels,
                   InterruptPoll poll) {
    constexpr size_t L = lanes<double>, group = row_vectors * L;
    const size_t d = X.cols, wide = padded<double>(d);
    const LinearRule rule = pack_rule(coef, intercept, K, d);
    double* origin = zeroed<struct LinearOrigin, double>(wide);
    double* panels = scratch<struct LinearPanels, double>(tile_size<double>(d));
    double* rows = scratch<struct LinearRows, double>(tile_size<double>(d));
    for (size_t begin = 0; begin < X.rows; begin += tile_rows) {
        const size_t count = std::min(tile_rows, X.rows - begin);
        for (size_t r = 0; r < count; ++r) pack_row<double>(X.row(begin + r), X.end(), d, origin, 1.0, panels, r);
        clear_rows(panels, d, count);
        if (!all_finite(panels, tile_size<double>(d))) return false;
        transpose_tile(panels, d, rows);
        for (size_t first = 0; first < count; first += group) {
            Vec<std::int64_t> label[row_vectors];
            best_outputs(rule, rows + first * wide, wide * L, d, label);
            for (size_t i = 0; i < std::min(group, count - first); ++i) labels[begin + first + i] = label[i / L][i % L];
        }
        poll(count * d * (packed_outputs(K) + 8));
    }
    return true;
}

}  // namespace lyceum::linear
