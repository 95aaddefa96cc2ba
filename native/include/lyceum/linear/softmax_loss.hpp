// Multinomial loss over K symmetric classes, z_k = [x-shift 1].b_k, p = softmax(z):  sum w [log sum exp z - z_code],
// gradient G_k = sum w (p_k - 1[k = code]) [x-shift 1] and Hessian blocks H_ab = sum w p_a (1[a = b] - p_b) x~x~'.
// Rows lie in the lanes, so that the softmax is lane by lane. Unlabeled rows count for nothing.
// Cost: 2 n K d multiply-adds, n K^2 d^2 / 4 more with the Hessian.
#pragma once
#include <lyceum/core/any_call.hpp>
#include <lyceum/core/dots.hpp>
#include <lyceum/linear/logistic_loss.hpp>

namespace lyceum::linear {

// Classes by rows, (outputs, tile_rows): margins, then posteriors, then residuals.
struct SoftmaxTile {
    double* z;
    size_t K;

    double* of(size_t k) const { return z + k * tile_rows; }
};

// Margins to posteriors, in place; returns nothing but fills log sum exp z.
inline void softmax_lanes(SoftmaxTile tile, double* level) {
    for (size_t r = 0; r < tile_rows; r += lanes<double>) {
        Vec<double> best = load(tile.of(0) + r), sum{};
        for (size_t k = 1; k < tile.K; ++k) best = vmax<double>(best, load(tile.of(k) + r));
        for (size_t k = 0; k < tile.K; ++k) {
            const Vec<double> odds = vexp(load(tile.of(k) + r) - best);
            sum += odds;
            store(tile.of(k) + r, odds);
        }
        store(level + r, best + vlog(sum));
        const Vec<double> inverse = 1. / sum;
        for (size_t k = 0; k < tile.K; ++k) store(tile.of(k) + r, load(tile.of(k) + r) * inverse);
    }
}

inline void tile_outputs(const double* rows, size_t columns, size_t step, const double* packed, SoftmaxTile tile) {
    static constexpr double no_bias[group_outputs] = {};
    constexpr size_t L = lanes<double>;
    for (size_t r = 0; r < tile_rows; r += row_vectors * L)
        for (size_t k = 0; k < tile.K; k += group_outputs)
            dot_group<double>(rows + r * step / L, step, 0, columns, packed + k * columns, no_bias, 0,
                              [&](size_t c, int v, Vec<double> value) { store(tile.of(k + c) + r + v * L, value); });
}

// H_ab of every a <= b, each (wide, wide), upper blocks.
inline void add_hessian(const double* design, size_t p, SoftmaxTile tile, const double* w, double* scaled, double* H) {
    const size_t wide = padded<double>(p);
    double scale[tile_rows];
    for (size_t a = 0; a < tile.K; ++a)
        for (size_t b = a; b < tile.K; ++b, H += wide * wide) {
            for (size_t r = 0; r < tile_rows; ++r) scale[r] = w[r] * tile.of(a)[r] * ((a == b) - tile.of(b)[r]);
            scale_rows(design, scale, panels_of<double>(p), scaled);
            gram_upper(scaled, design, p, H);
        }
}

inline void unfold_hessian(const double* H, size_t K, size_t p, double* hessian) {
    const size_t wide = padded<double>(p), stride = K * p;
    for (size_t a = 0; a < K; ++a)
        for (size_t b = a; b < K; ++b, H += wide * wide)
            for (size_t i = 0; i < p; ++i)
                for (size_t j = 0; j < p; ++j) {
                    const double value = i <= j ? H[i * wide + j] : H[j * wide + i];
                    hessian[(a * p + i) * stride + b * p + j] += value;
                    if (a != b) hessian[(b * p + j) * stride + a * p + i] += value;
                }
}

// The sum of w (level - z_code) over tiles of rows, and its gradient, in the coefficients of K linear scores z.
// pack(begin, count, origin, design) is pack_design of n rows; share(tile, level) turns scores into the derivatives of
// the level, in place; bend(design, tile, weight, room) adds second derivatives before these are weighted. A row costs
// `work` steps.
using PackRows = AnyCall<void(size_t begin, size_t count, const double* origin, double* design)>;
using ShareScores = AnyCall<void(SoftmaxTile tile, double* level)>;
using BendLoss = AnyCall<void(const double* design, SoftmaxTile tile, const double* weight, double* room)>;

[[gnu::noipa]] inline double class_loss(size_t n, size_t d, PackRows pack, Codes codes, const double* w,
                                        const double* coef, const double* shift, double* gradient, size_t work,
                                        ShareScores share, BendLoss bend, InterruptPoll& poll) {
    const size_t K = codes.classes, p = d + 1, wide = padded<double>(p);
    const size_t outputs = round_up(packed_outputs(K), lanes<double>);
    double* origin = zeroed<struct SoftmaxShift, double>(wide);
    std::copy_n(shift, d, origin);
    double* packed = scratch<struct SoftmaxCoef, double>(packed_outputs(K) * p);
    pack_outputs(coef, K, p, p, packed);
    double* design = scratch<struct SoftmaxDesign, double>(tile_size<double>(p));
    double* rows = scratch<struct SoftmaxRows, double>(tile_size<double>(p));
    double* G = zeroed<struct SoftmaxGradient, double>(outputs * wide);
    const SoftmaxTile tile{zeroed<struct SoftmaxMargins, double>(outputs * tile_rows), K};
    double loss = 0, level[tile_rows], weight[tile_rows], chosen[tile_rows];
    for (size_t begin = 0; begin < n; begin += tile_rows) {
        const size_t count = std::min(tile_rows, n - begin);
        pack(begin, count, origin, design);
        transpose_tile(design, p, rows);
        tile_outputs(rows, p, wide * lanes<double>, packed, tile);
        std::fill_n(weight, tile_rows, 0.0);
        for (size_t r = 0; r < count; ++r)
            if (const auto k = codes(begin + r); k >= 0) weight[r] = weight_of(w, begin + r), chosen[r] = tile.of(k)[r];
        share(tile, level);
        for (size_t r = 0; r < count; ++r)
            if (weight[r] != 0) loss += weight[r] * (level[r] - chosen[r]);
        bend(design, tile, weight, rows);
        for (size_t k = 0; k < K; ++k)
            for (size_t r = 0; r < tile_rows; ++r) tile.of(k)[r] *= weight[r];
        for (size_t r = 0; r < count; ++r)
            if (weight[r] != 0) tile.of(codes(begin + r))[r] -= weight[r];
        gram_outputs(tile.z, round_up(K, lanes<double>), design, p, G);
        poll(count * work);
    }
    for (size_t k = 0; k < K; ++k)
        for (size_t j = 0; j < p; ++j) gradient[k * p + j] += G[k * wide + j];
    return loss;
}

template <class T>
auto pack_rows_of(Matrix<const T> X) {
    return [X](size_t begin, size_t count, const double* origin, double* design) {
        pack_design(X, begin, count, origin, design);
    };
}

template <class T>
double softmax_loss(Matrix<const T> X, Codes codes, const double* w, const double* coef, const double* shift,
                    double* gradient, double* hessian, InterruptPoll poll) {
    const size_t K = codes.classes, p = X.cols + 1, wide = padded<double>(p);
    double* H = hessian ? zeroed<struct SoftmaxHessian, double>(K * (K + 1) / 2 * wide * wide) : nullptr;
    const auto bend = [&](const double* design, SoftmaxTile tile, const double* weight, double* room) {
        if (hessian) add_hessian(design, p, tile, weight, room, H);
    };
    const double loss = class_loss(
        X.rows, X.cols, pack_rows_of(X), codes, w, coef, shift, gradient, K * p * (hessian ? K * p / 4 + 1 : 2),
        [](SoftmaxTile tile, double* level) { softmax_lanes(tile, level); }, bend, poll);
    if (hessian) unfold_hessian(H, K, p, hessian);
    return loss;
}

}  // namespace lyceum::linear
