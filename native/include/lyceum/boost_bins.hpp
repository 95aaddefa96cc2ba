// Cells to bins of one byte. A continuous column has rising edges e_0 < e_1 < ...: bin b holds (e_{b-1}, e_b], so that
// the bin of x is the number of edges below x, found by a search without branches in eight steps. A category goes by a
// table. What is missing, or not in the table, has the bin after the last.
#pragma once
#include <algorithm>

#include "interrupt.hpp"
#include "simd.hpp"
#include "views.hpp"

namespace lyceum {

inline constexpr size_t edge_slots = 256;  // of a column: at most 254 edges, then infinities
inline constexpr size_t bin_rows = 64;     // looked up at a time

template <class T>
struct BinEdges {
    const T* edges;               // [d][edge_slots]
    const std::int32_t* n_bins;   // [d]
    const std::int64_t* start;    // [d + 1], where the table of a categorical column is; empty: continuous
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

// Writes the bins of `width` columns of X from column `first` on to out[i * row_step + j * column_step].
template <class T>
void bin_codes(Matrix<const T> X, const BinEdges<T>& bins, size_t first, size_t width, std::uint8_t* out,
               std::int64_t row_step, std::int64_t column_step, Poll poll) {
    constexpr size_t rows = bin_rows;
    std::uint8_t codes[rows];
    T cells[rows] = {};
    for (size_t begin = 0; begin < X.rows; begin += rows) {
        const size_t count = std::min(rows, X.rows - begin);
        for (size_t j = 0; j < width; ++j) {
            const T* x = X.data + begin * X.cols + first + j;
            for (size_t i = 0; i < count; ++i) cells[i] = x[i * X.cols];
            if (bins.is_category(first + j))
                for (size_t i = 0; i < count; ++i) codes[i] = bins.category(cells[i], first + j);
            else
                bins.numbers(cells, count, first + j, codes);
            std::uint8_t* to = out + static_cast<std::int64_t>(begin) * row_step + static_cast<std::int64_t>(j) * column_step;
            for (size_t i = 0; i < count; ++i) to[static_cast<std::int64_t>(i) * row_step] = codes[i];
        }
        poll(count * width * 8);
    }
}

}  // namespace lyceum
