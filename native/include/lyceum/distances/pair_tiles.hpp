// Raw values of many pairs at a time: three vectors of rows against a few rows of the other side, all in registers.
// Cost: one or two additions per cell of every pair.
#pragma once
#include <algorithm>
#include <lyceum/distances/spaces.hpp>

namespace lyceum::distances {

inline constexpr int row_vectors = 3;
template <class U>
inline constexpr size_t group_rows = row_vectors * lanes<U>;
template <class Space>
inline constexpr size_t side_rows = (Space::one_sum ? 4 : 2) * (registers / 16);  // sums in 12 of 16 registers

// Rows [begin, begin + count) of X as [group][column][row of the group]; the last row fills the last group.
template <class U, class T>
inline void pack_groups(Matrix<const T> X, size_t begin, size_t count, size_t group, U* out) {
    for (size_t at = 0; at < count; at += group, out += group * X.cols)
        for (size_t r = 0; r < group; ++r) {
            const T* x = X.row(begin + std::min(at + r, count - 1));
            for (size_t j = 0; j < X.cols; ++j) out[j * group + r] = static_cast<U>(x[j]);
        }
}

// `emit(g, v, values)` for the rows g of one side and the vectors v of a group of rows of the other.
template <class U, class Space, class Emit>
inline void pair_tile(const Space& space, const U* rows, const U* side, size_t d, Emit&& emit) {
    constexpr int L = lanes<U>, G = static_cast<int>(side_rows<Space>);
    typename Space::template State<Vec<U>> state[G][row_vectors];
    for (size_t j = 0; j < d; ++j) {
        Vec<U> x[row_vectors];
#pragma GCC unroll 3
        for (int v = 0; v < row_vectors; ++v) x[v] = load(rows + j * group_rows<U> + v * L);
#pragma GCC unroll 8
        for (int g = 0; g < G; ++g) {
            const Vec<U> y = Vec<U>{} + side[j * G + g];
#pragma GCC unroll 3
            for (int v = 0; v < row_vectors; ++v) space.add(state[g][v], x[v], y, j);
        }
    }
#pragma GCC unroll 8
    for (int g = 0; g < G; ++g)
#pragma GCC unroll 3
        for (int v = 0; v < row_vectors; ++v) emit(g, v, space.value(state[g][v]));
}

// Rows of one side that are packed together: a multiple of every group, small against the cache.
inline size_t chunk_rows(size_t columns) {
    return std::clamp<size_t>(16384 / std::max<size_t>(columns, 1), 96, 4096) / 96 * 96;
}

}  // namespace lyceum::distances
