#include <lyceum/linear/logistic_loss.hpp>
#include <lyceum/linear/separable_bound.hpp>
#include <lyceum/linear/softmax_loss.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::linear;

template <class T>
Doubles1 design_row(const std::vector<T>& X, size_t i, size_t d, const Doubles1& shift) {
    Doubles1 row(d + 1, 1.0);
    for (size_t j = 0; j < d; ++j) row[j] = double(X[i * d + j]) - shift[j];
    return row;
}

double dot(const Doubles1& x, const double* b) {
    double sum = 0;
    for (size_t j = 0; j < x.size(); ++j) sum += x[j] * b[j];
    return sum;
}

template <class T>
void test_logistic(size_t n, size_t d, double steep) {
    Random random;
    const size_t p = d + 1;
    const auto X = random.template normal<T>(n * d, 1e6);
    const Doubles1 shift(d, 1e6), y = random.uniform(n), w = random.uniform(n);
    const auto coef = random.template normal<double>(p, 0, steep);
    Doubles1 gradient(p), hessian(p * p), G(p), H(p * p);
    const double loss = logistic<T>(matrix_of(X, n, d), y.data(), w.data(), coef.data(), shift.data(), gradient.data(),
                                    hessian.data(), InterruptPoll());
    double want = 0;
    for (size_t i = 0; i < n; ++i) {
        const auto x = design_row(X, i, d, shift);
        const double z = dot(x, coef.data()), e = std::exp(-std::abs(z)), q = (z > 0 ? 1 : e) / (1 + e);
        want += w[i] * (std::max(z, 0.) + std::log1p(e) - y[i] * z);
        for (size_t a = 0; a < p; ++a) {
            G[a] += w[i] * (q - y[i]) * x[a];
            for (size_t b = 0; b < p; ++b) H[a * p + b] += w[i] * e / (1 + e) / (1 + e) * x[a] * x[b];
        }
    }
    CLOSE(loss, want, 1e-12);
    for (size_t a = 0; a < p; ++a) CLOSE(gradient[a], G[a], 1e-10);
    for (size_t a = 0; a < p * p; ++a) CLOSE(hessian[a], H[a], 1e-10);
}

template <class T>
void test_softmax(size_t n, size_t d, size_t K) {
    Random random;
    const size_t p = d + 1, m = K * p;
    const auto X = random.template normal<T>(n * d, 1e6);
    const Doubles1 shift(d, 1e6), w = random.uniform(n);
    const auto coef = random.template normal<double>(m);
    const auto codes = random.codes(n, -1, int(K));
    Doubles1 gradient(m), hessian(m * m), G(m), H(m * m);
    const double loss = softmax_loss<T>(matrix_of(X, n, d), {codes.data(), K}, w.data(), coef.data(), shift.data(),
                                        gradient.data(), hessian.data(), InterruptPoll());
    double want = 0;
    for (size_t i = 0; i < n; ++i) {
        if (codes[i] < 0) continue;
        const auto x = design_row(X, i, d, shift);
        Doubles1 q(K);
        double sum = 0;
        for (size_t k = 0; k < K; ++k) sum += q[k] = std::exp(dot(x, coef.data() + k * p));
        for (double& value : q) value /= sum;
        want -= w[i] * std::log(q[codes[i]]);
        for (size_t a = 0; a < m; ++a) {
            G[a] += w[i] * (q[a / p] - (int(a / p) == codes[i])) * x[a % p];
            for (size_t b = 0; b < m; ++b)
                H[a * m + b] += w[i] * q[a / p] * ((a / p == b / p) - q[b / p]) * x[a % p] * x[b % p];
        }
    }
    CLOSE(loss, want, 1e-11);
    for (size_t a = 0; a < m; ++a) CLOSE(gradient[a], G[a], 1e-10);
    for (size_t a = 0; a < m * m; ++a) CLOSE(hessian[a], H[a], 1e-10);
}

// The offset by bisection: the sigmoids of the others make up for what that of the largest score lacks.
double offset_of(const Doubles1& z) {
    const size_t best = size_t(std::max_element(z.begin(), z.end()) - z.begin());
    double low = *std::min_element(z.begin(), z.end()), high = z[best] + 50;
    for (int step = 0; step < 200; ++step) {
        const double a = (low + high) / 2;
        double others = 0;
        for (size_t k = 0; k < z.size(); ++k)
            if (k != best) others += 1 / (1 + std::exp(a - z[k]));
        (others > 1 / (1 + std::exp(z[best] - a)) ? low : high) = a;
    }
    return (low + high) / 2;
}

template <class T>
void test_separable_bound(size_t n, size_t d, size_t K, double steep) {
    Random random;
    const size_t p = d + 1;
    const auto X = random.template normal<T>(n * d);
    const Doubles1 shift(d, 0.5), w = random.uniform(n);
    const auto coef = random.template normal<double>(K * p, 0, steep);
    std::vector<std::int32_t> codes(n);
    for (size_t i = 0; i < n; ++i) codes[i] = int(i % (K + 1)) - 1;
    Doubles1 gradient(K * p), curvature(K * p * p), G(K * p), H(K * p * p);
    const double bound = separable_bound<T>(matrix_of(X, n, d), {codes.data(), K}, w.data(), coef.data(), shift.data(),
                                            gradient.data(), curvature.data(), InterruptPoll());
    double want = 0;
    for (size_t i = 0; i < n; ++i) {
        if (codes[i] < 0) continue;
        const auto x = design_row(X, i, d, shift);
        Doubles1 z(K);
        for (size_t k = 0; k < K; ++k) z[k] = dot(x, &coef[k * p]);
        const double a = offset_of(z);
        want += w[i] * (a - z[codes[i]]);
        for (size_t k = 0; k < K; ++k) {
            const double u = z[k] - a, s = 1 / (1 + std::exp(-u)), e = std::exp(-std::abs(u));
            const double above = std::abs(u) > 1e-6 ? (s - .5) / u : .25, bend = e / ((1 + e) * (1 + e)) + .01 * above;
            want += w[i] * (std::max(u, 0.) + std::log1p(e));
            for (size_t j = 0; j < p; ++j) {
                G[k * p + j] += w[i] * (s - (int(k) == codes[i])) * x[j];
                for (size_t l = 0; l < p; ++l) H[(k * p + j) * p + l] += w[i] * bend * x[j] * x[l];
            }
        }
    }
    CLOSE(bound, want, 1e-10);
    for (size_t j = 0; j < K * p; ++j) CLOSE(gradient[j], G[j], 1e-9);
    for (size_t j = 0; j < K * p * p; ++j) CLOSE(curvature[j], H[j], 1e-7);
}

template <class T>
void test_type() {
    for (const size_t n : {0, 1, 95, 97, 200})
        for (const size_t d : {1, 7, 8, 17}) {
            for (const double steep : {.1, 1., 1e3}) test_logistic<T>(n, d, steep);
            for (const size_t K : {1, 2, 3, 5}) test_softmax<T>(n, d, K);
            for (const size_t K : {2, 3, 9})
                for (const double steep : {.1, 1., 30.}) test_separable_bound<T>(n, d, K, steep);
        }
}

int main() {
    test_type<float>();
    test_type<double>();
    return failures;
}
