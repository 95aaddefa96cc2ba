// Cells to bins of one byte. A continuous column has rising edges e_0 < e_1 < ...: bin b holds (e_{b-1}, e_b], so that
// the bin of x is the number of edges below x, found by a search without branches in eight steps. A category goes by a
// table. What is missing, or not in the table, has the bin after the last.
#pragma once
#include <algorithm>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::boosting {

inline constexpr size_t edge_slots = 256;  // of a column: at most 254 edges, then infinities
inline constexpr size_t bin_rows = 64;     // looked up at a time

template <class T>
struct BinEdges {
    const T* edges;              // [d][edge_slots]
    const std::int32_t* n_bins;  // [d]
    const std::int64_t* start;   // [d + 1], where the table of a categorical column is; empty: continuous
    const std::uint8_t* table;

    bool is_category(size_t j) const { return start[j] < start[j + 1]; }

    // The bins of some cells of column j: one of eight parts by its seven bounds, then five halvings.
    void numbers(const T* x, size_t count, size_t j, std::uint8_t* codes) const {
        const T* e = edges + j * edge_slots;
        const Int<T> missing = n_bins[j];
        Int<T> at[bin_rows] = {};
        for (size_t pivot = 31; pivot < 255; pivot += 32) {
            const T bound = e[pivot];
            for (size_t i = 0; i < bin_rows; ++i) at[i] += bound < x[i] ? 32 : 0;
        }
        for (Int<T> step = 16; step; step /= 2)
            for (size_t i = 0; i < bin_rows; ++i) at[i] += e[at[i] + step - 1] < x[i] ? step : 0;
        for (size_t i = 0; i < count; ++i) codes[i] = static_cast<std::uint8_t>(x[i] == x[i] ? at[i] : missing);
    }

    std::uint8_t category(T x, size_t j) const {
        const auto count = start[j + 1] - start[j];
        const bool known = x >= 0 && x < static_cast<T>(count);
        return known ? table[start[j] + static_cast<std::int64_t>(x)] : static_cast<std::uint8_t>(n_bins[j]);
    }
};

// Writes the bins of all cells to out[i * row_step + j * column_step], and if `columns` is given to columns[j * height
// + i].
template <class T>
void bin_codes(Matrix<const T> X, const BinEdges<T>& bins, std::uint8_t* out, std::int64_t row_step,
               std::int64_t column_step, std::uint8_t* columns, std::int64_t height, InterruptPoll poll) {
    std::uint8_t codes[bin_rows];
    T cells[bin_rows] = {};
    for (size_t begin = 0; begin < X.rows; begin += bin_rows) {
        const size_t count = std::min(bin_rows, X.rows - begin);
        for (size_t j = 0; j < X.cols; ++j) {
            const T* x = X.row(begin) + j;
            for (size_t i = 0; i < count; ++i) cells[i] = x[i * X.cols];
            if (bins.is_category(j))
                for (size_t i = 0; i < count; ++i) codes[i] = bins.category(cells[i], j);
            else
                bins.numbers(cells, count, j, codes);
            const auto row = static_cast<std::int64_t>(begin), column = static_cast<std::int64_t>(j);
            std::uint8_t* to = out + row * row_step + column * column_step;
            for (size_t i = 0; i < count; ++i) to[static_cast<std::int64_t>(i) * row_step] = codes[i];
            if (columns) std::copy_n(codes, count, columns + column * height + row);
        }
        poll(count * X.cols * 8);
    }
}

}  // namespace lyceum::boosting
