// The separable bound of the multinomial loss (Bouchard, 2007), z_k = [x-shift 1].b_k:
//   sum w [a + sum_k log(1 + exp(z_k - a)) - z_code]  at the a of every row that makes it least,
// its gradient sum w (s_k - 1[k = code]) [x-shift 1], s_k = 1 / (1 + exp(a - z_k)), and, when wanted, for every
// class
//   H_k = sum w c_k [x-shift 1]'[x-shift 1],  c_k = s_k (1 - s_k) + (s_k - 1/2) / (z_k - a) / 100:
// the curvature given a, kept off zero by a share of that of the parabola above it (Jaakkola and Jordan, 2000).
// Rows lie in the lanes. Cost: 2 n K d multiply-adds and some five n K exponentials; n K d^2 / 2 more for H.
#pragma once
#include <lyceum/linear/softmax_loss.hpp>

namespace lyceum::linear {

// The a of `lanes` rows at which the sigmoids s_k add up to one. With z_1 the largest score and y_k = z_k - z_1, b = a
// - z_1 solves log sum_{k>1} 1 / (1 + exp(b - y_k)) = -log(1 + exp -b): both sides differ by a falling function of b
// that is nearly a straight line. Between y_2 and log sum exp y.
inline Vec<double> best_offset(SoftmaxTile tile, size_t r) {
    using V = Vec<double>;
    V best = load(tile.of(0) + r), which{};
    for (size_t k = 1; k < tile.K; ++k) {
        const V z = load(tile.of(k) + r);
        which = z > best ? splat(static_cast<double>(k)) : which;
        best = vmax<double>(best, z);
    }
    const V none = splat(-std::numeric_limits<double>::infinity());
    const auto rest = [&](size_t k) { return which == static_cast<double>(k) ? none : load(tile.of(k) + r) - best; };
    V low = none, sum{}, total{}, squares{};
    for (size_t k = 0; k < tile.K; ++k) low = vmax<double>(low, rest(k));
    for (size_t k = 0; k < tile.K; ++k) sum += vexp(rest(k) - low);
    const V others = low + vlog(sum), high = others > 0. ? others + vlog1p(vexp(-others)) : vlog1p(vexp(others));
    // were all s_k but the first small: exp(others - b) = 1 / (1 + exp -b), quadratic in exp -b
    const V c = vexp(others < -80. ? splat(80.) : -others);
    V root = 1. + 4. * c;
    for (int i = 0; i < lanes<double>; ++i) root[i] = std::sqrt(root[i]);
    V b = -vlog(2. * c / (1. + root));
    b = b < low ? low : b > high ? high : b;
    b = others < -80. ? .5 * others : b;  // the root to the last digit
    for (int step = 0; step < 50; ++step) {
        total = squares = V{};
        for (size_t k = 0; k < tile.K; ++k) {
            const V s = 1. / (1. + vexp(b - rest(k)));
            total += s, squares += s * s;
        }
        const V near = others < -80. ? splat(1.) : total, e = vexp(others < -80. ? V{} : -b);
        const V slope = squares / near - 1. - e / (1. + e);
        V next = b - (vlog(near) + vlog1p(e)) / slope;
        next = next < low ? low : next > high ? high : next;
        next = others < -80. ? b : next;
        const V moved = next > b ? next - b : b - next;
        b = next;
        double most = 0;
        for (int i = 0; i < lanes<double>; ++i) most = std::max(most, moved[i]);
        if (most <= 1e-6) break;  // what is left is of the order of its square
    }
    return best + b;
}

// Scores to sigmoids, in place; `bend`, if any, gets c_k; returns the bound less z_code of every row in `level`.
inline void sigmoid_lanes(SoftmaxTile tile, double* bend, double* level) {
    using V = Vec<double>;
    for (size_t r = 0; r < tile_rows; r += lanes<double>) {
        const V a = best_offset(tile, r);
        V sum = a, product = splat(1.);  // of 1 + e, which is at most 2: one logarithm for some hundreds
        for (size_t k = 0; k < tile.K; ++k) {
            const V z = load(tile.of(k) + r) - a, e = vexp(z < 0. ? z : -z);
            const V s = (z < 0. ? e : splat(1.)) / (1. + e);
            sum += z > 0. ? z : V{};
            product *= 1. + e;
            if (k % 512 == 511) sum += vlog(product), product = splat(1.);
            store(tile.of(k) + r, s);
            if (!bend) continue;
            const V size = z < 0. ? -z : z;
            const V above = size > 1e-6 ? (s - .5) / z : splat(.25);
            store(bend + k * tile_rows + r, e / ((1. + e) * (1. + e)) + .01 * above);
        }
        store(level + r, sum + vlog(product));
    }
}

template <class T>
double separable_bound(Matrix<const T> X, Codes codes, const double* w, const double* coef, const double* shift,
                       double* gradient, double* curvature, InterruptPoll poll) {
    const size_t K = codes.classes, p = X.cols + 1, wide = padded<double>(p);
    double* H = curvature ? zeroed<struct BoundCurvature, double>(K * wide * wide) : nullptr;
    double* bends = curvature ? scratch<struct BoundBend, double>(K * tile_rows) : nullptr;
    const auto bend = [&](const double* design, SoftmaxTile, const double* weight, double* room) {
        for (size_t k = 0; curvature && k < K; ++k) {
            for (size_t r = 0; r < tile_rows; ++r) bends[k * tile_rows + r] *= weight[r];
            scale_rows(design, bends + k * tile_rows, panels_of<double>(p), room);
            gram_upper(room, design, p, H + k * wide * wide);
        }
    };
    const double loss = class_loss(
        X.rows, X.cols, pack_rows_of(X), codes, w, coef, shift, gradient,
        K * (2 * p + 40 + (curvature ? p * p / 2 : 0)),
        [&](SoftmaxTile tile, double* level) { sigmoid_lanes(tile, bends, level); }, bend, poll);
    for (size_t k = 0; curvature && k < K; ++k)
        for (size_t i = 0; i < p; ++i)
            for (size_t j = 0; j < p; ++j)
                curvature[(k * p + i) * p + j] += H[(k * wide + std::min(i, j)) * wide + std::max(i, j)];
    return loss;
}

}  // namespace lyceum::linear
