// Local fits against the normal equations solved by elimination in plain loops.
#include <lyceum/neighbors/local_fits.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::neighbors;

namespace {

// The terms of x about a point.
Doubles1 terms_of(const double* x, const double* about, size_t d, int degree) {
    Doubles1 t{1.};
    for (size_t j = 0; j < d && degree > 0; ++j) t.push_back(x[j] - about[j]);
    for (size_t j = 0; j < d && degree > 1; ++j)
        for (size_t k = j; k < d; ++k) t.push_back(t[1 + j] * t[1 + k]);
    return t;
}

// The solution of A x = b by elimination with pivots.
Doubles1 eliminate(Doubles1 A, Doubles1 b) {
    const size_t p = b.size();
    for (size_t c = 0; c < p; ++c) {
        size_t best = c;
        for (size_t r = c; r < p; ++r)
            if (std::abs(A[r * p + c]) > std::abs(A[best * p + c])) best = r;
        for (size_t k = 0; k < p; ++k) std::swap(A[c * p + k], A[best * p + k]);
        std::swap(b[c], b[best]);
        for (size_t r = 0; r < p; ++r) {
            if (r == c) continue;
            const double factor = A[r * p + c] / A[c * p + c];
            for (size_t k = c; k < p; ++k) A[r * p + k] -= factor * A[c * p + k];
            b[r] -= factor * b[c];
        }
    }
    for (size_t c = 0; c < p; ++c) b[c] /= A[c * p + c];
    return b;
}

struct Fits {
    Doubles1 value, norm, inverse, gradient;
    std::vector<std::uint8_t> degenerate;

    Fits(size_t m, size_t d) : value(m), norm(m), inverse(m), gradient(m * d), degenerate(m) {}
    LocalOutput out(size_t m, size_t d) {
        return {value.data(), norm.data(), inverse.data(), {gradient.data(), m, d}, degenerate.data()};
    }
};

void test_fits_solve_the_normal_equations(size_t d, int degree, bool counted) {
    Random random;
    const size_t n = 60, m = 5, k = 40;
    const auto X = random.normal<double>(n * d), y = random.normal<double>(n), Q = random.normal<double>(m * d);
    const auto kernel = random.uniform(m * k), count = random.uniform(m * k);
    std::vector<std::int64_t> offsets(m + 1), rows(m * k);
    for (size_t q = 0; q <= m; ++q) offsets[q] = static_cast<std::int64_t>(q * k);
    for (size_t i = 0; i < m * k; ++i) rows[i] = static_cast<std::int64_t>(i * 7 % n);
    Fits got(m, d);
    InterruptPoll poll;
    LocalFits(matrix_of(X, n, d), y.data(), degree, {})(
        matrix_of(Q, m, d), {offsets.data(), rows.data(), kernel.data(), counted ? count.data() : nullptr},
        got.out(m, d), poll);
    const size_t p = local_terms(d, degree);
    for (size_t q = 0; q < m; ++q) {
        Doubles1 A(p * p), b(p), first(p);
        for (size_t i = q * k; i < (q + 1) * k; ++i) {
            const double w = kernel[i] * (counted ? count[i] : 1.);
            const auto row = static_cast<size_t>(rows[i]);
            const auto t = terms_of(&X[row * d], &Q[q * d], d, degree);
            for (size_t j = 0; j < p; ++j) {
                b[j] += w * t[j] * y[row];
                for (size_t l = 0; l < p; ++l) A[j * p + l] += w * t[j] * t[l];
            }
        }
        first[0] = 1;
        const auto beta = eliminate(A, b), inverse = eliminate(A, first);
        CLOSE(got.value[q], beta[0], 1e-9);
        CLOSE(got.inverse[q], inverse[0], 1e-9);
        for (size_t j = 0; j < d && degree > 0; ++j) CLOSE(got.gradient[q * d + j], beta[1 + j], 1e-8);
        double norm = 0;
        for (size_t i = q * k; i < (q + 1) * k; ++i) {
            const auto t = terms_of(&X[static_cast<size_t>(rows[i]) * d], &Q[q * d], d, degree);
            double l = 0;
            for (size_t j = 0; j < p; ++j) l += kernel[i] * t[j] * inverse[j];
            norm += (counted ? count[i] : 1.) * l * l;
        }
        CLOSE(got.norm[q], norm, 1e-9);
        CHECK(!got.degenerate[q]);
    }
}

void test_rows_that_do_not_determine_a_plane_are_said() {
    const Doubles1 X{1, 1, 1, 1, 1, 1}, y{1, 2, 6}, Q{1, 1}, kernel{1, 1, 1};
    const std::vector<std::int64_t> offsets{0, 3}, rows{0, 1, 2};
    Fits got(1, 2);
    InterruptPoll poll;
    LocalFits(matrix_of(X, 3, 2), y.data(), 1, {})(
        matrix_of(Q, 1, 2), {offsets.data(), rows.data(), kernel.data(), nullptr}, got.out(1, 2), poll);
    CHECK(got.degenerate[0]);
    CLOSE(got.value[0], 3, 1e-12);
}

// Two equal columns share the slope of one of them, whatever the scale of the weights.
void test_equal_columns_share_a_slope(double scale) {
    const Doubles1 X{0, 0, 1, 1, 2, 2, 3, 3}, y{1, 3, 5, 7}, Q{1.5, 1.5}, kernel{scale, scale, scale, scale};
    const std::vector<std::int64_t> offsets{0, 4}, rows{0, 1, 2, 3};
    Fits got(1, 2);
    InterruptPoll poll;
    LocalFits(matrix_of(X, 4, 2), y.data(), 1, {})(
        matrix_of(Q, 1, 2), {offsets.data(), rows.data(), kernel.data(), nullptr}, got.out(1, 2), poll);
    CHECK(got.degenerate[0]);
    CLOSE(got.value[0], 4, 1e-13);
    CLOSE(got.gradient[0], 1, 1e-13);
    CLOSE(got.gradient[1], 1, 1e-13);
    CLOSE(got.inverse[0] * scale, 0.25, 1e-13);
}

}  // namespace

int main() {
    for (const size_t d : {1, 2, 3})
        for (const int degree : {0, 1, 2})
            for (const bool counted : {false, true}) test_fits_solve_the_normal_equations(d, degree, counted);
    test_rows_that_do_not_determine_a_plane_are_said();
    for (const double scale : {1., 1e-200, 1e6}) test_equal_columns_share_a_slope(scale);
    return failures;
}
