// out[i, k] += constant[k] - |W_k (x_i - m_k)|^2 / 2 for a dense or triangular W_k, whose zero margins are skipped.
// Cost: n K d^2 multiply-adds, half of that for triangular W.
#pragma once
#include <lyceum/core/dots.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>

namespace lyceum::bayes {

// Columns [from, to) outside of which a group of rows of W is zero.
struct Span {
    size_t from, to;
};

inline Span nonzero_span(const double* packed, size_t columns) {
    const auto zero = [=](size_t j) {
        const double* at = packed + j * group_outputs;
        return std::all_of(at, at + group_outputs, [](double x) { return x == 0; });
    };
    Span span{0, columns};
    while (span.from < span.to && zero(span.from)) ++span.from;
    while (span.to > span.from && zero(span.to - 1)) --span.to;
    return span;
}

// W_k of every class packed for `dot_group`, with the span of every group.
struct Whitening {
    const double* packed;
    const Span* spans;
    size_t groups, d;
};

inline Whitening pack_whitening(const double* W, size_t K, size_t d) {
    const size_t groups = packed_outputs(d) / group_outputs, size = packed_outputs(d) * d;
    double* packed = scratch<struct WhitenPacked, double>(K * size);
    Span* spans = scratch<struct WhitenSpans, Span>(K * groups);
    for (size_t k = 0; k < K; ++k) {
        pack_outputs(W + k * d * d, d, d, d, packed + k * size);
        for (size_t g = 0; g < groups; ++g)
            spans[k * groups + g] = nonzero_span(packed + k * size + g * d * group_outputs, d);
    }
    return {packed, spans, groups, d};
}

// |W_k t|^2 for three vectors of rows; t in `rows`, [vector][column][lane].
inline void squared_norms(const Whitening& whitening, size_t k, const double* rows, Vec<double> (&norm)[row_vectors]) {
    static constexpr double no_bias[group_outputs] = {};
    const size_t d = whitening.d, step = d * lanes<double>;
    for (auto& value : norm) value = Vec<double>{};
    for (size_t g = 0; g < whitening.groups; ++g) {
        const Span span = whitening.spans[k * whitening.groups + g];
        const double* packed = whitening.packed + (k * whitening.groups + g) * d * group_outputs;
        dot_group<double>(rows, step, span.from, span.to, packed, no_bias, 0,
                          [&](size_t, int v, Vec<double> value) { norm[v] += value * value; });
    }
}

template <class T>
void quadratic_log_density(Matrix<const T> X, const double* mean, const double* W, const double* constant, size_t K,
                           double* out, InterruptPoll poll) {
    constexpr size_t L = lanes<double>, group = row_vectors * L;
    const size_t d = X.cols, wide = padded<double>(d);
    const Whitening whitening = pack_whitening(W, K, d);
    double* origin = zeroed<struct QuadraticOrigin, double>(wide);
    double* panels = scratch<struct QuadraticPanels, double>(tile_size<double>(d));
    double* rows = scratch<struct QuadraticRows, double>(tile_size<double>(d));
    double* centered = scratch<struct QuadraticCentered, double>(group * d);
    for (size_t begin = 0; begin < X.rows; begin += tile_rows) {
        const size_t count = std::min(tile_rows, X.rows - begin);
        for (size_t r = 0; r < count; ++r) pack_row<double>(X.row(begin + r), X.end(), d, origin, 1.0, panels, r);
        clear_rows(panels, d, count);
        transpose_tile(panels, d, rows);
        for (size_t first = 0; first < count; first += group)
            for (size_t k = 0; k < K; ++k) {
                for (size_t v = 0; v < row_vectors; ++v)
                    for (size_t j = 0; j < d; ++j)
                        store(centered + (v * d + j) * L,
                              load(rows + (first / L + v) * wide * L + j * L) - mean[k * d + j]);
                Vec<double> norm[row_vectors];
                squared_norms(whitening, k, centered, norm);
                for (size_t i = 0; i < std::min(group, count - first); ++i)
                    out[(begin + first + i) * K + k] += constant[k] - .5 * norm[i / L][i % L];
            }
        poll(count * K * d * d);
    }
}

}  // namespace lyceum::bayes
