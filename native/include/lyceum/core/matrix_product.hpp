// C = start + A B for small matrices that stay in the cache: a block of C is summed in registers over all of K.
// Every entry is summed in the order of k by fused multiply-adds, so its bits depend on its row of A and column of B
// alone. Cost: M * N * K multiply-adds.
#pragma once
#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum {

inline constexpr size_t wide_columns =
    16;  // columns are padded to this in every build: whole vectors of float or double

// a(i, k) = data[i * row_step + k * column_step], so that a transpose is a swap of the steps.
template <class T>
struct Strided {
    const T* data;
    size_t row_step, column_step;
};

template <int WideSums>
inline constexpr int block_height = registers == 32 ? (WideSums == 4   ? 6
                                                       : WideSums == 3 ? 8
                                                       : WideSums == 2 ? 12
                                                                       : 16)
                                                    : (WideSums == 2 ? 6 : 12);

template <class T, int Tall, int WideSums>
inline void product_block(Strided<T> a, const T* b, size_t b_step, size_t K, const T* start, T* c, size_t c_step) {
    constexpr int L = lanes<T>;
    Vec<T> sum[Tall][WideSums];
#pragma GCC unroll 16
    for (int i = 0; i < Tall; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < WideSums; ++v) sum[i][v] = start ? load(start + v * L) : Vec<T>{};
    const T* at = a.data;
    for (size_t k = 0; k < K; ++k, at += a.column_step, b += b_step) {
        Vec<T> right[WideSums];
#pragma GCC unroll 4
        for (int v = 0; v < WideSums; ++v) right[v] = load(b + v * L);
#pragma GCC unroll 16
        for (int i = 0; i < Tall; ++i)
#pragma GCC unroll 4
            for (int v = 0; v < WideSums; ++v) sum[i][v] += at[i * a.row_step] * right[v];
    }
#pragma GCC unroll 16
    for (int i = 0; i < Tall; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < WideSums; ++v) store(c + i * c_step + v * L, sum[i][v]);
}

template <class T, int Tall, int WideSums>
inline void product_rows(Strided<T>& a, size_t& M, const T* b, size_t b_step, size_t K, const T* start, T*& c,
                         size_t c_step) {
    for (; M >= Tall; M -= Tall, a.data += Tall * a.row_step, c += Tall * c_step)
        product_block<T, Tall, WideSums>(a, b, b_step, K, start, c, c_step);
}

// WideSums vectors of columns of C.
template <class T, int WideSums>
inline void product_columns(Strided<T> a, size_t M, const T* b, size_t b_step, size_t K, const T* start, T* c,
                            size_t c_step) {
    product_rows<T, block_height<WideSums>, WideSums>(a, M, b, b_step, K, start, c, c_step);
    if constexpr (block_height<WideSums> > 8) product_rows<T, 8, WideSums>(a, M, b, b_step, K, start, c, c_step);
    if constexpr (block_height<WideSums> > 4) product_rows<T, 4, WideSums>(a, M, b, b_step, K, start, c, c_step);
    product_rows<T, 2, WideSums>(a, M, b, b_step, K, start, c, c_step);
    product_rows<T, 1, WideSums>(a, M, b, b_step, K, start, c, c_step);
}

// C (M, N) = A (M, K) B (K, N) plus the row `start`, if there is one; N is a multiple of `wide_columns`.
template <class T>
inline void product(Strided<T> a, size_t M, const T* b, size_t b_step, size_t K, size_t N, const T* start, T* c,
                    size_t c_step) {
    constexpr int L = lanes<T>, most = registers == 32 ? 4 : 2;
    const auto begin = [&](size_t j) { return start ? start + j : nullptr; };
    size_t j = 0, left = N / L;
    for (; left >= most; left -= most, j += most * L)
        product_columns<T, most>(a, M, b + j, b_step, K, begin(j), c + j, c_step);
    if constexpr (most > 2) {
        if (left == 3) product_columns<T, 3>(a, M, b + j, b_step, K, begin(j), c + j, c_step);
        if (left == 2) product_columns<T, 2>(a, M, b + j, b_step, K, begin(j), c + j, c_step);
    }
    if (left == 1) product_columns<T, 1>(a, M, b + j, b_step, K, begin(j), c + j, c_step);
}

// out (columns, padded rows) = the transpose of B (rows, columns; padded to b_step), what is beyond its rows zero.
template <class T>
inline void transpose_padded(const T* b, size_t rows, size_t columns, size_t b_step, T* out) {
    constexpr size_t L = lanes<T>;
    const size_t out_step = round_up(rows, wide_columns);
    for (size_t j = 0; j < columns; j += L)
        for (size_t i = 0; i < out_step; i += L) {
            Vec<T> v[L];
            for (size_t r = 0; r < L; ++r) v[r] = i + r < rows ? load(b + (i + r) * b_step + j) : Vec<T>{};
            transpose<T>(v);
            for (size_t r = 0; r < L && j + r < columns; ++r) store(out + (j + r) * out_step + i, v[r]);
        }
}

}  // namespace lyceum
