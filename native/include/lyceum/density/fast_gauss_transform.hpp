// sum_i w_i exp(-(x - z_i)^2 / 2) on a line, from moments of the rows in cells of half a bandwidth: the fast Gauss
// transform (Greengard and Strain, 1991) with a certified error.
//
// About a cell's center c, with y = x - c and t = z - c, |t| <= 1/4, Hermite's generating function gives
//   exp(-(y - t)^2 / 2) = exp(-y^2/2) sum_n He_n(y) t^n / n!,
// of which the terms n < 12 are kept: a polynomial in y for every cell. By Cramer's inequality, |He_n(y)| exp(-y^2/4)
// <= 1.0865 sqrt(n!), what is left is below `remainder` exp(-y^2/4) per unit of weight, together (Cauchy and Schwarz)
// below remainder sqrt(W sum_c W_c exp(-y_c^2/2)). Cells out of the window add at most W exp(-R^2/2). Both bounds are
// compared with the sum: a sum that is not certain to the tolerance is NaN, and left to `kernel_sums`. Cost: 12 n to
// build, a few vectors of cells per query.
#pragma once
#include <algorithm>
#include <cmath>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>
#include <lyceum/density/density_kernels.hpp>

namespace lyceum::density {

inline constexpr size_t hermite_terms = 12, cell_margin = 24;  // empty cells at both ends, for windows that reach over
inline constexpr double cell_width = .5;

struct GaussCells {
    double origin;                  // the lower edge of the first cell, margin included
    size_t count;                   // cells, margins included
    double *coefficients, *weight;  // [term][cell], [cell]
};

// `z` is ascending and lies within the margins. Rows of one cell follow each other: they lie in the lanes.
inline void gauss_cells(const double* z, const double* w, size_t n, GaussCells cells, InterruptPoll poll) {
    constexpr size_t L = lanes<double>;
    double hermite[hermite_terms][hermite_terms] = {};  // He_n = sum_k hermite[n][k] y^k
    hermite[0][0] = hermite[1][1] = 1;
    for (size_t m = 2; m < hermite_terms; ++m)
        for (size_t k = 0; k < hermite_terms; ++k)
            hermite[m][k] = (k ? hermite[m - 1][k - 1] : 0.) - double(m - 1) * hermite[m - 2][k];
    for (size_t begin = 0; begin < n;) {
        const auto cell = static_cast<size_t>((z[begin] - cells.origin) / cell_width);
        const double center = cells.origin + (double(cell) + .5) * cell_width, edge = center + .5 * cell_width;
        Doubles moments[hermite_terms] = {};
        const size_t end = std::max<size_t>(std::lower_bound(z + begin, z + n, edge) - z, begin + 1);
        const auto add = [&](Doubles step, Doubles power) {
#pragma GCC unroll 16
            for (size_t m = 0; m < hermite_terms; ++m, power *= step) moments[m] += power;
        };
        size_t i = begin;
        for (; i + L <= end; i += L) add(load(z + i) - center, w ? load(w + i) : splat(1.));
        Doubles step{}, power{};
        for (size_t r = 0; i + r < end; ++r) step[r] = z[i + r] - center, power[r] = weight_of(w, i + r);
        add(step, power);
        double factorial = 1;
        for (size_t m = 0; m < hermite_terms; ++m, factorial *= double(m)) {
            const double moment = sum_lanes<double>(moments[m]) / factorial;
            for (size_t k = m % 2; k <= m; k += 2) cells.coefficients[k * cells.count + cell] += moment * hermite[m][k];
            if (m == 0) cells.weight[cell] += moment;
        }
        poll(2 * hermite_terms * (end - begin));
        begin = end;
    }
}

template <bool Near>  // whether terms may be wrong by 1e-8
struct WindowSums {
    Doubles sum{}, plain{};  // the expansion; sum_c W_c exp(-y_c^2/2)

    void add(const GaussCells& cells, double x, size_t first) {
        constexpr size_t L = lanes<double>;
        Doubles y;
        for (size_t i = 0; i < L; ++i) y[i] = double(i);
        y = x - (cells.origin + (double(first) + .5) * cell_width) - cell_width * y;
        Doubles p = load(cells.coefficients + (hermite_terms - 1) * cells.count + first);
        for (size_t k = hermite_terms - 1; k-- > 0;) p = p * y + load(cells.coefficients + k * cells.count + first);
        const Doubles e = Near ? vexp_near(-.5 * y * y) : vexp(-.5 * y * y);
        sum += e * p;
        plain += e * load(cells.weight + first);
    }
};

template <bool Near>
void gauss_cell_sums(const double* x, const double* own, size_t n, GaussCells cells, double total, double tolerance,
                     double* sums, InterruptPoll poll) {
    constexpr size_t L = lanes<double>;
    constexpr double remainder = 3.3e-12;  // 1.0865 (1/4)^12 / sqrt(12!) / (1 - 1/4 / sqrt(13))
    const auto missed_beyond = [&](size_t cells_away) {
        const double radius = (double(cells_away) - 1) * cell_width;
        return total * std::exp(-.5 * radius * radius);
    };
    const double missed[] = {missed_beyond(12), missed_beyond(20)};
    for (size_t q = 0; q < n; ++q) {
        sums[q] = std::numeric_limits<double>::quiet_NaN();
        const double place = (x[q] - cells.origin) / cell_width;
        if (!(place >= double(cell_margin) && place < double(cells.count - cell_margin))) continue;
        const size_t middle = static_cast<size_t>(place);
        WindowSums<Near> window;
        size_t first = middle - 12, last = middle + 12;  // whole vectors at every level
        for (size_t c = first; c < last; c += L) window.add(cells, x[q], c);
        for (const size_t wider : {0, 1}) {
            const size_t reach = wider ? 20 : 12;
            for (; first > middle - reach; first -= L) window.add(cells, x[q], first - L);
            for (; last < middle + reach; last += L) window.add(cells, x[q], last);
            const double plain = sum_lanes<double>(window.plain);
            const double sum = sum_lanes<double>(window.sum) - (own ? own[q] : 0.);
            const bool sound = missed[wider] + remainder * std::sqrt(total * plain) <= tolerance * sum;
            if (sound && !(own && sum < 1e-3 * own[q])) {
                sums[q] = sum;
                break;
            }
        }
        poll(40 * 48);
    }
}

// sums[q] without own[q] (null: with all rows), NaN where it is not certain to the tolerance. `total` is the weight of
// all.
inline void gauss_cell_sums(const double* x, const double* own, size_t n, GaussCells cells, double total,
                            double tolerance, double* sums, InterruptPoll poll) {
    if (tolerance >= 1e-6)
        gauss_cell_sums<true>(x, own, n, cells, total, tolerance - 1e-7, sums, poll);
    else
        gauss_cell_sums<false>(x, own, n, cells, total, tolerance, sums, poll);
}

}  // namespace lyceum::density
