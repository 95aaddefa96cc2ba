// out[i, k] += sum_j log_table[offsets[j] + x_ij, k]; a cell without a level adds nothing. Cost: n m K additions.
#pragma once
#include <utility>

#include "levels.hpp"

namespace lyceum {

// The sum of `m` table rows for one row of data; a fixed K keeps it in registers.
template <size_t K>
inline void add_table_rows(const std::int32_t* rows, size_t m, const double* table, double* out) {
    double sum[K] = {};
    for (size_t j = 0; j < m; ++j) {
        if (rows[j] == no_level) continue;
        const double* from = table + static_cast<size_t>(rows[j]) * K;
        for (size_t k = 0; k < K; ++k) sum[k] += from[k];
    }
    for (size_t k = 0; k < K; ++k) out[k] += sum[k];
}

inline void add_table_rows(size_t K, const std::int32_t* rows, size_t m, const double* table, double* out) {
    for (size_t j = 0; j < m; ++j) {
        if (rows[j] == no_level) continue;
        const double* from = table + static_cast<size_t>(rows[j]) * K;
#pragma omp simd
        for (size_t k = 0; k < K; ++k) out[k] += from[k];
    }
}

template <class T>
void table_log_joint(Matrix<const T> X, Levels levels, const double* table, size_t K, double* out, Poll poll) {
    const size_t m = levels.m;
    visit_levels(X, levels, poll, [&](size_t begin, size_t count, const std::int32_t* rows) {
        double* to = out + begin * K;
        const auto each = [&](auto add) {
            for (size_t r = 0; r < count; ++r) add(rows + r * m, to + r * K);
        };
        const auto fixed = [&]<size_t F>(std::integral_constant<size_t, F>) {
            each([&](const std::int32_t* from, double* sum) { add_table_rows<F>(from, m, table, sum); });
        };
        switch (K) {
            case 1: return fixed(std::integral_constant<size_t, 1>{});
            case 2: return fixed(std::integral_constant<size_t, 2>{});
            case 3: return fixed(std::integral_constant<size_t, 3>{});
            case 4: return fixed(std::integral_constant<size_t, 4>{});
            case 5: return fixed(std::integral_constant<size_t, 5>{});
            case 8: return fixed(std::integral_constant<size_t, 8>{});
            default: return each([&](const std::int32_t* from, double* sum) { add_table_rows(K, from, m, table, sum); });
        }
    });
}

}  // namespace lyceum
