// Dual coordinate descent for linear support vector machines (Hsieh et al. 2008):
//     minimize over 0 <= a_i <= U_i   1/2 |sum_i a_i y_i x_i|² + 1/2 sum_i D_i a_i² - sum_i t_i a_i
// with U_i = C_i, D_i = 0 for the hinge and U_i infinite, D_i = 1 / (2 C_i) for its square; t_i = 1 - y_i b for an
// intercept b that is given; with `bias` every row has one more cell, 1. Rows that are settled at a bound are passed
// over until the others are done. Cost of an epoch: two passes over the cells of the rows that are not.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>
#include <numeric>
#include <vector>

namespace lyceum::kernels {

template <class T>
struct DenseCells {
    Matrix<const T> X;

    size_t rows() const { return X.rows; }
    size_t length(size_t) const { return X.cols; }
    void expect_row(size_t) const {}  // one long line of memory is foreseen by the machine
    double dot(size_t i, const double* w) const {
        const T* x = X.row(i);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t j = 0; j < X.cols; ++j) sum += static_cast<double>(x[j]) * w[j];
        return sum;
    }
    void add(size_t i, double by, double* w) const {
        const T* x = X.row(i);
#pragma omp simd
        for (size_t j = 0; j < X.cols; ++j) w[j] += by * static_cast<double>(x[j]);
    }
    double square(size_t i) const {
        const T* x = X.row(i);
        double sum = 0;
        for (size_t j = 0; j < X.cols; ++j) sum += static_cast<double>(x[j]) * static_cast<double>(x[j]);
        return sum;
    }
};

template <class T>
struct SparseCells {
    const std::int32_t *indptr, *indices;
    const T* data;
    size_t count;

    size_t rows() const { return count; }
    size_t length(size_t i) const { return static_cast<size_t>(indptr[i + 1] - indptr[i]); }
    // The cells of a row that is next, on their way while the one before is worked on: rows come in random order.
    void expect_row(size_t i) const {
        const char *cells = reinterpret_cast<const char*>(data + indptr[i]),
                   *places = reinterpret_cast<const char*>(indices + indptr[i]);
        const size_t count = std::min<size_t>(length(i), 512);
        for (size_t at = 0; at < count * sizeof(T); at += 64) __builtin_prefetch(cells + at);
        for (size_t at = 0; at < count * sizeof(*indices); at += 64) __builtin_prefetch(places + at);
    }
    // Four sums, which do not wait for one another.
    double dot(size_t i, const double* w) const {
        double sum[4] = {};
        auto e = indptr[i];
        for (; e + 4 <= indptr[i + 1]; e += 4)
            for (int c = 0; c < 4; ++c) sum[c] += static_cast<double>(data[e + c]) * w[indices[e + c]];
        for (; e < indptr[i + 1]; ++e) sum[0] += static_cast<double>(data[e]) * w[indices[e]];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    void add(size_t i, double by, double* w) const {
        for (auto e = indptr[i]; e < indptr[i + 1]; ++e) w[indices[e]] += by * static_cast<double>(data[e]);
    }
    double square(size_t i) const {
        double sum = 0;
        for (auto e = indptr[i]; e < indptr[i + 1]; ++e)
            sum += static_cast<double>(data[e]) * static_cast<double>(data[e]);
        return sum;
    }
};

struct DualDescent {
    const double *y, *t, *bound, *ridge;  // of every row: ±1, t, U, D
    bool bias;
};

struct DualOutcome {
    size_t epochs;
    double violation;  // the largest projected slope of the last epoch over all rows
};

// w has one more entry at its end for the bias; it is kept at sum_i a_i y_i x_i.
template <class Cells>
DualOutcome dual_descent(const Cells& X, const DualDescent& p, double* a, double* w, size_t d, double tol,
                         size_t max_epochs, InterruptPoll poll) {
    const size_t n = X.rows();
    const double far = std::numeric_limits<double>::infinity();
    std::vector<double> bend(n);
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    for (size_t i = 0; i < n; ++i) bend[i] = X.square(i) + p.ridge[i] + (p.bias ? 1 : 0);
    size_t active = n, epoch = 0;
    double highest = far, lowest = -far, seen = 0;  // bounds for settling from the last epoch
    std::uint64_t state = 0x9e3779b97f4a7c15;
    const auto draw = [&](size_t limit) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return static_cast<size_t>((state >> 11) % limit);
    };
    for (; epoch < max_epochs; ++epoch) {
        for (size_t k = 0; k + 1 < active; ++k) std::swap(order[k], order[k + draw(active - k)]);
        double high = -far, low = far;
        size_t work = 0;
        for (size_t k = 0; k < active; ++k) {
            const size_t i = order[k];
            if (k + 1 < active) X.expect_row(order[k + 1]);
            if (!(p.bound[i] > 0)) continue;
            if (!(bend[i] > 0)) {  // a row of zeros: its slope does not depend on w
                a[i] = p.t[i] > 0 ? p.bound[i] : 0;
                continue;
            }
            const double score = X.dot(i, w) + (p.bias ? w[d] : 0);
            const double slope = p.y[i] * score - p.t[i] + p.ridge[i] * a[i];
            double projected = slope;
            if (a[i] <= 0) {
                if (slope > highest) {
                    std::swap(order[k--], order[--active]);
                    continue;
                }
                projected = std::min(slope, 0.0);
            } else if (a[i] >= p.bound[i]) {
                if (slope < lowest) {
                    std::swap(order[k--], order[--active]);
                    continue;
                }
                projected = std::max(slope, 0.0);
            }
            high = std::max(high, projected), low = std::min(low, projected);
            work += 8 * X.length(i);
            if (projected == 0) continue;
            const double before = a[i];
            a[i] = std::clamp(before - slope / bend[i], 0.0, p.bound[i]);
            const double by = (a[i] - before) * p.y[i];
            if (by == 0) continue;
            X.add(i, by, w);
            if (p.bias) w[d] += by;
        }
        poll(work + active);
        seen = std::max(high, -low);
        if (high == -far || seen <= tol) {
            if (active == n) {
                if (high == -far) seen = 0;
                ++epoch;
                break;
            }
            active = n, highest = far, lowest = -far;
            continue;
        }
        highest = high > 0 ? high : far, lowest = low < 0 ? low : -far;
    }
    return {epoch, seen};
}

}  // namespace lyceum::kernels
