#include <lyceum/kernels/dual_descent.hpp>
#include <lyceum/kernels/kernel_functions.hpp>
#include <lyceum/kernels/kernel_tiles.hpp>
#include <lyceum/kernels/smo.hpp>
#include <lyceum/kernels/working_set_choice.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::kernels;

double gaussian(const double* x, const double* y, size_t d, double gamma) {
    double square = 0;
    for (size_t j = 0; j < d; ++j) square += (x[j] - y[j]) * (x[j] - y[j]);
    return std::exp(-gamma * square);
}

void test_gram_and_sums(size_t n, size_t m, size_t d) {
    Random random;
    const Doubles1 X = random.normal<double>(n * d, 0, 1), Y = random.normal<double>(m * d, 0, 1);
    Doubles1 K(n * m), own(n * n), out(m), coef = random.uniform(n);
    const GaussianKernel kernel{.3};
    gram<double>(turn_by<double>(kernel), {X.data(), n, d}, {Y.data(), m, d}, false, K.data(), 2, InterruptPoll());
    gram<double>(turn_by<double>(kernel), {X.data(), n, d}, {X.data(), n, d}, true, own.data(), 2, InterruptPoll());
    kernel_sums<double>(turn_by<double>(kernel), {X.data(), n, d}, {coef.data(), n, 1}, {Y.data(), m, d}, out.data(), 2,
                        InterruptPoll());
    // few rows are compared as they are: the sums of panels but for rounding
    Doubles1 few(m), product_few(m), product_many(m);
    const PolynomialKernel cubic{.5, 1., 3};
    const auto rows = Matrix<const double>{X.data(), n, d};
    const auto other = Matrix<const double>{Y.data(), m, d};
    const auto weights = Matrix<const double>{coef.data(), n, 1};
    kernel_sums_of_few<true, double>(turn_by<double>(kernel), rows, weights, other, few.data());
    kernel_sums_of_few<false, double>(turn_by<double>(cubic), rows, weights, other, product_few.data());
    kernel_sums<double>(turn_by<double>(cubic), rows, weights, other, product_many.data(), 1, InterruptPoll());
    for (size_t j = 0; j < m; ++j) {
        CHECK(std::abs(few[j] - out[j]) < 1e-10);
        CHECK(std::abs(product_few[j] - product_many[j]) < 1e-9 * (1 + std::abs(product_many[j])));
    }
    for (size_t j = 0; j < m; ++j) {
        double sum = 0;
        for (size_t i = 0; i < n; ++i) {
            const double want = gaussian(&X[i * d], &Y[j * d], d, .3);
            CHECK(std::abs(K[i * m + j] - want) < 1e-12);
            sum += coef[i] * want;
        }
        CHECK(std::abs(out[j] - sum) < 1e-10);
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < n; ++k) CHECK(own[i * n + k] == own[k * n + i]);
}

// A working set is optimal where the largest v that can rise is not above the smallest that can fall.
void test_smo(size_t n) {
    Random random;
    const Doubles1 X = random.normal<double>(n * 2, 0, 1);
    Doubles1 K(n * n), s(n), v(n), C(n, 1.), b(n, 0.);
    gram<double>(turn_by<double>(GaussianKernel{1.}), {X.data(), n, 2}, {X.data(), n, 2}, true, K.data(), 1,
                 InterruptPoll());
    for (size_t i = 0; i < n; ++i) s[i] = v[i] = i % 2 ? 1 : -1;
    InterruptPoll poll;
    CHECK(
        WorkingSet<double>({K.data(), n, n}, s.data(), C.data(), b.data(), v.data(), true).solve(1e-9, 100000, poll) >=
        0);
    double balance = 0;
    for (size_t i = 0; i < n; ++i) {
        double score = 0;
        for (size_t k = 0; k < n; ++k) score += s[k] * b[k] * K[i * n + k];
        CHECK(std::abs(v[i] - (s[i] - score)) < 1e-9);
        CHECK(b[i] >= 0 && b[i] <= 1);
        balance += s[i] * b[i];
    }
    CHECK(std::abs(balance) < 1e-9);
    const auto found = Variables{v.data(), s.data(), C.data(), b.data(), n}.violation();
    CHECK(found.up - found.low <= 1e-9);
}

// At the optimum no projected slope is left, and w is the sum of the rows.
void test_dual_descent(size_t n, size_t d) {
    Random random;
    const Doubles1 X = random.normal<double>(n * d, 0, 1);
    Doubles1 y(n), t(n, 1.), bound(n, .5), ridge(n, 0.), a(n, 0.), w(d + 1, 0.);
    for (size_t i = 0; i < n; ++i) y[i] = X[i * d] + .3 * X[(i * d + 3) % (n * d)] > 0 ? 1 : -1;
    const DualDescent problem{y.data(), t.data(), bound.data(), ridge.data(), true};
    const auto found = dual_descent(DenseCells<double>{{X.data(), n, d}}, problem, a.data(), w.data(), d, 1e-9, 100000,
                                    InterruptPoll());
    CHECK(found.violation <= 1e-9);
    for (size_t i = 0; i < n; ++i) {
        double score = w[d];
        for (size_t j = 0; j < d; ++j) score += X[i * d + j] * w[j];
        const double slope = y[i] * score - 1;
        CHECK(a[i] <= 0 ? slope > -1e-7 : a[i] >= .5 ? slope < 1e-7 : std::abs(slope) < 1e-7);
    }
}

int main() {
    for (size_t n : {1, 7, 33, 130}) {
        test_gram_and_sums(n, 70, 5);
        test_gram_and_sums(n, 3, 1);
    }
    for (size_t n : {2, 5, 40, 101}) test_smo(n);
    test_dual_descent(60, 4);
    return failures;
}
