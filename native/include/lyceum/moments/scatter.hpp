// Mean and centered scatter of the joint rows z = [x y]:  S = sum_i w_i (z_i - m)(z_i - m)'.
// One pass about a provisional mean s, with a column of ones to carry the sums:
//   S = sum w (z-s)(z-s)' - W (m-s)(m-s)'.
// If that subtraction would cancel more than two digits anywhere, a second pass about m itself follows.
// Cost: n (d+q)^2 / 2 multiply-adds.
#pragma once
#include <cmath>

#include <lyceum/core/gram.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>

namespace lyceum::moments {

// Rows of X and Y, all of them or those that `order` lists.
template <class T>
struct Sample {
    Matrix<const T> X;
    Matrix<const double> Y;
    const double* w;
    const std::int32_t* order;
    size_t n;

    size_t columns() const { return X.cols + Y.cols; }
    size_t at(size_t i) const { return order ? static_cast<size_t>(order[i]) : i; }
    double value(size_t i, size_t j) const {
        return j < X.cols ? static_cast<double>(X.row(i)[j]) : Y.row(i)[j - X.cols];
    }
};

// First row plus the mean difference from it over one tile of rows: exact for a constant column.
template <class T>
void provisional_mean(const Sample<T>& sample, double* shift) {
    const size_t p = sample.columns();
    std::fill_n(shift, padded<double>(p + 1), 0.0);
    size_t first = 0, used = 0;
    for (size_t r = 0; r < sample.n && used < tile_rows; ++r) {
        const size_t i = sample.at(r);
        if (!(weight_of(sample.w, i) > 0)) continue;
        if (used++ == 0) first = i;
        for (size_t j = 0; j < p; ++j) shift[j] += sample.value(i, j) - sample.value(first, j);
    }
    for (size_t j = 0; used && j < p; ++j) shift[j] = sample.value(first, j) + shift[j] / static_cast<double>(used);
}

// C = sum w [z-s 1]'[z-s 1], upper blocks; returns the total weight.
template <class T>
double shifted_gram(const Sample<T>& sample, const double* shift, double* C, InterruptPoll& poll) {
    const size_t d = sample.X.cols, q = sample.Y.cols, p = d + q + 1;
    double* tile = scratch<struct ScatterTile, double>(tile_size<double>(p));
    std::fill_n(C, padded<double>(p) * padded<double>(p), 0.0);
    clear_rows(tile, p, 0);
    double total = 0;
    for (size_t begin = 0; begin < sample.n; begin += tile_rows) {
        const size_t rows = std::min(tile_rows, sample.n - begin);
        for (size_t r = 0; r < rows; ++r) {
            const size_t i = sample.at(begin + r);
            const double w = weight_of(sample.w, i), root = sample.w ? std::sqrt(w) : 1.0;
            pack_row<double>(sample.X.row(i), sample.X.end(), d, shift, root, tile, r);
            for (size_t j = 0; j < q; ++j) cell(tile, r, d + j) = (sample.Y.row(i)[j] - shift[d + j]) * root;
            cell(tile, r, d + q) = root;
            total += w;
        }
        if (rows < tile_rows) clear_rows(tile, p, rows);
        gram_upper(tile, tile, p, C, sample.order ? Prefetch{} : Prefetch::of(sample.X, begin + rows));
        poll(rows * p * p);
    }
    return total;
}

inline bool cancels(const double* C, size_t p, double total) {
    const size_t stride = padded<double>(p + 1);
    for (size_t j = 0; j < p; ++j) {
        const double sum = C[j * stride + p], removed = sum * sum / total;
        if (removed > 0 && removed > 100 * (C[j * stride + j] - removed)) return true;
    }
    return false;
}

// Sets `mean`, and hands every S[a, b] with a <= b to `put(a, b, value)`. Returns the total weight.
template <class T, class Put>
double centered_scatter(const Sample<T>& sample, double* mean, InterruptPoll& poll, Put&& put) {
    const size_t p = sample.columns(), stride = padded<double>(p + 1);
    double* shift = scratch<struct ScatterShift, double>(stride);
    double* C = scratch<struct ScatterGram, double>(stride * stride);
    provisional_mean(sample, shift);
    double total = shifted_gram(sample, shift, C, poll);
    std::fill_n(mean, p, 0.0);
    if (!(total > 0)) return total;
    if (cancels(C, p, total)) {
        for (size_t j = 0; j < p; ++j) shift[j] += C[j * stride + p] / total;
        total = shifted_gram(sample, shift, C, poll);
    }
    const auto sum = [&](size_t j) { return C[j * stride + p]; };
    for (size_t a = 0; a < p; ++a) {
        mean[a] = shift[a] + sum(a) / total;
        for (size_t b = a; b < p; ++b) {
            const double value = C[a * stride + b] - sum(a) * sum(b) / total;
            put(a, b, a == b && value < 0 ? 0.0 : value);
        }
    }
    return total;
}

template <class T>
double scatter(Matrix<const T> X, Matrix<const double> Y, const double* w, double* mean, double* S,
               InterruptPoll poll) {
    const size_t p = X.cols + Y.cols;
    const Sample<T> sample{X, Y, w, nullptr, X.rows};
    const auto put = [=](size_t a, size_t b, double value) { S[a * p + b] = S[b * p + a] = value; };
    return centered_scatter(sample, mean, poll, put);
}

}  // namespace lyceum::moments
