#include <lyceum/mixtures/missing_step.hpp>
#include <lyceum/mixtures/mixture_step.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::mixtures;

// The step by its definition in long double, for full matrices W.
template <class T>
void test_step(size_t n, size_t d, size_t K, bool student, bool pooled) {
    Random random;
    const auto X = random.normal<T>(n * d, 1.0);
    const auto mean = random.normal<double>(K * d, 0.5), constant = random.normal<double>(K, 0.0);
    const auto w = random.uniform(n);
    auto W = random.normal<double>(K * d * d, 0.0);
    for (size_t k = 0; k < K; ++k)
        for (size_t a = 0; a < d; ++a)
            for (size_t b = 0; b < d; ++b) {
                double& cell = W[(k * d + a) * d + b];
                cell = b > a ? 0.0 : (a == b) + 0.1 * cell;
            }
    Doubles1 degrees(K, 4.0), rows(K), weight(K), logs(K), new_mean(K * d), S((pooled ? 1 : K) * d * d);
    const Components model{mean.data(), W.data(), constant.data(), student ? degrees.data() : nullptr, K, d, false};
    const StepSums sums{rows.data(), weight.data(), logs.data(), new_mean.data(), S.data(), pooled};
    const double total = mixture_step<T>(matrix_of(X, n, d), w.data(), model, sums, InterruptPoll());

    long double expected = 0;
    std::vector<long double> Z(n * K), R(n * K);
    for (size_t i = 0; i < n; ++i) {
        std::vector<long double> a(K), u(K, 1.0L);
        long double sum = 0;
        for (size_t k = 0; k < K; ++k) {
            long double q = 0;
            for (size_t p = 0; p < d; ++p) {
                long double t = 0;
                for (size_t j = 0; j <= p; ++j) t += W[(k * d + p) * d + j] * (double(X[i * d + j]) - mean[k * d + j]);
                q += t * t;
            }
            a[k] = student ? constant[k] - (4.0L + d) / 2 * std::log1p(q / 4.0L) : constant[k] - q / 2;
            if (student) u[k] = (4.0L + d) / (4.0L + q);
            sum += std::exp(a[k]);
        }
        expected += w[i] * std::log(sum);
        for (size_t k = 0; k < K; ++k) {
            R[i * K + k] = w[i] * std::exp(a[k]) / sum;
            Z[i * K + k] = R[i * K + k] * u[k];
        }
    }
    CLOSE(total, static_cast<double>(expected), 1e-10);
    for (size_t k = 0; k < K; ++k) {
        long double r = 0, z = 0;
        for (size_t i = 0; i < n; ++i) r += R[i * K + k], z += Z[i * K + k];
        CLOSE(rows[k], static_cast<double>(r), 1e-10);
        CLOSE(weight[k], static_cast<double>(z), 1e-10);
        for (size_t j = 0; j < d; ++j) {
            long double m = 0;
            for (size_t i = 0; i < n; ++i) m += Z[i * K + k] * X[i * d + j];
            CLOSE(new_mean[k * d + j], static_cast<double>(m / z), 1e-9);
        }
    }
    for (size_t a = 0; a < d; ++a)
        for (size_t b = 0; b < d; ++b) {
            long double all = 0;
            for (size_t k = 0; k < K; ++k) {
                long double s = 0;
                for (size_t i = 0; i < n; ++i)
                    s += Z[i * K + k] * (X[i * d + a] - new_mean[k * d + a]) * (X[i * d + b] - new_mean[k * d + b]);
                all += s;
                if (!pooled) CLOSE(S[(k * d + a) * d + b], static_cast<double>(s), 1e-8);
            }
            if (pooled) CLOSE(S[a * d + b], static_cast<double>(all), 1e-8);
        }
}

// Rows without missing cells, in one group, are those of mixture_step; missing cells of independent columns add their
// variance alone.
void test_missing(size_t n, size_t d, size_t K) {
    Random random;
    auto X = random.normal<double>(n * d, 1.0);
    const auto mean = random.normal<double>(K * d, 0.5), w = random.uniform(n);
    Doubles1 W(K * d * d, 0.0), S(K * d * d, 0.0), constant(K), log_weight(K), peak((d + 1) * K),
        shift((d + 1) * K, 0.0);
    for (size_t k = 0; k < K; ++k) {
        constant[k] = -0.1 * static_cast<double>(k), log_weight[k] = constant[k];
        for (size_t j = 0; j < d; ++j) {
            const double v = 0.5 + 0.1 * static_cast<double>(j + k);
            S[(k * d + j) * d + j] = v, W[(k * d + j) * d + j] = 1.0 / std::sqrt(v), constant[k] -= 0.5 * std::log(v);
        }
    }
    std::vector<std::int64_t> order(n), starts{0, static_cast<std::int64_t>(n)};
    for (size_t i = 0; i < n; ++i) order[i] = static_cast<std::int64_t>(n - 1 - i);
    const Spreads at{mean.data(), S.data(), log_weight.data(), nullptr, peak.data(), shift.data(), K, d, false, false};
    const Components model{mean.data(), W.data(), constant.data(), nullptr, K, d, false};
    struct Found {
        Doubles1 rows, weight, logs, mean, scatter;
        Found(size_t K, size_t d) : rows(K), weight(K), logs(K), mean(K * d), scatter(K * d * d) {}
        StepSums sums() { return {rows.data(), weight.data(), logs.data(), mean.data(), scatter.data(), false}; }
    } one(K, d), two(K, d);
    const double total =
        missing_step(matrix_of(X, n, d), w.data(), {order.data(), starts.data(), 1}, at, one.sums(), InterruptPoll());
    CLOSE(total, mixture_step<double>(matrix_of(X, n, d), w.data(), model, two.sums(), InterruptPoll()), 1e-10);
    for (size_t k = 0; k < K; ++k) CLOSE(one.rows[k], two.rows[k], 1e-10);
    for (size_t j = 0; j < K * d; ++j) CLOSE(one.mean[j], two.mean[j], 1e-9);
    for (size_t j = 0; j < K * d * d; ++j) CLOSE(one.scatter[j], two.scatter[j], 1e-8);
    for (size_t i = 0; i < n; ++i) X[i * d] = std::numeric_limits<double>::quiet_NaN();
    missing_step(matrix_of(X, n, d), w.data(), {order.data(), starts.data(), 1}, at, one.sums(), InterruptPoll());
    for (size_t k = 0; k < K; ++k) {
        CLOSE(one.mean[k * d], mean[k * d], 1e-12);
        CLOSE(one.scatter[k * d * d], one.rows[k] * S[k * d * d], 1e-9);
    }
    Doubles1 joint(n * K), terms(n * K * d, 0.0), rest(n * K);
    missing_joint(matrix_of(X, n, d), {order.data(), starts.data(), 1}, at, joint.data(), InterruptPoll());
    missing_terms(matrix_of(X, n, d), {order.data(), starts.data(), 1}, at, terms.data(), rest.data(), InterruptPoll());
    for (size_t i = 0; i < n * K; ++i) {
        double sum = rest[i];
        for (size_t j = 0; j < d; ++j) sum += terms[i * d + j];
        CLOSE(sum, joint[i], 1e-10);
        CLOSE(terms[i * d], 0.0, 0.0);
    }
}

int main() {
    test_missing(60, 4, 3);
    test_missing(1, 1, 1);
    for (const size_t n : {1, 95, 97, 800})
        for (const size_t d : {1, 5, 8, 17}) {
            test_step<double>(n, d, 3, false, false);
            test_step<float>(n, d, 2, true, true);
        }
    test_step<double>(1000, 4, 1, true, false);
    return failures;
}
