// out[i, k] += sum_j log_table[offsets[j] + x_ij, k]; a cell without a category adds nothing. Cost: n m K additions.
// The table is first padded to whole vectors, with a row of zeros in front for the cells without a category.
#pragma once
#include <lyceum/core/simd.hpp>
#include <lyceum/rows/category_codes.hpp>

namespace lyceum::bayes {

inline Matrix<const double> pad_table(Matrix<const double> table) {
    const size_t wide = round_up(table.cols, lanes<double>), rows = table.rows + 1;
    double* padded = zeroed<struct PaddedTable, double>(rows * wide);
    for (size_t r = 0; r < table.rows; ++r) std::copy_n(table.row(r), table.cols, padded + (r + 1) * wide);
    return {padded, rows, wide};
}

// The sum of `m` rows of the padded table, `Count` vectors of classes from k on, for every row of a tile.
template <int Count>
void add_table_rows(const std::int32_t* table_rows, size_t rows, size_t m, Matrix<const double> table, size_t k,
                    size_t K, double* out) {
    constexpr size_t L = lanes<double>;
    for (size_t r = 0; r < rows; ++r, table_rows += m, out += K) {
        Vec<double> sum[Count] = {};
        for (size_t j = 0; j < m; ++j) {
            const double* from = table.row(static_cast<size_t>(table_rows[j] + 1)) + k;
#pragma GCC unroll 4
            for (int c = 0; c < Count; ++c) sum[c] += load(from + c * L);
        }
        double total[Count * L];
        for (int c = 0; c < Count; ++c) store(total + c * L, sum[c]);
        for (size_t c = 0; c < std::min(Count * L, K - k); ++c) out[k + c] += total[c];
    }
}

inline void table_log_joint(const rows::CodedRows& X, rows::CodedColumns coded, Matrix<const double> table, double* out,
                            InterruptPoll poll) {
    constexpr size_t L = lanes<double>;
    const size_t K = table.cols;
    const auto padded = pad_table(table);
    rows::visit_categories(X, coded, poll, [&](size_t begin, size_t count, const std::int32_t* rows) {
        double* to = out + begin * K;
        size_t k = 0;
        for (; k + 3 * L < padded.cols; k += 4 * L) add_table_rows<4>(rows, count, coded.m, padded, k, K, to);
        for (; k + L < padded.cols; k += 2 * L) add_table_rows<2>(rows, count, coded.m, padded, k, K, to);
        if (k < padded.cols) add_table_rows<1>(rows, count, coded.m, padded, k, K, to);
    });
}

}  // namespace lyceum::bayes
