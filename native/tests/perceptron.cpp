#include <lyceum/perceptron.hpp>

#include "check.hpp"

using namespace lyceum;

// (1,2)-, (-1,2)-, (-1,-2)+ from zero weights, by hand: the first row is a mistake (score 0), then the third.
template <class T>
void test_three_points() {
    const std::vector<T> X{1, 2, -1, 2, -1, -2};
    const std::int32_t y[] = {0, 0, 1};
    const double shift[] = {0, 0};
    Doubles1 coef(3);
    CHECK(perceptron_pass<T>(rows(X, 3, 2), {y, 2}, nullptr, shift, 1.0, {coef.data(), 1, 3}, Poll()) == 1);
    CLOSE(coef[0], -1, 0);
    CLOSE(coef[1], -2, 0);
    CLOSE(coef[2], -1, 0);
    CHECK(perceptron_pass<T>(rows(X, 3, 2), {y, 2}, nullptr, shift, 1.0, {coef.data(), 1, 3}, Poll()) == 0);
}

template <class T>
void test_several_classes_settle() {
    Random random;
    const size_t n = 90, d = 4, K = 3;
    auto X = random.normal<T>(n * d, 1e3, 0.3);
    std::vector<std::int32_t> y(n);
    for (size_t i = 0; i < n; ++i) y[i] = std::int32_t(i % K), X[i * d + i % K] += T(5);
    const double shift[] = {1e3, 1e3, 1e3, 1e3};
    Doubles1 coef(K * (d + 1));
    size_t mistakes = 1, passes = 0;
    while (mistakes && ++passes < 100)
        mistakes = perceptron_pass<T>(rows(X, n, d), {y.data(), K}, nullptr, shift, 0.5, {coef.data(), K, d + 1}, Poll());
    CHECK(mistakes == 0);
    const Doubles1 none(n);
    std::fill(coef.begin(), coef.end(), 0.0);
    CHECK(perceptron_pass<T>(rows(X, n, d), {y.data(), K}, none.data(), shift, 1.0, {coef.data(), K, d + 1}, Poll()) == 0);
}

int main() {
    test_three_points<float>();
    test_three_points<double>();
    test_several_classes_settle<float>();
    test_several_classes_settle<double>();
    return failures;
}
