// One pass of the perceptron: every row whose score is not strictly on its own side adds itself to its class's weights,
//   w_y += rate * weight * x,   and, of more than two classes, takes itself from those of the best other class.
// Before that every row shrinks the weights by the penalty ridge / 2 |w|^2, and after it draws them towards zero by
// that of lasso |w|_1: in sums, as much as all rows so far have asked for (Tsuruoka, Tsujii and Ananiadou, 2009).
// Rows are taken about `shift`; the last weight of a class is its intercept, of the constant 1. Cost: n d K.
#pragma once
#include <algorithm>
#include <cmath>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::linear {

struct PerceptronRule {
    double rate = 1, ridge = 0, lasso = 0;
    bool intercept = true;
};

// `loss` sums over the rows how far each was on the wrong side as it came, and the penalty it found.
struct PerceptronPass {
    size_t rows = 0, mistakes = 0;
    double loss = 0;
};

inline double perceptron_penalty(const PerceptronRule& rule, Matrix<double> coef, size_t d) {
    double squares = 0, sizes = 0;
    for (size_t k = 0; k < coef.rows; ++k)
        for (size_t j = 0; j < d; ++j) squares += coef.row(k)[j] * coef.row(k)[j], sizes += std::abs(coef.row(k)[j]);
    return rule.ridge * squares / 2 + rule.lasso * sizes;
}

// Every weight goes towards zero, not past it, by what is due of `paid`: its last entry is the sum asked for so far,
// the others are what the weights have paid of it.
inline void perceptron_lasso(double step, size_t d, double* w, double* paid) {
    const double due = paid[d] += step;
    for (size_t j = 0; j < d; ++j) {
        const double before = w[j];
        if (before > 0)
            w[j] = std::max(0.0, before - (due + paid[j]));
        else if (before < 0)
            w[j] = std::min(0.0, before + (due - paid[j]));
        paid[j] += w[j] - before;
    }
}

// `coef` has one row for two classes (code 1 is the positive side), else one per class; `paid` has its shape. Rows
// without a class and zero-weight rows are ignored.
template <class T>
PerceptronPass perceptron_pass(Matrix<const T> X, Codes codes, const double* w, const double* shift,
                               const PerceptronRule& rule, Matrix<double> coef, Matrix<double> paid,
                               InterruptPoll poll) {
    const size_t d = X.cols, outputs = coef.rows;
    const bool penalized = rule.ridge > 0 || rule.lasso > 0;
    const double shrink = std::max(0.0, 1 - rule.rate * rule.ridge);
    double* x = scratch<struct PerceptronRow, double>(d);
    double* score = scratch<struct PerceptronScore, double>(outputs);
    const auto add = [&](size_t k, double step) {
        double* __restrict row = coef.row(k);
        for (size_t j = 0; j < d; ++j) row[j] += step * x[j];
        if (rule.intercept) row[d] += step;
    };
    PerceptronPass pass;
    for (size_t i = 0; i < X.rows; ++i) {
        const std::int32_t y = codes(i);
        const double step = rule.rate * weight_of(w, i);
        if (y < 0 || !(step > 0)) continue;
        ++pass.rows;
        for (size_t j = 0; j < d; ++j) x[j] = static_cast<double>(X.row(i)[j]) - shift[j];
        for (size_t k = 0; k < outputs; ++k) {
            const double* __restrict row = coef.row(k);
            double sum = row[d];
#pragma omp simd reduction(+ : sum)
            for (size_t j = 0; j < d; ++j) sum += row[j] * x[j];
            score[k] = sum;
        }
        poll(d * outputs);
        if (penalized) pass.loss += perceptron_penalty(rule, coef, d);
        if (rule.ridge > 0)
            for (size_t k = 0; k < outputs; ++k)
                for (size_t j = 0; j < d; ++j) coef.row(k)[j] *= shrink;
        // how far the row is on its own side; what it adds itself to, and what it takes itself from
        const auto own = static_cast<size_t>(outputs == 1 ? 0 : y);
        size_t best = own == 0 ? 1 : 0;
        double lead = y == 1 ? score[0] : -score[0];
        if (outputs > 1) {
            for (size_t k = 0; k < outputs; ++k)
                if (k != own && score[k] > score[best]) best = k;
            lead = score[own] - score[best];
        }
        if (!(lead > 0)) {
            ++pass.mistakes;
            pass.loss -= lead;
            add(own, outputs == 1 && y != 1 ? -step : step);
            if (outputs > 1) add(best, -step);
        }
        if (rule.lasso > 0)
            for (size_t k = 0; k < outputs; ++k) perceptron_lasso(rule.rate * rule.lasso, d, coef.row(k), paid.row(k));
    }
    return pass;
}

}  // namespace lyceum::linear
