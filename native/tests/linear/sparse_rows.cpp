#include <lyceum/linear/sparse_rows.hpp>
#include <lyceum/rows/interleave_columns.hpp>
#include <lyceum/rows/one_of_c.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::linear;
using namespace lyceum::rows;

// Columns: a number, codes 0..3 (first 1), codes 0..5; among them NaN, unknown and too large codes.
template <class T>
std::vector<T> coded(Random& random, size_t n) {
    const auto raw = random.codes(n * 3, -1, 7);
    std::vector<T> X(raw.begin(), raw.end());
    for (size_t i = 0; i < X.size(); i += 11) X[i] = static_cast<T>(i % 3 ? nan_cell : 0.5);
    return X;
}

const std::int32_t start[] = {0, 1, 4}, size[] = {0, 3, 6}, first[] = {0, 1, 0};
constexpr size_t wide = 10;

template <class T>
void test_expand(size_t n) {
    Random random;
    const auto X = coded<T>(random, n);
    std::vector<T> dense(n * wide), sparse(n * wide);
    expand<T, T>(matrix_of(X, n, 3), {start, size, first}, {dense.data(), n, wide}, InterruptPoll());
    std::vector<std::int32_t> indptr(n + 1), indices(n * 3);
    std::vector<T> data(n * 3);
    const size_t used =
        expand_sparse<T, T>(matrix_of(X, n, 3), {start, size, first}, indptr.data(), indices.data(), data.data());
    CHECK(size_t(indptr[n]) == used);
    for (size_t i = 0; i < n; ++i)
        for (auto e = indptr[i]; e < indptr[i + 1]; ++e) sparse[i * wide + indices[e]] = data[e];
    for (size_t i = 0; i < dense.size(); ++i)
        if (dense[i] == dense[i] && sparse[i] == sparse[i]) CHECK(dense[i] == sparse[i]);
}

template <class T>
void test_losses(size_t n) {
    Random random;
    const size_t p = wide + 1;
    const auto codes = random.codes(n * 3, 0, 3);
    const std::vector<T> X(codes.begin(), codes.end());
    std::vector<T> dense(n * wide), data(n * 3);
    std::vector<std::int32_t> indptr(n + 1), indices(n * 3);
    expand<T, T>(matrix_of(X, n, 3), {start, size, first}, {dense.data(), n, wide}, InterruptPoll());
    expand_sparse<T, T>(matrix_of(X, n, 3), {start, size, first}, indptr.data(), indices.data(), data.data());
    const Csr<T> csr{indptr.data(), indices.data(), data.data(), n, wide};
    const auto y = random.uniform(n), w = random.uniform(n);
    const auto coef = random.template normal<double>(p);
    Doubles1 g(p), G(p), h(p * p), H(p * p), gram(wide * wide), want(wide * wide), shift(wide);
    const double loss = logistic<T>(matrix_of(dense, n, wide), y.data(), w.data(), coef.data(), shift.data(), G.data(),
                                    H.data(), InterruptPoll());
    CLOSE(sparse_logistic(csr, y.data(), w.data(), coef.data(), g.data(), h.data(), InterruptPoll()), loss, 1e-12);
    for (size_t i = 0; i < p; ++i) CLOSE(g[i], G[i], 1e-10);
    for (size_t i = 0; i < p * p; ++i) CLOSE(h[i], H[i], 1e-10);
    sparse_gram(csr, w.data(), gram.data(), InterruptPoll());
    for (size_t i = 0; i < n; ++i)
        for (size_t a = 0; a < wide; ++a)
            for (size_t b = 0; b < wide; ++b)
                want[a * wide + b] += w[i] * double(dense[i * wide + a]) * double(dense[i * wide + b]);
    for (size_t i = 0; i < gram.size(); ++i) CLOSE(gram[i], want[i], 1e-10);
}

void test_pack(size_t n) {
    Random random;
    const auto a = random.template normal<double>(n);
    const auto b = random.template normal<float>(n);
    Doubles1 out(n * 2);
    pack<double>({{a.data(), false}, {b.data(), true}}, {out.data(), n, 2});
    for (size_t i = 0; i < n; ++i) CHECK(out[2 * i] == a[i] && out[2 * i + 1] == double(b[i]));
}

int main() {
    for (const size_t n : {0, 1, 95, 1500}) {
        test_expand<float>(n);
        test_expand<double>(n);
        test_losses<float>(n);
        test_losses<double>(n);
        test_pack(n);
    }
    return failures;
}
