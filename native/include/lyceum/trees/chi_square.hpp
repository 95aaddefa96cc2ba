// The chi-square test of independence; its tail by the regularized incomplete gamma function Q(a, x).
#pragma once
#include <algorithm>
#include <cmath>
#include <lyceum/core/log_gamma.hpp>
#include <numeric>
#include <vector>

namespace lyceum::trees {

// Q(a, x): one minus the series of P below a + 1, the continued fraction (modified Lentz) above.
inline double gamma_q(double a, double x) {
    if (!(x > 0.)) return 1.;
    const double front = std::exp(a * std::log(x) - x - log_gamma(a));
    constexpr double precision = 1e-15, tiny = 1e-300;
    if (x < a + 1.) {
        double term = 1. / a, sum = term;
        for (double n = a + 1.; term > sum * precision; ++n) sum += term *= x / n;
        return std::max(0., 1. - front * sum);
    }
    double b = x + 1. - a, c = 1. / tiny, d = 1. / b, h = d;
    for (int i = 1; i < 100000; ++i) {
        const double an = -i * (i - a);
        b += 2.;
        d = an * d + b;
        c = b + an / c;
        d = 1. / (std::abs(d) < tiny ? tiny : d);
        c = std::abs(c) < tiny ? tiny : c;
        h *= d * c;
        if (std::abs(d * c - 1.) < precision) break;
    }
    return front * h;
}

inline double chi_square_tail(double statistic, double degrees) { return gamma_q(degrees / 2, statistic / 2); }

// The p-value of the hypothesis that the classes do not depend on the branch, from the weights of the classes in every
// branch; branches and classes without rows do not count.
inline double independence(const std::vector<const double*>& branches, size_t n_classes) {
    std::vector<double> classes(n_classes, 0.), sizes;
    for (const double* branch : branches) {
        sizes.push_back(std::accumulate(branch, branch + n_classes, 0.));
        for (size_t k = 0; k < n_classes; ++k) classes[k] += branch[k];
    }
    const auto some = [](double w) { return w > 0.; };
    const auto rows = std::count_if(sizes.begin(), sizes.end(), some),
               columns = std::count_if(classes.begin(), classes.end(), some);
    if (rows < 2 || columns < 2) return 1.;
    const double n = std::accumulate(sizes.begin(), sizes.end(), 0.);
    double statistic = 0.;
    for (size_t b = 0; b < branches.size(); ++b)
        for (size_t k = 0; k < n_classes; ++k) {
            const double expected = sizes[b] * classes[k] / n;
            if (expected > 0.) statistic += (branches[b][k] - expected) * (branches[b][k] - expected) / expected;
        }
    return chi_square_tail(statistic, static_cast<double>((rows - 1) * (columns - 1)));
}

}  // namespace lyceum::trees
