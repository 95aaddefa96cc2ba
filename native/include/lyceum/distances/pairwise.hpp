// out[i, j] = the raw value of row i of X and row j of Y, both dense. Cost: rows * rows * columns.
#pragma once
#include <lyceum/core/any_call.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/distances/pair_tiles.hpp>

namespace lyceum::distances {

// A packed chunk of Y, from row `begin` on, against all packed rows of X; compiled once for a space.
template <class Space>
void pairwise_chunk(const Space& space, const double* side, size_t n, const double* rows, size_t begin, size_t count,
                    size_t d, size_t m, double* out, InterruptPoll& poll) {
    constexpr size_t G = side_rows<Space>, R = group_rows<double>, L = lanes<double>;
    double values[G * R];
    for (size_t i = 0; i < n; i += G) {
        for (size_t r = 0; r < count; r += R) {
            pair_tile<double>(space, rows + r * d, side + i * d, d,
                              [&](int g, int v, Vec<double> value) { store(values + g * R + v * L, value); });
            const size_t wide = std::min(R, count - r);
            for (size_t g = 0; g < std::min(G, n - i); ++g)
                std::copy_n(values + g * R, wide, out + (i + g) * m + begin + r);
        }
        poll(G * count * d);
    }
}

// pairwise_chunk in some space.
using CompareChunk =
    AnyCall<void(const double* side, const double* rows, size_t begin, size_t count, InterruptPoll& poll)>;

// `group` rows of X are compared together.
template <class T>
[[gnu::noipa]] void pairwise(size_t group, CompareChunk compare, Matrix<const T> X, Matrix<const T> Y,
                             InterruptPoll poll) {
    constexpr size_t R = group_rows<double>;
    const size_t n = X.rows, m = Y.rows, d = X.cols, chunk = chunk_rows(d);
    double* side = scratch<struct PairwiseSide, double>(round_up(n, group) * d);
    double* rows = scratch<struct PairwiseRows, double>(chunk * d);
    if (n) pack_groups(X, 0, n, group, side);
    for (size_t begin = 0; begin < m && n; begin += chunk) {
        const size_t count = std::min(chunk, m - begin);
        pack_groups(Y, begin, count, R, rows);
        compare(side, rows, begin, count, poll);
    }
}

template <class T, class Space>
void pairwise(const Space& space, Matrix<const T> X, Matrix<const T> Y, double* out, InterruptPoll poll) {
    const auto compare = [&](const double* side, const double* rows, size_t begin, size_t count,
                             InterruptPoll& polled) {
        pairwise_chunk(space, side, X.rows, rows, begin, count, X.cols, Y.rows, out, polled);
    };
    pairwise<T>(side_rows<Space>, compare, X, Y, poll);
}

}  // namespace lyceum::distances
