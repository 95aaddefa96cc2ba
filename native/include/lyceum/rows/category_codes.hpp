// Levels of coded columns: the cell x of column j is row offsets[j] + x of a stacked table of levels.
// A cell that is NaN, negative or past its column's levels has none.
#pragma once
#include <algorithm>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::rows {

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
        const bool here = level >= 0 && level < size;
        return here ? static_cast<std::int32_t>(offset + level) : no_level;
    }
}

// The table rows of one row of data. Columns that follow one another need no gathering.
template <bool Consecutive, class T>
inline void level_rows(const T* x, Levels levels, std::int32_t* rows) {
    const T* first = x + (Consecutive ? levels.columns[0] : 0);
#pragma omp simd
    for (size_t j = 0; j < levels.m; ++j) {
        const T value = Consecutive ? first[j] : x[levels.columns[j]];
        rows[j] = level_row(value, levels.offsets[j], levels.size(j));
    }
}

// Calls visit(first row, rows, table rows [rows][m]) for tile after tile of X.
template <class T, class Visit>
void visit_levels(Matrix<const T> X, Levels levels, Poll& poll, Visit&& visit) {
    const size_t m = levels.m, step = std::max<size_t>(1, 4096 / std::max<size_t>(1, m));
    bool consecutive = m > 0;
    for (size_t j = 1; j < m; ++j) consecutive &= levels.columns[j] == levels.columns[j - 1] + 1;
    auto* rows = scratch<struct LevelRows, std::int32_t>(step * m);
    for (size_t begin = 0; begin < X.rows; begin += step) {
        const size_t count = std::min(step, X.rows - begin);
        for (size_t r = 0; r < count; ++r) {
            if (consecutive)
                level_rows<true>(X.row(begin + r), levels, rows + r * m);
            else
                level_rows<false>(X.row(begin + r), levels, rows + r * m);
        }
        visit(begin, count, rows);
        poll(count * m * 16);
    }
}

}  // namespace lyceum::rows
