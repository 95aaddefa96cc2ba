// out[i, k] += sum_j c_jk - h_jk (x_ij - m_jk)^2 over the cells that are not NaN.
// Rows lie in the lanes: a tile of the chosen columns is transposed first. Cost: 3 n m K flops.
#pragma once
#include <algorithm>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::bayes {

// Per column and class, each (m, K).
struct GaussianTable {
    const double *mean, *half_precision, *constant;
    size_t m, K;
};

inline constexpr size_t gaussian_rows = 64;

// columns[j] of `rows` rows to tile [j][row]; missing rows are zero. True if a cell is NaN.
template <class T>
bool gather_columns(Matrix<const T> X, size_t begin, size_t rows, const std::int32_t* columns, size_t m, double* tile) {
    if (rows < gaussian_rows) std::fill_n(tile, m * gaussian_rows, 0.0);
    int missing = 0;
    for (size_t r = 0; r < rows; ++r) {
        const T* x = X.row(begin + r);
        for (size_t j = 0; j < m; ++j) {
            const double value = static_cast<double>(x[columns[j]]);
            tile[j * gaussian_rows + r] = value;
            missing |= value != value;
        }
    }
    return missing;
}

// sum_j of the terms of `Count` classes from k on, for one vector of rows. Constants are added when `Missing` masks
// them cell by cell; otherwise the caller adds their sum.
template <int Count, bool Missing>
inline void gaussian_terms(const double* tile, const GaussianTable& table, size_t k, Vec<double>* sum) {
    for (size_t j = 0; j < table.m; ++j) {
        const Vec<double> x = load(tile + j * gaussian_rows);
        const size_t at = j * table.K + k;
#pragma GCC unroll 8
        for (int c = 0; c < Count; ++c) {
            const Vec<double> t = x - table.mean[at + c];
            if constexpr (Missing) {
                const Vec<double> term = table.constant[at + c] - (t * table.half_precision[at + c]) * t;
                sum[c] += x == x ? term : Vec<double>{};
            } else {
                sum[c] -= (t * table.half_precision[at + c]) * t;
            }
        }
    }
}

template <int Count, bool Missing>
void add_gaussian(const double* tile, size_t rows, const GaussianTable& table, size_t k, const double* level,
                  double* out) {
    constexpr size_t L = lanes<double>;
    for (size_t r = 0; r < rows; r += L) {
        Vec<double> sum[Count];
        for (int c = 0; c < Count; ++c) sum[c] = splat(Missing ? 0.0 : level[k + c]);
        gaussian_terms<Count, Missing>(tile + r, table, k, sum);
        for (size_t i = 0; i < std::min(L, rows - r); ++i)
            for (int c = 0; c < Count; ++c) out[(r + i) * table.K + k + c] += sum[c][i];
    }
}

template <bool Missing>
void add_gaussian_classes(const double* tile, size_t rows, const GaussianTable& table, const double* level,
                          double* out) {
    size_t k = 0;
    for (; k + 4 <= table.K; k += 4) add_gaussian<4, Missing>(tile, rows, table, k, level, out);
    if (table.K - k == 3) add_gaussian<3, Missing>(tile, rows, table, k, level, out);
    if (table.K - k == 2) add_gaussian<2, Missing>(tile, rows, table, k, level, out);
    if (table.K - k == 1) add_gaussian<1, Missing>(tile, rows, table, k, level, out);
}

template <class T>
void gaussian_log_joint(Matrix<const T> X, const std::int32_t* columns, GaussianTable table, double* out,
                        InterruptPoll poll) {
    double* level = zeroed<struct GaussianLevel, double>(table.K);
    for (size_t j = 0; j < table.m; ++j)
        for (size_t k = 0; k < table.K; ++k) level[k] += table.constant[j * table.K + k];
    double* tile = scratch<struct GaussianTile, double>(table.m * gaussian_rows);
    for (size_t begin = 0; begin < X.rows; begin += gaussian_rows) {
        const size_t rows = std::min(gaussian_rows, X.rows - begin);
        double* to = out + begin * table.K;
        if (gather_columns(X, begin, rows, columns, table.m, tile))
            add_gaussian_classes<true>(tile, rows, table, level, to);
        else
            add_gaussian_classes<false>(tile, rows, table, level, to);
        poll(rows * table.m * (table.K + 8));
    }
}

}  // namespace lyceum::bayes
