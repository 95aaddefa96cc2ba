// The upper tail of the chi-square distribution, by the regularised incomplete gamma function Q(a, x).
#pragma once
#include <cmath>
#include <limits>

namespace lyceum {

// Q(a, x): one minus the series of P below a + 1, the continued fraction (modified Lentz) above.
inline double gamma_q(double a, double x) {
    if (!(x > 0.)) return 1.;
    const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
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

}  // namespace lyceum
