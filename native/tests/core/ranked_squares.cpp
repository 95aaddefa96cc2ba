// Small least squares with their rank against definitions: optimality, least norm, and the pseudo-inverse.
#include <lyceum/core/ranked_squares.hpp>

#include "check.hpp"

using namespace lyceum;

namespace {

// Random columns of unit length in a space of some rank, but for noise.
Doubles1 table(Random& random, size_t n, size_t p, size_t rank, double noise) {
    const auto base = random.normal<double>(n * rank), factor = random.normal<double>(rank * p);
    const auto other = random.normal<double>(n * p);
    Doubles1 M(n * p);
    for (size_t j = 0; j < p; ++j) {
        double square = 0;
        for (size_t i = 0; i < n; ++i) {
            double& cell = M[i * p + j];
            cell = noise * other[i * p + j];
            for (size_t r = 0; r < rank; ++r) cell += base[i * rank + r] * factor[r * p + j];
            square += cell * cell;
        }
        for (size_t i = 0; i < n && square > 0; ++i) M[i * p + j] /= std::sqrt(square);
    }
    return M;
}

Doubles1 beside(const Doubles1& M, const Doubles1& y, size_t n, size_t p) {
    Doubles1 both;
    for (size_t i = 0; i < n; ++i) {
        both.insert(both.end(), &M[i * p], &M[i * p] + p);
        both.push_back(y[i]);
    }
    return both;
}

// M'M x
Doubles1 squared(const Doubles1& M, const Doubles1& x, size_t n, size_t p) {
    Doubles1 out(p);
    for (size_t i = 0; i < n; ++i) {
        double product = 0;
        for (size_t j = 0; j < p; ++j) product += M[i * p + j] * x[j];
        for (size_t j = 0; j < p; ++j) out[j] += product * M[i * p + j];
    }
    return out;
}

void test_coefficients_are_optimal_and_of_least_norm(size_t n, size_t p, size_t rank, double noise) {
    Random random;
    const auto M = table(random, n, p, rank, noise), y = random.normal<double>(n), t = random.normal<double>(p);
    auto both = beside(M, y, n, p);
    RankedSquares ranked;
    ranked.factor(both.data(), n, p);
    CHECK(ranked.rank() == std::min({n, p, rank}));
    Doubles1 b(p), right(p), again(p), inside(p);
    ranked.coefficients(b.data());
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < p; ++j) right[j] += M[i * p + j] * y[i];
    ranked.inverse_times(right.data(), again.data());
    const auto left = squared(M, b, n, p);
    for (size_t j = 0; j < p; ++j) {
        CLOSE(left[j], right[j], 1e-9 + 1e5 * noise);
        CLOSE(again[j], b[j], 1e-8);  // b = (M'M)^+ M'y
    }
    // (M'M)^+ M'M leaves b, which has no part in the null space, as it is
    ranked.inverse_times(left.data(), inside.data());
    for (size_t j = 0; j < p; ++j) CLOSE(inside[j], b[j], 1e-8 + 1e5 * noise);
}

void test_equal_columns_share_a_coefficient() {
    const double half = std::sqrt(0.5);
    Doubles1 both{half, half, 0, 1, half, half, 0, 3};
    RankedSquares ranked;
    ranked.factor(both.data(), 2, 3);
    Doubles1 b(3);
    ranked.coefficients(b.data());
    CHECK(ranked.rank() == 1);
    CLOSE(b[0], std::sqrt(2.0), 1e-14);
    CLOSE(b[1], std::sqrt(2.0), 1e-14);
    CHECK(b[2] == 0);
}

void test_nothing_has_no_rank() {
    Doubles1 both{0, 0, 5}, b(2);
    RankedSquares ranked;
    for (const size_t n : {0, 1}) {
        ranked.factor(both.data(), n, 2);
        ranked.coefficients(b.data());
        CHECK(ranked.rank() == 0 && b[0] == 0 && b[1] == 0);
    }
}

}  // namespace

int main() {
    for (const size_t n : {1, 3, 8, 40})
        for (const size_t p : {1, 2, 5, 12})
            for (const size_t rank : {1, 2, 5, 12})
                for (const double noise : {0., 1e-12})
                    test_coefficients_are_optimal_and_of_least_norm(n, p, rank, noise);
    test_equal_columns_share_a_coefficient();
    test_nothing_has_no_rank();
    return failures;
}
