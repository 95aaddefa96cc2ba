#include <lyceum/bayes/table_log_joint.hpp>
#include <lyceum/moments/class_counts.hpp>
#include <lyceum/rows/integer_presence.hpp>
#include <lyceum/rows/one_of_c.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::bayes;
using namespace lyceum::moments;
using namespace lyceum::rows;

const std::vector<std::int32_t> columns{2, 0};
const std::vector<std::int64_t> offsets{0, 4, 9};
const CodedColumns levels{columns.data(), offsets.data(), 2};

template <class T>
std::vector<T> coded(Random& random, size_t n) {
    const auto raw = random.codes(n * 3, std::is_unsigned_v<T> ? 0 : -1, 6);
    std::vector<T> X(raw.begin(), raw.end());
    if constexpr (std::is_floating_point_v<T>)
        for (size_t i = 0; i < X.size(); i += 7) X[i] = static_cast<T>(i % 2 ? nan_cell : (i % 3 ? 1e30 : -infinity));
    return X;
}

// The level of a cell, or -1.
template <class T>
int level(T x, size_t j) {
    const double v = static_cast<double>(x);
    return v >= 0 && v < double(offsets[j + 1] - offsets[j]) ? int(v) : -1;
}

template <class T>
void test_tables(size_t n, size_t K) {
    Random random;
    const auto X = coded<T>(random, n);
    const auto codes = random.codes(n, -1, int(K));
    const auto w = random.uniform(n), table = random.template normal<double>(9 * K);
    Doubles1 counts(9 * K), want(9 * K), out(n * K), joint(n * K);
    class_counts(rows::CodedRows(matrix_of(X, n, 3)), {codes.data(), K}, w.data(), levels, counts.data(),
                 InterruptPoll());
    table_log_joint(rows::CodedRows(matrix_of(X, n, 3)), levels, {table.data(), 9, K}, out.data(), InterruptPoll());
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < 2; ++j) {
            const int x = level(X[i * 3 + columns[j]], j);
            if (x < 0) continue;
            const size_t row = offsets[j] + x;
            if (codes[i] >= 0) want[row * K + codes[i]] += w[i];
            for (size_t k = 0; k < K; ++k) joint[i * K + k] += table[row * K + k];
        }
    for (size_t i = 0; i < counts.size(); ++i) CLOSE(counts[i], want[i], 1e-12);
    for (size_t i = 0; i < out.size(); ++i) CLOSE(out[i], joint[i], 1e-13);
}

template <class T, class U>
void test_expand(size_t n) {
    Random random;
    const auto X = coded<T>(random, n);
    const std::int32_t start[] = {5, 4, 0}, size[] = {6, 0, 4}, first[] = {0, 0, 1};
    std::vector<U> out(n * 11, U(7));
    expand<T, U>(matrix_of(X, n, 3), {start, size, first}, {out.data(), n, 11}, InterruptPoll());
    for (size_t i = 0; i < n; ++i) {
        const U copy = static_cast<U>(X[i * 3 + 1]);
        CHECK(out[i * 11 + 4] == copy || copy != copy);
        for (const size_t j : {0, 2})
            for (int c = 0; c < size[j]; ++c) {
                const double x = double(X[i * 3 + j]), got = double(out[i * 11 + start[j] + c]);
                CHECK(x != x ? got != got : got == (x == c + first[j]));
            }
    }
}

template <class T>
void test_presence(size_t n) {
    Random random;
    const auto raw = random.codes(n * 2, 0, 6);
    std::vector<T> X(raw.begin(), raw.end());
    if (n) X[2 * (n - 1) + 1] = T(10);
    const std::vector<std::int32_t> both{0, 1};
    std::vector<std::uint8_t> seen(20), regular(2);
    integer_presence<T>(matrix_of(X, n, 2), both.data(), {seen.data(), 2, 10}, regular.data(), InterruptPoll());
    CHECK(regular[0] == 1 && regular[1] == (n == 0));
    for (int c = 0; c < 10; ++c) {
        bool occurs = false;
        for (size_t i = 0; i < n; ++i) occurs |= X[2 * i] == T(c);
        CHECK(seen[c] == occurs);
    }
}

template <class T>
void test_type() {
    for (const size_t n : {0, 1, 300, 3001}) {
        for (const size_t K : {1, 2, 3, 4, 5, 6, 7, 8, 20}) test_tables<T>(n, K);
        test_expand<T, float>(n);
        test_expand<T, double>(n);
        test_presence<T>(n);
    }
}

int main() {
    test_type<std::int8_t>();
    test_type<std::uint8_t>();
    test_type<std::int16_t>();
    test_type<std::int32_t>();
    test_type<std::int64_t>();
    test_type<float>();
    test_type<double>();
    return failures;
}
