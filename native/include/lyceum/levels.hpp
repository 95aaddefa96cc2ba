// Levels of coded columns: the cell x of column j is row offsets[j] + x of a stacked table of levels.
// A cell that is NaN, negative or past its column's levels has none.
#pragma once
#include <algorithm>

#include "interrupt.hpp"
#include "scratch.hpp"
#include "views.hpp"

namespace lyceum {

inline constexpr std::int32_t no_level = -1;

struct Levels {
    const std::int32_t* columns;  // (m,)
    const std::int64_t* offsets;  // (m + 1,)
    size_t m;

    std::int64_t size(size_t j) const { return offsets[j + 1] - offsets[j]; }
};

template <class T>
inline std::int32_t level_row(T x, std::int64_t offset, std::int64_t size) {
    if constexpr (std::is_floating_point_v<T>) {
        const bool here = x >= T{0} && x < static_cast<T>(size);
        const auto level = static_cast<std::int32_t>(here ? x : T{0});
        return here ? static_cast<std::int32_t>(offset) + level : no_level;
    } else {
        const auto level = static_cast<std::int64_t>(x);
        return static_cast<std::uint64_t>(level) < static_cast<std::uint64_t>(size)
                   ? static_cast<std::int32_t>(offset + level)
                   : no_level;
    }
}

inline size_t level_tile_rows(size_t m) { return std::max<size_t>(1, 4096 / std::max<size_t>(1, m)); }

// Calls visit(first row, rows, table rows [rows][m]) for tile after tile of X.
template <class T, class Visit>
void visit_levels(Matrix<const T> X, Levels levels, Poll& poll, Visit&& visit) {
    const size_t m = levels.m, step = level_tile_rows(m);
    auto* rows = scratch<struct LevelRows, std::int32_t>(step * m);
    for (size_t begin = 0; begin < X.rows; begin += step) {
        const size_t count = std::min(step, X.rows - begin);
        for (size_t r = 0; r < count; ++r) {
            const T* x = X.row(begin + r);
            for (size_t j = 0; j < m; ++j)
                rows[r * m + j] = level_row(x[levels.columns[j]], levels.offsets[j], levels.size(j));
        }
        visit(begin, count, rows);
        poll(count * m * 16);
    }
}

}  // namespace lyceum
