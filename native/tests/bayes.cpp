#include <lyceum/bayes/gaussian_log_joint.hpp>
#include <lyceum/bayes/posterior.hpp>
#include <lyceum/bayes/quadratic_log_density.hpp>
#include <lyceum/linear/linear_argmax.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::bayes;
using namespace lyceum::linear;

template <class T>
void test_gaussian(size_t n, size_t K, bool missing) {
    Random random;
    auto X = random.template normal<T>(n * 4, 1e3);
    for (size_t i = 0; missing && i < X.size(); i += 3) X[i] = static_cast<T>(nan_cell);
    const std::vector<std::int32_t> columns{3, 0, 1};
    const auto mean = random.template normal<double>(3 * K, 1e3), constant = random.template normal<double>(3 * K);
    const auto half = random.uniform(3 * K);
    Doubles1 out(n * K, 1.0);
    const GaussianTable table{mean.data(), half.data(), constant.data(), 3, K};
    gaussian_log_joint<T>(matrix_of(X, n, 4), columns.data(), table, out.data(), InterruptPoll());
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < K; ++k) {
            double want = 1;
            for (size_t j = 0; j < 3; ++j) {
                const double x = double(X[i * 4 + columns[j]]), t = x - mean[j * K + k];
                if (x == x) want += constant[j * K + k] - half[j * K + k] * t * t;
            }
            CLOSE(out[i * K + k], want, 1e-12);
        }
}

template <class T>
void test_quadratic(size_t n, size_t d, size_t K, bool triangular) {
    Random random;
    const auto X = random.template normal<T>(n * d, 1e6);
    const auto mean = random.template normal<double>(K * d, 1e6), constant = random.template normal<double>(K);
    auto W = random.template normal<double>(K * d * d);
    for (size_t i = 0; triangular && i < W.size(); ++i)
        if (i % d > i / d % d) W[i] = 0;
    Doubles1 out(n * K);
    quadratic_log_density<T>(matrix_of(X, n, d), mean.data(), W.data(), constant.data(), K, out.data(),
                             InterruptPoll());
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < K; ++k) {
            double norm = 0;
            for (size_t a = 0; a < d; ++a) {
                double t = 0;
                for (size_t j = 0; j < d; ++j) t += W[(k * d + a) * d + j] * (double(X[i * d + j]) - mean[k * d + j]);
                norm += t * t;
            }
            CLOSE(out[i * K + k], constant[k] - norm / 2, 1e-12);
        }
}

template <class T>
void test_linear(size_t n, size_t d, size_t K) {
    Random random;
    auto X = random.template normal<T>(n * d);
    const auto coef = random.template normal<double>(K * d), intercept = random.template normal<double>(K);
    std::vector<std::int64_t> labels(n, -1);
    CHECK(linear_argmax<T>(matrix_of(X, n, d), coef.data(), intercept.data(), K, labels.data(), InterruptPoll()));
    for (size_t i = 0; i < n; ++i) {
        std::vector<double> score(intercept.begin(), intercept.end());
        for (size_t k = 0; k < K; ++k)
            for (size_t j = 0; j < d; ++j) score[k] += double(X[i * d + j]) * coef[k * d + j];
        CHECK(labels[i] == std::max_element(score.begin(), score.end()) - score.begin());
    }
    for (const double bad : {nan_cell, infinity, -infinity}) {
        if (!n) continue;
        auto spoiled = X;
        spoiled.back() = static_cast<T>(bad);
        CHECK(!linear_argmax<T>(matrix_of(spoiled, n, d), coef.data(), intercept.data(), K, labels.data(),
                                InterruptPoll()));
    }
}

void test_posterior(size_t n, size_t K) {
    Random random;
    auto a = random.normal<double>(n * K, -1e4, 20);
    for (size_t k = 0; n > 2 && k < K; ++k) a[K + k] = -infinity;
    Doubles1 p = a, logs = a;
    std::vector<std::int64_t> labels(n);
    posterior({p.data(), n, K}, InterruptPoll());
    log_posterior({logs.data(), n, K}, InterruptPoll());
    row_argmax({a.data(), n, K}, labels.data());
    for (size_t i = 0; i < n; ++i) {
        const double* row = a.data() + i * K;
        const double best = *std::max_element(row, row + K);
        CHECK(labels[i] == std::max_element(row, row + K) - row);
        double sum = 0, total = 0;
        for (size_t k = 0; k < K; ++k) sum += std::exp(row[k] - best), total += p[i * K + k];
        CLOSE(total, 1, 1e-15);
        for (size_t k = 0; k < K; ++k) {
            const double want = best == -infinity ? 1. / double(K) : std::exp(row[k] - best) / sum;
            CLOSE(p[i * K + k], want, 1e-15);
            CLOSE(std::exp(logs[i * K + k]), want, 1e-14);
        }
    }
}

void test_infinite_log_joints_share_the_posterior() {
    Doubles1 a = {infinity, 3, -infinity, infinity, 3, infinity}, logs = a;
    posterior({a.data(), 2, 3}, InterruptPoll());
    log_posterior({logs.data(), 2, 3}, InterruptPoll());
    const Doubles1 want = {1, 0, 0, .5, 0, .5};
    for (size_t i = 0; i < want.size(); ++i) {
        CLOSE(a[i], want[i], 1e-15);
        CLOSE(std::exp(logs[i]), want[i], 1e-15);
    }
}

template <class T>
void test_type() {
    for (const size_t n : {0, 1, 63, 97, 130}) {
        for (const size_t K : {1, 2, 3, 4, 5, 9})
            for (const bool missing : {false, true}) test_gaussian<T>(n, K, missing);
        for (const size_t d : {1, 7, 8, 19})
            for (const bool triangular : {false, true}) test_quadratic<T>(n, d, 3, triangular);
        for (const size_t d : {1, 7, 8, 19})
            for (const size_t K : {1, 2, 5, 8, 17}) test_linear<T>(n, d, K);
    }
}

int main() {
    test_infinite_log_joints_share_the_posterior();
    test_type<float>();
    test_type<double>();
    for (const size_t n : {0, 1, 2049})
        for (const size_t K : {1, 3, 8, 21}) test_posterior(n, K);
    return failures;
}
