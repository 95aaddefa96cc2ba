// One pass of the rule of Widrow and Hoff:  u += rate * weight * (y - u.z) z,  row after row,
// with z = ((x - shift) * unit, 1); the last weight is the intercept, which stays when `intercept` is false. Cost: 2 n
// d.
#pragma once
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::linear {

template <class T>
void lms_pass(Matrix<const T> X, const double* y, const double* w, const double* shift, const double* unit, double rate,
              bool intercept, double* __restrict u, InterruptPoll poll) {
    const size_t d = X.cols;
    double* __restrict z = scratch<struct LmsRow, double>(d);
    for (size_t i = 0; i < X.rows; ++i) {
        const T* x = X.row(i);
        double fitted = u[d];
#pragma omp simd reduction(+ : fitted)
        for (size_t j = 0; j < d; ++j) {
            z[j] = (static_cast<double>(x[j]) - shift[j]) * unit[j];
            fitted += u[j] * z[j];
        }
        const double step = rate * weight_of(w, i) * (y[i] - fitted);
#pragma omp simd
        for (size_t j = 0; j < d; ++j) u[j] += step * z[j];
        if (intercept) u[d] += step;
        poll(2 * d);
    }
}

}  // namespace lyceum::linear
