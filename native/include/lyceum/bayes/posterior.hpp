// Rows of log joint densities a to posteriors: p_k = exp(a_k - max a) / sum, or a_k - log sum exp(a).
// A row that is -inf throughout becomes uniform; entries of +inf share all of it. Cost: n K exponentials.
#pragma once
#include <algorithm>
#include <cmath>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/vector_math.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::bayes {

inline void exp_in_place(double* x, size_t count) {
    constexpr size_t L = lanes<double>;
    size_t i = 0;
    for (; i + L <= count; i += L) store(x + i, vexp(load(x + i)));
    if (i == count) return;
    double tail[L] = {};
    std::copy(x + i, x + count, tail);
    store(tail, vexp(load(tail)));
    std::copy_n(tail, count - i, x + i);
}

inline double row_maximum(const double* a, size_t K) {
    double best = a[0];
    for (size_t k = 1; k < K; ++k) best = a[k] > best ? a[k] : best;
    return best;
}

// Subtracts the maximum of every row; entries of an infinite one become zeros, the log of even odds, the others -inf.
inline void subtract_maxima(double* a, size_t rows, size_t K) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < rows; ++i, a += K) {
        const double best = row_maximum(a, K);
        if (best == infinity || best == -infinity)
            for (size_t k = 0; k < K; ++k) a[k] = a[k] == best ? 0.0 : a[k] < best ? -infinity : a[k];  // NaN stays
        else
            for (size_t k = 0; k < K; ++k) a[k] -= best;
    }
}

inline double row_sum(const double* a, size_t K) {
    double sum = 0;
    for (size_t k = 0; k < K; ++k) sum += a[k];
    return sum;
}

template <class Step>
void for_row_tiles(Matrix<double> a, InterruptPoll& poll, Step&& step) {
    const size_t rows = std::max<size_t>(1, 2048 / std::max<size_t>(1, a.cols));
    for (size_t begin = 0; begin < a.rows && a.cols; begin += rows) {
        const size_t here = std::min(rows, a.rows - begin);
        step(a.row(begin), here);
        poll(here * a.cols * 32);
    }
}

inline void posterior(Matrix<double> a, InterruptPoll poll) {
    for_row_tiles(a, poll, [K = a.cols](double* tile, size_t rows) {
        subtract_maxima(tile, rows, K);
        exp_in_place(tile, rows * K);
        for (size_t i = 0; i < rows; ++i, tile += K) {
            const double sum = row_sum(tile, K);
            for (size_t k = 0; k < K; ++k) tile[k] /= sum;
        }
    });
}

inline void log_posterior(Matrix<double> a, InterruptPoll poll) {
    for_row_tiles(a, poll, [K = a.cols](double* tile, size_t rows) {
        subtract_maxima(tile, rows, K);
        double* odds = scratch<struct PosteriorOdds, double>(rows * K);
        std::copy_n(tile, rows * K, odds);
        exp_in_place(odds, rows * K);
        for (size_t i = 0; i < rows; ++i, tile += K, odds += K) {
            const double level = std::log(row_sum(odds, K));
            for (size_t k = 0; k < K; ++k) tile[k] -= level;
        }
    });
}

// The first maximum of every row; NaN never wins.
inline void row_argmax(Matrix<const double> a, std::int64_t* labels) {
    for (size_t i = 0; i < a.rows; ++i) {
        const double* row = a.row(i);
        double value = -std::numeric_limits<double>::infinity();
        size_t best = 0;
        for (size_t k = 0; k < a.cols; ++k) {
            const bool better = row[k] > value;
            best = better ? k : best;
            value = better ? row[k] : value;
        }
        labels[i] = static_cast<std::int64_t>(best);
    }
}

}  // namespace lyceum::bayes
