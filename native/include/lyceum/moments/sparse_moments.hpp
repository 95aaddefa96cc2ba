// Weight, mean, scatter, minimum and maximum of every column of sparse rows, whose cells are sorted and not twice.
// A cell that is not stored is zero, a NaN is skipped. A column with a cell in every row is summed about its first
// number, as it may lie far from zero; others about zero. Cost: two passes over the cells.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>
#include <vector>

namespace lyceum::moments {

template <class T>
struct SparseRows {
    const std::int32_t *indptr, *indices;
    const T* data;
    size_t rows, cols;
};

// One column in one line of memory.
struct alignas(64) ColumnSums {
    double first = std::numeric_limits<double>::quiet_NaN();
    double plain = 0, moved = 0;      // sums of w x and of w (x - first)
    double present = 0, missing = 0;  // weights
    double low = std::numeric_limits<double>::infinity(), high = -low;
    size_t stored = 0;
};

template <class T>
void sparse_moments(const SparseRows<T>& X, const double* w, double* weight, double* mean, double* scatter, double* low,
                    double* high, InterruptPoll poll) {
    std::vector<ColumnSums> columns(X.cols);
    double total = 0;
    for (size_t i = 0; i < X.rows; ++i) {
        const double v = w ? w[i] : 1.0;
        total += v;
        for (auto e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
            auto& column = columns[static_cast<size_t>(X.indices[e])];
            const double x = static_cast<double>(X.data[e]);
            ++column.stored;
            if (std::isnan(x)) {
                column.missing += v;
                continue;
            }
            if (std::isnan(column.first)) column.first = std::isfinite(x) ? x : 0.0;
            column.plain += v * x, column.moved += v * (x - column.first), column.present += v;
            column.low = std::min(column.low, x), column.high = std::max(column.high, x);
        }
        poll(8 * static_cast<size_t>(X.indptr[i + 1] - X.indptr[i]));
    }
    for (size_t j = 0; j < X.cols; ++j) {
        const auto& column = columns[j];
        const bool full = column.stored == X.rows;
        const double zeros = full ? 0.0 : std::max(total - column.present - column.missing, 0.0);
        const double all = column.present + zeros;
        const double start = full && !std::isnan(column.first) ? column.first : 0.0;
        weight[j] = all;
        mean[j] = start + (all > 0 ? (full ? column.moved : column.plain) / all : 0.0);
        scatter[j] = zeros * mean[j] * mean[j];
        low[j] = full ? column.low : std::min(column.low, 0.0);
        high[j] = full ? column.high : std::max(column.high, 0.0);
    }
    for (size_t i = 0; i < X.rows; ++i) {
        const double v = w ? w[i] : 1.0;
        for (auto e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
            const double x = static_cast<double>(X.data[e]);
            const auto j = static_cast<size_t>(X.indices[e]);
            if (!std::isnan(x)) scatter[j] += v * (x - mean[j]) * (x - mean[j]);
        }
        poll(8 * static_cast<size_t>(X.indptr[i + 1] - X.indptr[i]));
    }
}

}  // namespace lyceum::moments
