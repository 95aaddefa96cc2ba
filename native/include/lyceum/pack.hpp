// Columns side by side as a row-major matrix: out[i, j] = columns[j][i]. Tile by tile, so that the rows being written
// stay in the first-level cache. Cost: n d moves.
#pragma once
#include <algorithm>
#include <vector>

#include "views.hpp"

namespace lyceum {

struct PackedColumn {
    const void* data;
    bool single;  // float, else double
};

template <class T, class U>
inline void pack_column(const T* column, size_t begin, size_t end, Matrix<U> out, size_t j) {
    U* to = out.data + begin * out.cols + j;
    for (size_t i = begin; i < end; ++i, to += out.cols) *to = static_cast<U>(column[i]);
}

template <class U>
void pack(const std::vector<PackedColumn>& columns, Matrix<U> out) {
    const size_t step = std::max<size_t>(8, 2048 / std::max<size_t>(1, out.cols));
    for (size_t begin = 0; begin < out.rows; begin += step) {
        const size_t end = std::min(begin + step, out.rows);
        for (size_t j = 0; j < columns.size(); ++j) {
            if (columns[j].single)
                pack_column(static_cast<const float*>(columns[j].data), begin, end, out, j);
            else
                pack_column(static_cast<const double*>(columns[j].data), begin, end, out, j);
        }
    }
}

}  // namespace lyceum
