// Several targets of a row at once, or one that is counted: sums of every output, whose merits are averaged.
//
// Classes: the weights n_k of the classes of output o stand from `first[o]` on. Numbers: the weight n, and for every
// output sum w y and sum w f(y), where f(y) = y^2 for the variance and y log y for the Poisson deviance.
#pragma once
#include <lyceum/trees/target_sums.hpp>

namespace lyceum::trees {

struct SeveralTargets {
    using Instance = ClassRow;  // the row and its weight; targets are looked up by the row
    static constexpr int fixed = 0;
    Criterion criterion;
    const double* y;  // (n, outputs), class codes or numbers
    size_t outputs;
    const size_t* first;  // (outputs + 1), where the classes of an output begin; null for numbers

    size_t size() const { return first ? first[outputs] : 1 + 2 * outputs; }

    void add(double* s, const ClassRow& t) const {
        const double* cells = y + t.row * outputs;
        if (first) {
            for (size_t o = 0; o < outputs; ++o) s[first[o] + static_cast<size_t>(cells[o])] += t.w;
            return;
        }
        s[0] += t.w;
        for (size_t o = 0; o < outputs; ++o) {
            const double f = criterion == Criterion::poisson ? y_log_y(cells[o]) : cells[o] * cells[o];
            s[1 + 2 * o] += t.w * cells[o];
            s[2 + 2 * o] += t.w * f;
        }
    }

    template <class V>
    V weight(const V* s) const {
        V total = s[0];
        for (size_t k = 1; first && k < first[1]; ++k) total += s[k];
        return total;
    }

    // gini: sum n_k^2 / n; entropy: sum n_k log n_k - n log n; variance: (sum y)^2 / n; poisson: sum y log(mean)
    Doubles merit(const Doubles* s) const {
        Doubles total{};
        for (size_t o = 0; o < outputs; ++o) total += first ? class_merit(s, o) : number_merit(s, o);
        return total / static_cast<double>(outputs);
    }
    Doubles merit_of_two(const Doubles* a, const Doubles* b) const { return merit(a) + merit(b); }

    // What a monotone function of a column is: the mean of one number.
    Doubles value(const Doubles* s) const { return first ? s[1] / weight(s) : s[1] / s[0]; }

    // How far the merit is below that of identical rows, per unit of weight; rounding errors of squares are none.
    double impurity(const double* s, double merit) const {
        const double n = weight(s);
        if (!(n > 0.)) return 0.;
        double best = 0.;
        if (first)
            best = criterion == Criterion::gini ? n : 0.;
        else
            for (size_t o = 0; o < outputs; ++o) best += s[2 + 2 * o] / static_cast<double>(outputs);
        const double left = best - merit;
        return left > 1e-14 * std::abs(best) ? left / n : 0.;
    }

private:
    static double y_log_y(double y) { return y > 0. ? y * std::log(y) : 0.; }

    Doubles class_merit(const Doubles* s, size_t o) const {
        Doubles m{}, n{};
        const bool is_gini = criterion == Criterion::gini;
        for (size_t k = first[o]; k < first[o + 1]; ++k) {
            m += is_gini ? s[k] * s[k] : entropy_term(s[k]);
            n += s[k];
        }
        return is_gini ? m / n : m - entropy_term(n);
    }

    // A part without counts has no Poisson mean: such a split is not allowed.
    Doubles number_merit(const Doubles* s, size_t o) const {
        const Doubles sum = s[1 + 2 * o];
        if (criterion != Criterion::poisson) return sum * sum / s[0];
        const Doubles none = splat(-std::numeric_limits<double>::infinity());
        return sum > 0. ? sum * vlog(sum > 0. ? sum / s[0] : splat(1.)) : none;
    }
};

}  // namespace lyceum::trees
