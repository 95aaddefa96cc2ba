// Per class and column: W = sum w, m = sum w x / W, scatter = sum w (x - m)^2 over the cells that are not NaN.
// One pass about the first cell s of each class and column, scatter = sum w (x-s)^2 - W (m-s)^2, and a second about
// the mean when that subtraction would cancel more than two digits. Cost: 4 n d flops.
#pragma once
#include <algorithm>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::moments {

// Sums about `shift`, each (K, d); `rows` holds the weight of class k's rows that had no NaN at all.
struct ShiftedSums {
    double *weight, *sum, *square, *rows;
    const double* shift;
};

template <class T>
bool any_nan(const T* x, size_t count) {
    int found = 0;
#pragma omp simd reduction(| : found)
    for (size_t i = 0; i < count; ++i) found |= x[i] != x[i];
    return found;
}

template <class T>
void add_row(const T* __restrict x, size_t d, double w, const double* __restrict shift, double* __restrict sum,
             double* __restrict square) {
#pragma omp simd
    for (size_t j = 0; j < d; ++j) {
        const double t = static_cast<double>(x[j]) - shift[j], wt = w * t;
        sum[j] += wt;
        square[j] += wt * t;
    }
}

template <class T>
void add_row_with_nan(const T* __restrict x, size_t d, double w, const double* __restrict shift,
                      double* __restrict weight, double* __restrict sum, double* __restrict square) {
#pragma omp simd
    for (size_t j = 0; j < d; ++j) {
        const bool here = x[j] == x[j];
        const double t = here ? static_cast<double>(x[j]) - shift[j] : 0.0, wt = w * t;
        weight[j] += here ? w : 0.0;
        sum[j] += wt;
        square[j] += wt * t;
    }
}

template <class T>
void first_cells(Matrix<const T> X, Codes codes, const double* w, double* shift) {
    const size_t d = X.cols, look = std::min(X.rows, 32 * codes.classes);
    auto* known = zeroed<struct KnownCells, unsigned char>(codes.classes * d);
    std::fill_n(shift, codes.classes * d, 0.0);
    for (size_t i = 0; i < look; ++i) {
        const auto k = codes(i);
        if (k < 0 || !(weight_of(w, i) > 0)) continue;
        for (size_t j = 0, at = k * d; j < d; ++j, ++at)
            if (const T x = X.row(i)[j]; !known[at] && x == x) known[at] = 1, shift[at] = static_cast<double>(x);
    }
}

template <class T>
void add_rows(Matrix<const T> X, Codes codes, const double* w, ShiftedSums sums, InterruptPoll& poll) {
    const size_t d = X.cols, step = std::max<size_t>(1, 2048 / std::max<size_t>(1, d));
    for (size_t begin = 0; begin < X.rows; begin += step) {
        const size_t end = std::min(X.rows, begin + step);
        const bool whole = !any_nan(X.row(begin), (end - begin) * d);
        for (size_t i = begin; i < end; ++i) {
            const auto k = codes(i);
            const double wi = weight_of(w, i);
            if (k < 0 || wi == 0) continue;
            const size_t at = k * d;
            if (whole) {
                sums.rows[k] += wi;
                add_row(X.row(i), d, wi, sums.shift + at, sums.sum + at, sums.square + at);
            } else {
                add_row_with_nan(X.row(i), d, wi, sums.shift + at, sums.weight + at, sums.sum + at, sums.square + at);
            }
        }
        poll((end - begin) * d * 8);
    }
}

// Turns the sums into weight, mean and scatter. False if too much cancelled: then `mean` is the shift to try next.
inline bool finish_moments(ShiftedSums sums, size_t K, size_t d, double* weight, double* mean, double* scatter) {
    bool sound = true;
    for (size_t k = 0; k < K; ++k)
        for (size_t at = k * d; at < (k + 1) * d; ++at) {
            const double W = sums.weight[at] + sums.rows[k], delta = W > 0 ? sums.sum[at] / W : 0.0;
            const double removed = delta * sums.sum[at], left = sums.square[at] - removed;
            weight[at] = W;
            mean[at] = W > 0 ? sums.shift[at] + delta : 0.0;
            scatter[at] = left < 0 ? 0.0 : left;
            sound &= !(removed > 0 && removed > 100 * left);
        }
    return sound;
}

// Moments from add(sums) about `shift`, and once more about the mean where too much cancelled.
template <class Add>
void shifted_moments(size_t K, size_t d, double* shift, Add add, double* weight, double* mean, double* scatter) {
    const size_t cells = K * d;
    for (int pass = 0; pass < 2; ++pass) {
        double* buffer = zeroed<struct MomentSums, double>(3 * cells + K);
        const ShiftedSums sums{buffer, buffer + cells, buffer + 2 * cells, buffer + 3 * cells, shift};
        add(sums);
        if (finish_moments(sums, K, d, weight, mean, scatter)) return;
        std::copy_n(mean, cells, shift);
    }
}

template <class T>
void class_moments(Matrix<const T> X, Codes codes, const double* w, double* weight, double* mean, double* scatter,
                   InterruptPoll poll) {
    double* shift = scratch<struct MomentShift, double>(codes.classes * X.cols);
    first_cells(X, codes, w, shift);
    const auto add = [&](const ShiftedSums& sums) { add_rows(X, codes, w, sums, poll); };
    shifted_moments(codes.classes, X.cols, shift, add, weight, mean, scatter);
}

}  // namespace lyceum::moments
