// Binary logistic loss, z = (x - shift).b + b_0:  sum w [log(1 + e^z) - y z], its gradient sum w (p - y) [x-shift 1]
// and Hessian sum w p (1 - p) [x-shift 1]'[x-shift 1], tile by tile. With e = exp(-|z|) nothing overflows:
// log(1 + e^z) = max(z, 0) + log1p(e), p (1 - p) = e / (1 + e)^2. Cost: n d multiply-adds, n d^2 / 2 with Hessian.
#pragma once
#include <cmath>

#include <lyceum/core/gram.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/vector_math.hpp>

namespace lyceum::linear {

// The design [x - shift, 1] of one tile of rows.
template <class T>
void pack_design(Matrix<const T> X, size_t begin, size_t count, const double* shift, double* tile) {
    const size_t d = X.cols;
    if (d % lanes<double> == 0) clear_rows(tile + d * tile_rows, 1, 0);
    for (size_t r = 0; r < count; ++r) {
        pack_row<double>(X.row(begin + r), X.end(), d, shift, 1.0, tile, r);
        cell(tile, r, d) = 1.0;
    }
    clear_rows(tile, d + 1, count);
}

inline void tile_margins(const double* tile, const double* coef, size_t panels, double* z) {
    constexpr size_t L = lanes<double>;
    for (size_t r = 0; r < tile_rows; r += L) {
        Vec<double> sum[L] = {};
        for (size_t p = 0; p < panels; ++p) {
            const Vec<double> b = load(coef + p * L);
            for (size_t i = 0; i < L; ++i) sum[i] += load(tile + (p * tile_rows + r + i) * L) * b;
        }
        transpose<double>(sum);
        for (size_t i = 1; i < L; ++i) sum[0] += sum[i];
        store(z + r, sum[0]);
    }
}

struct LogisticRows {
    alignas(64) double z[tile_rows], y[tile_rows], w[tile_rows];
    alignas(64) double residual[tile_rows], root[tile_rows];  // w (p - y), sqrt(w p (1 - p))

    double finish() {
        Vec<double> loss{};
        for (size_t r = 0; r < tile_rows; r += lanes<double>) {
            const Vec<double> m = load(z + r), target = load(y + r), weight = load(w + r);
            const Vec<double> e = vexp(m < 0. ? m : -m), inverse = 1. / (1. + e);
            const Vec<double> p = m < 0. ? e * inverse : inverse;
            loss += weight * (((m > 0. ? m : Vec<double>{}) - target * m) + vlog1p(e));
            store(residual + r, weight * (p - target));
            store(root + r, weight * e * inverse * inverse);
        }
        for (double& value : root) value = std::sqrt(value);
        return sum_lanes<double>(loss);
    }
};

// gradient += sum over rows of residual * row, for padded columns.
inline void add_gradient(const double* tile, const double* residual, size_t panels, double* gradient) {
    constexpr size_t L = lanes<double>;
    for (size_t p = 0; p < panels; ++p, tile += tile_rows * L, gradient += L) {
        Vec<double> sum[4] = {};
        for (size_t r = 0; r < tile_rows; r += 4)
            for (size_t i = 0; i < 4; ++i) sum[i] += residual[r + i] * load(tile + (r + i) * L);
        store(gradient, load(gradient) + ((sum[0] + sum[1]) + (sum[2] + sum[3])));
    }
}

inline void scale_rows(const double* tile, const double* scale, size_t panels, double* out) {
    constexpr size_t L = lanes<double>;
    for (size_t p = 0; p < panels; ++p)
        for (size_t r = 0; r < tile_rows; ++r) {
            const size_t at = (p * tile_rows + r) * L;
            store(out + at, load(tile + at) * scale[r]);
        }
}

template <class T>
double logistic(Matrix<const T> X, const double* y, const double* w, const double* coef, const double* shift,
                double* gradient, double* hessian, InterruptPoll poll) {
    const size_t p = X.cols + 1, panels = panels_of<double>(p), wide = padded<double>(p);
    double* work = zeroed<struct LogisticWork, double>(wide * (3 + (hessian ? wide : 0)));
    double *b = work, *origin = work + wide, *g = work + 2 * wide, *H = work + 3 * wide;
    std::copy_n(coef, p, b);
    std::copy_n(shift, X.cols, origin);
    double* tile = scratch<struct LogisticTile, double>(tile_size<double>(p));
    double loss = 0;
    for (size_t begin = 0; begin < X.rows; begin += tile_rows) {
        const size_t count = std::min(tile_rows, X.rows - begin);
        LogisticRows rows{};
        for (size_t r = 0; r < count; ++r) rows.y[r] = y[begin + r], rows.w[r] = weight_of(w, begin + r);
        pack_design(X, begin, count, origin, tile);
        tile_margins(tile, b, panels, rows.z);
        loss += rows.finish();
        add_gradient(tile, rows.residual, panels, g);
        if (hessian) {
            scale_rows(tile, rows.root, panels, tile);
            gram_upper(tile, tile, p, H, Prefetch::of(X, begin + count));
        }
        poll(count * p * (hessian ? p : 8));
    }
    for (size_t i = 0; i < p; ++i) gradient[i] += g[i];
    for (size_t i = 0; hessian && i < p; ++i)
        for (size_t j = 0; j < p; ++j) hessian[i * p + j] += i <= j ? H[i * wide + j] : H[j * wide + i];
    return loss;
}

}  // namespace lyceum::linear
