#include <lyceum/density/fast_gauss_transform.hpp>
#include <lyceum/density/kernel_sums.hpp>
#include <numeric>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::density;

double near_one(double u, int kernel) {
    const double a = std::abs(u), half = u / 2;
    switch (kernel) {
        case 0:
            return a <= .5;
        case 1:
            return std::exp(-u * u / 2);
        case 2:
            return std::exp(-2 * a);
        case 3:
            return 1 / (1 + u * u);
        case 4:
            return a < 1e-8 ? 1 : std::pow(std::sin(half) / half, 2);
        case 5:
            return a < 1 ? 1 - u * u : 0;
        case 6:
            return a < 1 ? std::pow(1 - a * a * a, 3) : 0;
        default:
            return a < 1 ? 1 - a : 0;
    }
}

Doubles1 in_order(const Doubles1& Z, size_t n, size_t d, size_t leaf) {
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    InterruptPoll poll;
    leaf_order({Z.data(), n, d}, order.data(), 0, n, leaf, poll);
    Doubles1 out(n * d);
    for (size_t i = 0; i < n; ++i) std::copy_n(Z.data() + size_t(order[i]) * d, d, out.data() + i * d);
    return out;
}

template <class Window>
void test_sums(int kernel, size_t n, size_t m, size_t d, double tolerance, double allowed) {
    Random random;
    const Doubles1 Z = in_order(random.normal<double>(n * d, 0, 3), n, d, leaf_rows);
    const Doubles1 X = in_order(random.normal<double>(m * d, 0, 4), m, d, query_tile), w = random.uniform(n);
    const Leaves leaves({Z.data(), n, d}, w.data());
    Doubles1 out(m);
    KernelSums<Window>(leaves, tolerance, InterruptPoll())({X.data(), m, d}, nullptr, out.data());
    for (size_t q = 0; q < m; ++q) {
        double want = 0;
        for (size_t i = 0; i < n; ++i) {
            double product = w[i];
            for (size_t j = 0; j < d; ++j) product *= near_one(X[q * d + j] - Z[i * d + j], kernel);
            want += product;
        }
        if (want == 0)
            CHECK(out[q] == -infinity);
        else
            CHECK(std::abs(std::expm1(out[q] - std::log(want))) <= allowed);
    }
}

// Far from all rows the sum is below the smallest double; a row without itself is far from the others.
void test_logarithms() {
    const Doubles1 Z{0, 1, 200}, X{-100, 200, 1000};
    const std::vector<std::int64_t> self{0, 2, 2};
    const Leaves leaves({Z.data(), 3, 1}, nullptr);
    Doubles1 out(3);
    KernelSums<GaussianWindow>(leaves, 0, InterruptPoll())({X.data(), 3, 1}, nullptr, out.data());
    CLOSE(out[0], -5000, 1e-14);
    CLOSE(out[1], 0, 1e-14);
    CLOSE(out[2], -320000, 1e-14);
    KernelSums<GaussianWindow>(leaves, 1e-4, InterruptPoll())({X.data() + 1, 1, 1}, self.data() + 1, out.data());
    CLOSE(out[0], -199 * 199 / 2., 1e-14);
}

void test_cells(size_t n, double spread) {
    Random random;
    auto z = random.normal<double>(n, 0, spread);
    std::sort(z.begin(), z.end());
    const Doubles1 w = random.uniform(n);
    const size_t margin = cell_margin + 20, count = size_t((z.back() - z[0]) / cell_width) + 2 + 2 * margin;
    Doubles1 coefficients(hermite_terms * count), weight(count);
    const GaussCells cells{z[0] - double(margin) * cell_width, count, coefficients.data(), weight.data()};
    gauss_cells(z.data(), w.data(), n, cells, InterruptPoll());
    const double total = std::accumulate(w.begin(), w.end(), 0.);
    CLOSE(std::accumulate(weight.begin(), weight.end(), 0.), total, 1e-13);
    Doubles1 x(400), sums(400);
    for (size_t q = 0; q < 400; ++q) x[q] = z[0] - 15 + double(q) * (z.back() - z[0] + 30) / 400;
    gauss_cell_sums(x.data(), nullptr, 400, cells, total, 1e-6, sums.data(), InterruptPoll());
    size_t certain = 0;
    for (size_t q = 0; q < 400; ++q) {
        double want = 0;
        for (size_t i = 0; i < n; ++i) want += w[i] * std::exp(-.5 * (x[q] - z[i]) * (x[q] - z[i]));
        if (sums[q] != sums[q]) continue;
        CHECK(std::abs(sums[q] / want - 1) <= 1e-6);
        ++certain;
    }
    CHECK(certain > 100);
}

int main() {
    for (const size_t n : {1, 31, 32, 33, 500})
        for (const size_t d : {1, 2, 5}) {
            const size_t m = n < 500 ? 5 : 203;
            for (const double tolerance : {0., 1e-4}) {
                const double allowed = std::max(tolerance, 1e-12);
                test_sums<BoxWindow>(0, n, m, d, tolerance, allowed);
                test_sums<GaussianWindow>(1, n, m, d, tolerance, allowed);
                test_sums<LaplaceWindow>(2, n, m, d, tolerance, allowed);
                test_sums<CauchyWindow>(3, n, m, d, tolerance, allowed);
                test_sums<SincWindow>(4, n, m, d, tolerance, std::max(tolerance, 1e-11));
                test_sums<EpanechnikovWindow>(5, n, m, d, tolerance, std::max(tolerance, 1e-9));
                test_sums<TricubeWindow>(6, n, m, d, tolerance, std::max(tolerance, 1e-9));
                test_sums<TriangleWindow>(7, n, m, d, tolerance, std::max(tolerance, 1e-9));
            }
            test_sums<NearGaussianWindow>(1, n, m, d, 1e-6, 1.1e-6);
            test_sums<NearLaplaceWindow>(2, n, m, d, 1e-6, 1.1e-6);
        }
    test_logarithms();
    for (const double spread : {0., .3, 10.}) test_cells(1000, spread);
    return failures;
}
