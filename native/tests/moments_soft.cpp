#include <lyceum/moments/class_scatter.hpp>
#include <lyceum/moments/soft_counts.hpp>
#include <lyceum/moments/soft_moments.hpp>
#include <lyceum/moments/soft_scatter.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::moments;

// Mean of column a and co-moment of columns a and b with the weights v, by two passes in long double.
template <class Value, class Weight>
double naive(size_t n, Value value, Weight v, size_t a, size_t b, double* mean) {
    long double W = 0, ma = 0, mb = 0, s = 0;
    for (size_t i = 0; i < n; ++i) W += v(i), ma += v(i) * value(i, a), mb += v(i) * value(i, b);
    *mean = W > 0 ? static_cast<double>(ma / W) : 0;
    for (size_t i = 0; W > 0 && i < n; ++i) s += v(i) * (value(i, a) - ma / W) * (value(i, b) - mb / W);
    return static_cast<double>(s);
}

// Responsibilities of which every third is 0.
Doubles1 responsibilities(Random& random, size_t n, size_t K) {
    Doubles1 R = random.uniform(n * K);
    for (size_t i = 0; i < R.size(); i += 3) R[i] = 0;
    return R;
}

template <class T>
void test_full(size_t n, size_t d, size_t K, double offset) {
    Random random;
    const auto X = random.normal<T>(n * d, offset);
    const auto w = random.uniform(n), R = responsibilities(random, n, K);
    const auto value = [&](size_t i, size_t j) { return double(X[i * d + j]); };
    Doubles1 weight(K), mean(K * d), S(K * d * d), pooled(d * d);
    soft_scatter<T>(matrix_of(X, n, d), matrix_of(R, n, K), w.data(), weight.data(), mean.data(), pooled.data(), true,
                    InterruptPoll());
    soft_scatter<T>(matrix_of(X, n, d), matrix_of(R, n, K), w.data(), weight.data(), mean.data(), S.data(), false,
                    InterruptPoll());
    for (size_t a = 0; a < d; ++a)
        for (size_t b = 0; b < d; ++b) {
            double all = 0, m;
            for (size_t k = 0; k < K; ++k) {
                const auto v = [&](size_t i) { return w[i] * R[i * K + k]; };
                const double s = naive(n, value, v, a, b, &m);
                CLOSE(S[(k * d + a) * d + b], s, 1e-11);
                CLOSE(mean[k * d + a], m, 1e-14);
                all += s;
            }
            CLOSE(pooled[a * d + b], all, 1e-11);
        }
}

template <class T>
void test_columns(size_t n, size_t d, size_t K, double offset) {
    Random random;
    auto X = random.normal<T>(n * d, offset);
    for (size_t i = 0; i < X.size(); i += 5) X[i] = static_cast<T>(nan_cell);
    const auto R = responsibilities(random, n, K);
    Doubles1 weight(K * d), mean(K * d), square(K * d);
    soft_moments<T>(matrix_of(X, n, d), matrix_of(R, n, K), nullptr, weight.data(), mean.data(), square.data(),
                    InterruptPoll());
    for (size_t k = 0; k < K; ++k)
        for (size_t j = 0; j < d; ++j) {
            const auto here = [&](size_t i) { return X[i * d + j] == X[i * d + j]; };
            const auto value = [&](size_t i, size_t) { return here(i) ? double(X[i * d + j]) : 0.; };
            const auto v = [&](size_t i) { return here(i) ? R[i * K + k] : 0.; };
            double m, W = 0;
            for (size_t i = 0; i < n; ++i) W += v(i);
            const double s = naive(n, value, v, j, j, &m);
            CLOSE(weight[k * d + j], W, 1e-13);
            CLOSE(mean[k * d + j], m, 1e-14);
            CLOSE(square[k * d + j], s, 1e-11);
        }
}

// Responsibilities of 0 and 1 give the sums of classes to the last bit.
void test_hard_responsibilities_are_classes() {
    constexpr size_t n = 300, d = 5, K = 3;
    Random random;
    const auto X = random.normal<double>(n * d, 3);
    const auto w = random.uniform(n);
    const auto codes = random.codes(n, -1, 3);
    Doubles1 R(n * K), weight(K), mean(K * d), S(K * d * d), want_weight(K), want_mean(K * d), want(K * d * d);
    for (size_t i = 0; i < n; ++i)
        if (codes[i] >= 0) R[i * K + codes[i]] = 1;
    soft_scatter<double>(matrix_of(X, n, d), matrix_of(R, n, K), w.data(), weight.data(), mean.data(), S.data(), false,
                         InterruptPoll());
    class_scatter<double>(matrix_of(X, n, d), {codes.data(), K}, w.data(), want_weight.data(), want_mean.data(),
                          want.data(), false, InterruptPoll());
    CHECK(S == want);
    CHECK(mean == want_mean);
    CHECK(weight == want_weight);
}

template <class T>
void test_counts(size_t n, size_t K) {
    const std::vector<std::int32_t> columns{2, 0};
    const std::vector<std::int64_t> offsets{0, 4, 9};
    Random random;
    const auto raw = random.codes(n * 3, -1, 6);
    const std::vector<T> X(raw.begin(), raw.end());
    const auto w = random.uniform(n), R = responsibilities(random, n, K);
    Doubles1 counts(9 * K), want(9 * K);
    soft_counts(rows::CodedRows(matrix_of(X, n, 3)), matrix_of(R, n, K), w.data(), {columns.data(), offsets.data(), 2},
                counts.data(), InterruptPoll());
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < 2; ++j) {
            const int x = raw[i * 3 + columns[j]];
            if (x < 0 || x >= offsets[j + 1] - offsets[j]) continue;
            for (size_t k = 0; k < K; ++k) want[(offsets[j] + x) * K + k] += w[i] * R[i * K + k];
        }
    for (size_t at = 0; at < counts.size(); ++at) CLOSE(counts[at], want[at], 1e-12);
}

int main() {
    for (const double offset : {0.0, 1e6})
        for (const size_t n : {0, 1, 95, 400})
            for (const size_t d : {1, 7, 16})
                for (const size_t K : {1, 2, 5}) {
                    test_full<float>(n, d, K, offset);
                    test_full<double>(n, d, K, offset);
                    test_columns<float>(n, d, K, offset);
                    test_columns<double>(n, d, K, offset);
                }
    for (const size_t n : {0, 3, 700})
        for (const size_t K : {1, 3, 9}) {
            test_counts<double>(n, K);
            test_counts<std::int8_t>(n, K);
        }
    test_hard_responsibilities_are_classes();
    return failures;
}
