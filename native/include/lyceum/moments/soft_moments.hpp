// Per component and column, weighted by responsibilities r_ik: W = sum w r, m = sum w r x / W and
// scatter = sum w r (x - m)^2, over the cells that are not NaN. The passes are those of class_moments.
// Cost: 4 n K d flops.
#pragma once
#include <lyceum/moments/class_moments.hpp>

namespace lyceum::moments {

// The first cell of every column in a row that component k has a part in.
template <class T>
void first_soft_cells(Matrix<const T> X, Matrix<const double> R, const double* w, double* shift) {
    const size_t d = X.cols, K = R.cols, look = std::min<size_t>(X.rows, 32 * K);
    auto* known = zeroed<struct KnownSoftCells, unsigned char>(K * d);
    std::fill_n(shift, K * d, 0.0);
    for (size_t i = 0; i < look; ++i)
        for (size_t k = 0; k < K; ++k) {
            if (!(weight_of(w, i) * R.row(i)[k] > 0)) continue;
            for (size_t j = 0, at = k * d; j < d; ++j, ++at)
                if (const T x = X.row(i)[j]; !known[at] && x == x) known[at] = 1, shift[at] = static_cast<double>(x);
        }
}

template <class T>
void add_soft_rows(Matrix<const T> X, Matrix<const double> R, const double* w, ShiftedSums sums, InterruptPoll& poll) {
    const size_t d = X.cols, K = R.cols, step = std::max<size_t>(1, 2048 / std::max<size_t>(1, d));
    for (size_t begin = 0; begin < X.rows; begin += step) {
        const size_t end = std::min(X.rows, begin + step);
        const bool whole = !any_nan(X.row(begin), (end - begin) * d);
        for (size_t i = begin; i < end; ++i)
            for (size_t k = 0; k < K; ++k) {
                const double v = weight_of(w, i) * R.row(i)[k];
                if (!(v > 0)) continue;
                const size_t at = k * d;
                if (whole) {
                    sums.rows[k] += v;
                    add_row(X.row(i), d, v, sums.shift + at, sums.sum + at, sums.square + at);
                } else {
                    add_row_with_nan(X.row(i), d, v, sums.shift + at, sums.weight + at, sums.sum + at,
                                     sums.square + at);
                }
            }
        poll((end - begin) * d * K * 8);
    }
}

template <class T>
void soft_moments(Matrix<const T> X, Matrix<const double> R, const double* w, double* weight, double* mean,
                  double* scatter, InterruptPoll poll) {
    double* shift = scratch<struct SoftShift, double>(R.cols * X.cols);
    first_soft_cells(X, R, w, shift);
    const auto add = [&](const ShiftedSums& sums) { add_soft_rows(X, R, w, sums, poll); };
    shifted_moments(R.cols, X.cols, shift, add, weight, mean, scatter);
}

}  // namespace lyceum::moments
