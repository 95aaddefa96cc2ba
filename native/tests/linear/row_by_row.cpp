#include <lyceum/linear/least_mean_squares.hpp>
#include <lyceum/linear/perceptron.hpp>
#include <lyceum/linear/recursive_least_squares.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::linear;

// (1,2)-, (-1,2)-, (-1,-2)+ from zero weights, by hand: the first row is a mistake (score 0), then the third.
template <class T>
void test_three_points() {
    const std::vector<T> X{1, 2, -1, 2, -1, -2};
    const std::int32_t y[] = {0, 0, 1};
    const double shift[] = {0, 0};
    Doubles1 coef(3), paid(3);
    const auto pass = [&](PerceptronRule rule) {
        return perceptron_pass<T>(matrix_of(X, 3, 2), {y, 2}, nullptr, shift, rule, {coef.data(), 1, 3},
                                  {paid.data(), 1, 3}, InterruptPoll());
    };
    CHECK(pass({}).mistakes == 1);
    CLOSE(coef[0], -1, 0);
    CLOSE(coef[1], -2, 0);
    CLOSE(coef[2], -1, 0);
    CHECK(pass({}).mistakes == 0);
    // three rows multiply by 1 - 0.25 and draw by 0.01 each
    CHECK(pass({1, 0.25, 0.01, true}).mistakes == 0);
    CLOSE(coef[0], -0.39875, 1e-15);
    CLOSE(coef[1], -0.820625, 1e-15);
    CLOSE(coef[2], -1, 0);
}

template <class T>
void test_several_classes_settle() {
    Random random;
    const size_t n = 90, d = 4, K = 3;
    auto X = random.normal<T>(n * d, 1e3, 0.3);
    std::vector<std::int32_t> y(n);
    for (size_t i = 0; i < n; ++i) y[i] = std::int32_t(i % K), X[i * d + i % K] += T(5);
    const double shift[] = {1e3, 1e3, 1e3, 1e3};
    Doubles1 coef(K * (d + 1)), paid(K * (d + 1));
    const auto pass = [&](const double* w) {
        return perceptron_pass<T>(matrix_of(X, n, d), {y.data(), K}, w, shift, {0.5}, {coef.data(), K, d + 1},
                                  {paid.data(), K, d + 1}, InterruptPoll());
    };
    size_t mistakes = 1, passes = 0;
    while (mistakes && ++passes < 100) mistakes = pass(nullptr).mistakes;
    CHECK(mistakes == 0);
    const Doubles1 none(n);
    std::fill(coef.begin(), coef.end(), 0.0);
    CHECK(pass(none.data()).rows == 0);
}

// Two rows by hand, rate 0.1: u = (0, 0), then 0.1 * 3 (1, 1), then + 0.1 * (1 - 0.9) (2, 1).
template <class T>
void test_lms_by_hand() {
    const std::vector<T> X{2, 3};
    const double y[] = {3, 1}, shift[] = {1}, unit[] = {1};
    Doubles1 u(2);
    lms_pass<T>(matrix_of(X, 2, 1), y, nullptr, shift, unit, 0.1, true, u.data(), InterruptPoll());
    CLOSE(u[0], 0.3 + 0.1 * 0.1 * 2, 1e-15);
    CLOSE(u[1], 0.3 + 0.1 * 0.1, 1e-15);
}

// One column, prior precision 2: after all rows P = 1 / (2 + sum w x^2) and u = P sum w x y.
template <class T>
void test_recursive_squares_are_ridge() {
    const std::vector<T> X{1, 2, -1};
    const double y[] = {1, 3, 0}, w[] = {1, 2, 0}, shift[] = {0};
    Doubles1 u(2), P(4);
    P[0] = 0.5;
    recursive_squares<T>(matrix_of(X, 3, 1), y, w, shift, u.data(), P.data(), InterruptPoll());
    CLOSE(P[0], 1.0 / 11, 1e-15);
    CLOSE(u[0], 13.0 / 11, 1e-15);
    CLOSE(u[1], 0, 0);
}

// One row x = 2 from weights of zero and P = 1: u = 2 (1 - p) at p = 1 / (1 + exp -2u), then P = 1 / (1 + 4 p (1 - p)).
template <class T>
void test_recursive_softmax_first_row() {
    const std::vector<T> X{2};
    const std::int32_t y[] = {1};
    const double shift[] = {0};
    Doubles1 u(2), P(4), trace(2);
    P[0] = 1;
    const double loss = recursive_softmax<T>(matrix_of(X, 1, 1), {y, 2}, nullptr, shift, {u.data(), 1, 2}, P.data(),
                                             trace.data(), InterruptPoll());
    CLOSE(loss, std::log(2.0), 1e-15);
    const double p = 1 / (1 + std::exp(-2 * u[0]));
    CLOSE(u[0], 2 * (1 - p), 1e-12);
    CLOSE(P[0], 1 / (1 + 4 * p * (1 - p)), 1e-12);
    CLOSE(trace[0], u[0], 0);
    // three symmetric outputs: the common part of the weights is not informed and does not move
    Doubles1 theta(6), Q(36);
    for (size_t i = 0; i < 6; ++i) Q[i * 7] = 1;
    recursive_softmax<T>(matrix_of(X, 1, 1), {y, 3}, nullptr, shift, {theta.data(), 3, 2}, Q.data(), nullptr,
                         InterruptPoll());
    CLOSE(theta[0] + theta[2] + theta[4], 0, 1e-15);
    CHECK(theta[2] > 0);
    for (size_t i = 0; i < 6; ++i)
        for (size_t j = 0; j < 6; ++j) CLOSE(Q[i * 6 + j], Q[j * 6 + i], 0);
}

int main() {
    test_lms_by_hand<float>();
    test_lms_by_hand<double>();
    test_recursive_squares_are_ridge<float>();
    test_recursive_squares_are_ridge<double>();
    test_recursive_softmax_first_row<float>();
    test_recursive_softmax_first_row<double>();
    test_three_points<float>();
    test_three_points<double>();
    test_several_classes_settle<float>();
    test_several_classes_settle<double>();
    return failures;
}
