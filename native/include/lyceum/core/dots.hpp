// Sums over the columns of a transposed tile: for three vectors of rows at a time, bias[k] + sum_j T[j] * coef[k, j]
// for every output k, handed from registers to `emit(k, v, value)`. Cost: rows * columns * outputs multiply-adds.
#pragma once
#include <lyceum/core/tile.hpp>

namespace lyceum {

inline constexpr int row_vectors = 3;
inline constexpr size_t group_outputs = registers == 32 ? 8 : 4;  // accumulators: 24 of 32 registers, or 12 of 16

constexpr size_t packed_outputs(size_t outputs) { return round_up(outputs, group_outputs); }

// coef (outputs, columns; row length `stride`) to [group][column][output], missing outputs zero.
template <class T, class U>
inline void pack_outputs(const T* coef, size_t outputs, size_t columns, size_t stride, U* packed) {
    for (size_t k = 0; k < packed_outputs(outputs); ++k) {
        U* to = packed + (k / group_outputs) * columns * group_outputs + k % group_outputs;
        for (size_t j = 0; j < columns; ++j)
            to[j * group_outputs] = k < outputs ? static_cast<U>(coef[k * stride + j]) : U{};
    }
}

// One group of outputs over columns [from, to); `step` is the distance between vectors of rows.
template <class U, class Emit>
inline void dot_group(const U* rows, size_t step, size_t from, size_t to, const U* packed, const U* bias, size_t k0,
                      Emit&& emit) {
    constexpr int L = lanes<U>, G = static_cast<int>(group_outputs);
    Vec<U> sum[G][row_vectors];
#pragma GCC unroll 8
    for (int g = 0; g < G; ++g)
#pragma GCC unroll 3
        for (int v = 0; v < row_vectors; ++v) sum[g][v] = splat<U>(bias[k0 + g]);
    for (size_t j = from; j < to; ++j) {
        Vec<U> x[row_vectors];
#pragma GCC unroll 3
        for (int v = 0; v < row_vectors; ++v) x[v] = load(rows + v * step + j * L);
#pragma GCC unroll 8
        for (int g = 0; g < G; ++g)
#pragma GCC unroll 3
            for (int v = 0; v < row_vectors; ++v) sum[g][v] += packed[j * G + g] * x[v];
    }
#pragma GCC unroll 8
    for (int g = 0; g < G; ++g)
#pragma GCC unroll 3
        for (int v = 0; v < row_vectors; ++v) emit(k0 + g, v, sum[g][v]);
}

}  // namespace lyceum
