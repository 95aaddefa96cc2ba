// One pass of the perceptron: every row whose score is not strictly on its own side adds itself to its class's weights,
//   w_y += rate * weight * x,   and, of more than two classes, takes itself from those of the best other class.
// Rows are taken about `shift`; the last weight of a class is its intercept, of the constant 1. Cost: n d K.
#pragma once
#include <algorithm>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::linear {

// `coef` has one row for two classes (code 1 is the positive side), else one per class. Rows without a class and
// zero-weight rows are ignored. Returns the number of mistakes.
template <class T>
size_t perceptron_pass(Matrix<const T> X, Codes codes, const double* w, const double* shift, double rate,
                       Matrix<double> coef, InterruptPoll poll) {
    const size_t d = X.cols, outputs = coef.rows;
    double* x = scratch<struct PerceptronRow, double>(d);
    double* score = scratch<struct PerceptronScore, double>(outputs);
    const auto add = [&](size_t k, double step) {
        double* __restrict row = coef.row(k);
        for (size_t j = 0; j < d; ++j) row[j] += step * x[j];
        row[d] += step;
    };
    size_t mistakes = 0;
    for (size_t i = 0; i < X.rows; ++i) {
        const std::int32_t y = codes(i);
        const double step = rate * weight_of(w, i);
        if (y < 0 || !(step > 0)) continue;
        for (size_t j = 0; j < d; ++j) x[j] = static_cast<double>(X.row(i)[j]) - shift[j];
        for (size_t k = 0; k < outputs; ++k) {
            const double* __restrict row = coef.row(k);
            double sum = row[d];
#pragma omp simd reduction(+ : sum)
            for (size_t j = 0; j < d; ++j) sum += row[j] * x[j];
            score[k] = sum;
        }
        poll(d * outputs);
        if (outputs == 1) {
            const double side = y == 1 ? 1.0 : -1.0;
            if (side * score[0] > 0) continue;
            add(0, side * step);
        } else {
            const auto own = static_cast<size_t>(y);
            size_t best = own == 0 ? 1 : 0;
            for (size_t k = 0; k < outputs; ++k)
                if (k != own && score[k] > score[best]) best = k;
            if (score[own] > score[best]) continue;
            add(own, step), add(best, -step);
        }
        ++mistakes;
    }
    return mistakes;
}

}  // namespace lyceum::linear
