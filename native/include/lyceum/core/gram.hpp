// Sums over the rows of a tile: C += A'B for panels A and B, kept in registers block by block.
// Cost: rows * columns(A) * columns(B) multiply-adds, half of that when only the upper triangle is wanted.
#pragma once
#include <lyceum/core/tile.hpp>

namespace lyceum {

// C[0..L, 0..WideSums*L) += sum over rows of a(row, i) * b(row, j), where a(row, i) = a[row * row_step + i *
// column_step].
template <int WideSums>
inline void gram_block(const double* a, size_t row_step, size_t column_step, const double* b, double* c, size_t stride,
                       Prefetch& ahead) {
    constexpr int L = lanes<double>;
    Vec<double> sum[L][WideSums] = {};
    for (size_t r = 0; r < tile_rows; ++r) {
        if (r % 2) ahead.fetch();
        Vec<double> right[WideSums];
#pragma GCC unroll 4
        for (int v = 0; v < WideSums; ++v) right[v] = load(b + v * tile_rows * L + r * L);
#pragma GCC unroll 8
        for (int i = 0; i < L; ++i)
#pragma GCC unroll 4
            for (int v = 0; v < WideSums; ++v) sum[i][v] += a[r * row_step + i * column_step] * right[v];
    }
#pragma GCC unroll 8
    for (int i = 0; i < L; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < WideSums; ++v) store(c + i * stride + v * L, load(c + i * stride + v * L) + sum[i][v]);
}

inline void gram_row(const double* a, size_t row_step, size_t column_step, const double* b, size_t count, double* c,
                     size_t stride, Prefetch& ahead) {
    constexpr size_t L = lanes<double>, step = tile_rows * L;
    for (; count >= 3; count -= 3, b += 3 * step, c += 3 * L)
        gram_block<3>(a, row_step, column_step, b, c, stride, ahead);
    if (count == 2) gram_block<2>(a, row_step, column_step, b, c, stride, ahead);
    if (count == 1) gram_block<1>(a, row_step, column_step, b, c, stride, ahead);
}

// The blocks on and above the diagonal of C += A'B, where A'B is symmetric (B = A, or A is B with its rows scaled).
// C is padded(columns) square.
inline void gram_upper(const double* a, const double* b, size_t columns, double* c, Prefetch ahead = {}) {
    constexpr size_t L = lanes<double>, step = tile_rows * L;
    const size_t count = panels_of<double>(columns), stride = count * L;
    for (size_t i = 0; i < count; ++i)
        gram_row(a + i * step, L, 1, b + i * step, count - i, c + i * L * stride + i * L, stride, ahead);
}

// C += A B for A of (outputs, tile_rows), outputs padded to whole vectors, and B in panels.
inline void gram_outputs(const double* a, size_t outputs, const double* b, size_t columns, double* c) {
    constexpr size_t L = lanes<double>;
    const size_t count = panels_of<double>(columns), stride = count * L;
    Prefetch nothing;
    for (size_t k = 0; k < outputs; k += L)
        gram_row(a + k * tile_rows, 1, tile_rows, b, count, c + k * stride, stride, nothing);
}

}  // namespace lyceum
