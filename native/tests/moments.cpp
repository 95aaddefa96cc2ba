#include <lyceum/moments/class_moments.hpp>
#include <lyceum/moments/class_scatter.hpp>
#include <lyceum/moments/scatter.hpp>
#include <lyceum/moments/sparse_moments.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::moments;

// Mean and scatter of columns a and b over the rows that `use` admits, by two passes in long double.
template <class Value, class Use>
double naive_scatter(size_t n, Value value, Use use, size_t a, size_t b, double* mean_a = nullptr) {
    long double W = 0, ma = 0, mb = 0, s = 0;
    for (size_t i = 0; i < n; ++i) W += use(i), ma += use(i) * value(i, a), mb += use(i) * value(i, b);
    if (mean_a) *mean_a = W > 0 ? static_cast<double>(ma / W) : 0;
    for (size_t i = 0; W > 0 && i < n; ++i) s += use(i) * (value(i, a) - ma / W) * (value(i, b) - mb / W);
    return static_cast<double>(s);
}

struct Case {
    size_t n, d, q;
    double offset;
    bool weighted;
};

const Case cases[] = {{0, 3, 0, 0, false},   {1, 1, 0, 5, false},      {95, 7, 1, 1e6, false}, {96, 8, 2, 0, true},
                      {97, 9, 0, 1e6, true}, {400, 16, 1, 1e9, false}, {300, 50, 1, 3, true}};

template <class T>
void test_scatter(const Case& c) {
    Random random;
    const auto X = random.normal<T>(c.n * c.d, c.offset);
    const auto Y = random.normal<double>(c.n * c.q, c.offset), w = random.uniform(c.n);
    const size_t p = c.d + c.q;
    Doubles1 mean(p), S(p * p);
    const double* weights = c.weighted ? w.data() : nullptr;
    const double total =
        scatter<T>(matrix_of(X, c.n, c.d), matrix_of(Y, c.n, c.q), weights, mean.data(), S.data(), InterruptPoll());
    const auto value = [&](size_t i, size_t j) { return j < c.d ? double(X[i * c.d + j]) : Y[i * c.q + j - c.d]; };
    const auto use = [&](size_t i) { return weight_of(weights, i); };
    double want = 0;
    for (size_t i = 0; i < c.n; ++i) want += use(i);
    CLOSE(total, want, 1e-13);
    for (size_t a = 0; a < p; ++a)
        for (size_t b = 0; b < p; ++b) {
            double m;
            const double s = naive_scatter(c.n, value, use, a, b, &m);
            CLOSE(S[a * p + b], s, 1e-11);
            CLOSE(mean[a], m, 1e-14);
        }
}

template <class T>
void test_classes(const Case& c, bool missing) {
    constexpr size_t K = 4;
    Random random;
    auto X = random.normal<T>(c.n * c.d, c.offset);
    const auto w = random.uniform(c.n);
    const auto codes = random.codes(c.n, -1, 3);
    const double* weights = c.weighted ? w.data() : nullptr;
    for (size_t i = 0; missing && i < X.size(); i += 5) X[i] = static_cast<T>(nan_cell);
    const size_t d = c.d;
    Doubles1 weight(K * d), mean(K * d), square(K * d), class_weight(K), S(K * d * d), pooled(d * d);
    class_moments<T>(matrix_of(X, c.n, d), {codes.data(), K}, weights, weight.data(), mean.data(), square.data(),
                     InterruptPoll());
    const auto value = [&](size_t i, size_t j) { return X[i * d + j] == X[i * d + j] ? double(X[i * d + j]) : 0.; };
    for (size_t k = 0; k < K; ++k)
        for (size_t j = 0; j < d; ++j) {
            const auto use = [&](size_t i) {
                return codes[i] == int(k) && X[i * d + j] == X[i * d + j] ? weight_of(weights, i) : 0.;
            };
            double m;
            const double s = naive_scatter(c.n, value, use, j, j, &m);
            CLOSE(mean[k * d + j], m, 1e-14);
            CLOSE(square[k * d + j], s, 1e-11);
        }
    if (missing) return;
    for (const bool together : {false, true})
        class_scatter<T>(matrix_of(X, c.n, d), {codes.data(), K}, weights, class_weight.data(), mean.data(),
                         together ? pooled.data() : S.data(), together, InterruptPoll());
    for (size_t a = 0; a < d; ++a)
        for (size_t b = 0; b < d; ++b) {
            double all = 0;
            for (size_t k = 0; k < K; ++k) {
                const auto use = [&](size_t i) { return codes[i] == int(k) ? weight_of(weights, i) : 0.; };
                const double s = naive_scatter(c.n, value, use, a, b);
                CLOSE(S[(k * d + a) * d + b], s, 1e-11);
                all += s;
            }
            CLOSE(pooled[a * d + b], all, 1e-11);
        }
}

void test_a_code_out_of_range_throws() {
    const Doubles1 X{1, 2};
    const std::vector<std::int32_t> codes{0, 2};
    Doubles1 a(2), b(2), c(2);
    THROWS(class_moments<double>(matrix_of(X, 2, 1), {codes.data(), 2}, nullptr, a.data(), b.data(), c.data(),
                                 InterruptPoll()));
}

// Columns: cells in every row far from zero; one cell; a missing cell; none.
void test_sparse_rows() {
    const double far = 1e9, none = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::int32_t> indptr{0, 2, 4, 5}, indices{0, 1, 0, 2, 0};
    const Doubles1 data{far + 1, -2, far + 2, none, far + 6}, w{1, 2, 1};
    Doubles1 weight(4), mean(4), scatter(4), low(4), high(4);
    sparse_moments<double>({indptr.data(), indices.data(), data.data(), 3, 4}, w.data(), weight.data(), mean.data(),
                           scatter.data(), low.data(), high.data(), InterruptPoll());
    const double weights[] = {4, 4, 2, 4}, means[] = {far + 2.75, -0.5, 0, 0}, scatters[] = {14.75, 3, 0, 0};
    const double lows[] = {far + 1, -2, 0, 0}, highs[] = {far + 6, 0, 0, 0};
    for (size_t j = 0; j < 4; ++j) {
        CLOSE(weight[j], weights[j], 1e-15);
        CLOSE(mean[j], means[j], 1e-15);
        CLOSE(scatter[j], scatters[j], 1e-14);
        CLOSE(low[j], lows[j], 1e-15);
        CLOSE(high[j], highs[j], 1e-15);
    }
}

int main() {
    test_sparse_rows();
    for (const Case& c : cases) {
        test_scatter<float>(c);
        test_scatter<double>(c);
        for (const bool missing : {false, true}) {
            test_classes<float>(c, missing);
            test_classes<double>(c, missing);
        }
    }
    test_a_code_out_of_range_throws();
    return failures;
}
