// Columns side by side as a row-major matrix: out[i, j] = columns[j][i]. Tile by tile, so that the rows being written
// stay in the first-level cache, and square by square in registers where both sides are double. Cost: n d moves.
#pragma once
#include <algorithm>
#include <vector>

#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::rows {

struct PackedColumn {
    const void* data;
    bool single;  // float, else double
};

template <class T, class U>
inline void pack_column(const T* column, size_t begin, size_t end, Matrix<U> out, size_t j) {
    U* to = out.data + begin * out.cols + j;
    for (size_t i = begin; i < end; ++i, to += out.cols) *to = static_cast<U>(column[i]);
}

// Columns j to j + L of doubles, L rows at a time; returns the first row that is left.
inline size_t pack_squares(const PackedColumn* columns, size_t begin, size_t end, Matrix<double> out, size_t j) {
    constexpr size_t L = lanes<double>;
    for (; begin + L <= end; begin += L) {
        Vec<double> square[L];
        for (size_t c = 0; c < L; ++c) square[c] = load(static_cast<const double*>(columns[c].data) + begin);
        transpose<double>(square);
        for (size_t r = 0; r < L; ++r) store(out.row(begin + r) + j, square[r]);
    }
    return begin;
}

template <class U>
void pack(const std::vector<PackedColumn>& columns, Matrix<U> out) {
    const size_t step = std::max<size_t>(8, 2048 / std::max<size_t>(1, out.cols));
    constexpr size_t L = lanes<double>;
    const bool doubles = std::is_same_v<U, double> &&
                         std::none_of(columns.begin(), columns.end(), [](const PackedColumn& c) { return c.single; });
    for (size_t begin = 0; begin < out.rows; begin += step) {
        const size_t end = std::min(begin + step, out.rows);
        size_t first = 0;
        if constexpr (std::is_same_v<U, double>)
            for (; doubles && first + L <= columns.size(); first += L) {
                const size_t rest = pack_squares(&columns[first], begin, end, out, first);
                for (size_t c = first; c < first + L; ++c)
                    pack_column(static_cast<const double*>(columns[c].data), rest, end, out, c);
            }
        for (size_t j = first; j < columns.size(); ++j) {
            if (columns[j].single)
                pack_column(static_cast<const float*>(columns[j].data), begin, end, out, j);
            else
                pack_column(static_cast<const double*>(columns[j].data), begin, end, out, j);
        }
    }
}

}  // namespace lyceum::rows
