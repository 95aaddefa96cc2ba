// Scatter weighted by responsibilities r_ik: W_k = sum_i w_i r_ik, m_k = sum_i w_i r_ik x_i / W_k and
//   S_k = sum_i w_i r_ik (x_i - m_k)(x_i - m_k)', or their sum over k when pooled.
// Rows without responsibility for k are passed over: hard responsibilities cost what classes do.
// Cost: n K d^2 / 2 multiply-adds and K d^2.
#pragma once
#include <limits>

#include <lyceum/moments/scatter.hpp>

namespace lyceum::moments {

// v_i = w_i r_ik, and the rows where it is above 0; returns their number.
inline size_t rows_of_component(Matrix<const double> R, size_t k, const double* w, double* v, std::int32_t* order) {
    size_t used = 0;
    for (size_t i = 0; i < R.rows; ++i) {
        v[i] = weight_of(w, i) * R.row(i)[k];
        if (v[i] > 0) order[used++] = static_cast<std::int32_t>(i);
    }
    return used;
}

template <class T>
void soft_scatter(Matrix<const T> X, Matrix<const double> R, const double* w, double* weight, double* mean, double* S,
                  bool pooled, InterruptPoll poll) {
    if (X.rows > static_cast<size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::invalid_argument("soft_scatter takes at most 2**31 - 1 rows per block");
    const size_t d = X.cols;
    auto* order = scratch<struct SoftOrder, std::int32_t>(X.rows);
    auto* v = scratch<struct SoftWeights, double>(X.rows);
    for (size_t k = 0; k < R.cols; ++k) {
        double* Sk = pooled ? S : S + k * d * d;
        const size_t used = rows_of_component(R, k, w, v, order);
        const Sample<T> sample{X, {nullptr, X.rows, 0}, v, used == X.rows ? nullptr : order, used};
        weight[k] = centered_scatter(sample, mean + k * d, poll, [=](size_t a, size_t b, double value) {
            Sk[a * d + b] = pooled ? Sk[a * d + b] + value : value;
            if (a != b) Sk[b * d + a] = Sk[a * d + b];
        });
    }
}

}  // namespace lyceum::moments
