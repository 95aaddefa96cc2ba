// For every chosen column: are all its cells (NaN apart) whole numbers in [0, limit), and which of them occur?
// A column that fails is not read further. Cost: one look at every cell.
#pragma once
#include <algorithm>
#include <type_traits>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::rows {

// Marks x as seen; false if it is neither NaN nor a whole number in [0, limit).
template <class T>
inline bool mark_seen(T x, std::int64_t limit, std::uint8_t* seen) {
    if constexpr (std::is_floating_point_v<T>)
        if (!(x >= T{0} && x < static_cast<T>(limit))) return x != x;
    const auto code = static_cast<std::int64_t>(x);
    if (static_cast<std::uint64_t>(code) >= static_cast<std::uint64_t>(limit)) return false;
    if (static_cast<T>(code) != x) return false;
    seen[code] = 1;
    return true;
}

// A column that has been regular so far.
struct RegularColumn {
    std::int32_t column;
    std::uint8_t *seen, *regular;
};

template <class T>
void integer_presence(Matrix<const T> X, const std::int32_t* columns, Matrix<std::uint8_t> seen, std::uint8_t* regular,
                      InterruptPoll poll) {
    constexpr size_t step = 256;
    const auto limit = static_cast<std::int64_t>(seen.cols);
    auto* active = scratch<struct ActiveColumns, RegularColumn>(seen.rows);
    size_t left = seen.rows;
    for (size_t j = 0; j < left; ++j) active[j] = {columns[j], seen.row(j), regular + j};
    std::fill_n(regular, left, std::uint8_t{1});
    for (size_t begin = 0; begin < X.rows && left; begin += step) {
        const size_t end = std::min(X.rows, begin + step);
        for (size_t i = begin; i < end; ++i) {
            const T* x = X.row(i);
            for (size_t a = 0; a < left; ++a)
                if (!mark_seen(x[active[a].column], limit, active[a].seen)) *active[a].regular = 0;
        }
        left = std::remove_if(active, active + left, [](const RegularColumn& c) { return !*c.regular; }) - active;
        poll((end - begin) * left * 16);
    }
}

}  // namespace lyceum::rows
