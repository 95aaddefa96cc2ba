#include <lyceum/cluster/lloyd.hpp>
#include <lyceum/cluster/lloyd_bounds.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::cluster;

template <class T>
void test_rows_go_to_their_nearest_center(size_t n, size_t d, size_t k, double offset, bool weighted) {
    Random random;
    const auto X = random.template normal<T>(n * d, offset, 100), C = random.template normal<T>(k * d, offset, 100);
    const auto w = random.uniform(n);
    const double* weights = weighted ? w.data() : nullptr;
    Doubles1 sums(k * d), totals(k), distances(n), want_sums(k * d), want_totals(k);
    std::vector<std::int32_t> labels(n);
    const double inertia = lloyd<T>(matrix_of(X, n, d), matrix_of(C, k, d), weights,
                                    {sums.data(), totals.data(), labels.data(), distances.data()}, InterruptPoll());
    double want = 0;
    for (size_t i = 0; i < n; ++i) {
        Doubles1 to(k);
        for (size_t c = 0; c < k; ++c)
            for (size_t j = 0; j < d; ++j) to[c] += std::pow(double(X[i * d + j]) - double(C[c * d + j]), 2);
        CHECK(labels[i] >= 0 && size_t(labels[i]) < k);
        CHECK(to[labels[i]] <= *std::min_element(to.begin(), to.end()) * (1 + 1e-4));
        CLOSE(distances[i], to[labels[i]], 1e-12);
        want += weight_of(weights, i) * to[labels[i]];
        want_totals[labels[i]] += weight_of(weights, i);
        for (size_t j = 0; j < d; ++j) want_sums[labels[i] * d + j] += weight_of(weights, i) * double(X[i * d + j]);
    }
    CLOSE(inertia, want, 1e-12);
    for (size_t c = 0; c < k; ++c) CLOSE(totals[c], want_totals[c], 1e-12);
    for (size_t c = 0; c < k * d; ++c) CLOSE(sums[c], want_sums[c], 1e-11);
}

void test_bad_cells_stay_in_bounds() {
    const std::vector<float> X{float(nan_cell), float(infinity), 1, 2}, C{0, 0, 1, 1};
    Doubles1 sums(4), totals(2);
    lloyd<float>(matrix_of(X, 2, 2), matrix_of(C, 2, 2), nullptr, {sums.data(), totals.data(), nullptr, nullptr},
                 InterruptPoll());
    CHECK(totals[0] == 1 && totals[1] == 1);
}

// Passes of Lloyd's algorithm, with and without bounds, on rows of which many are equally near to two centers.
template <class T>
void test_bounds_change_no_bit(size_t n, size_t d, size_t k, double offset, double grid) {
    Random random;
    auto X = random.template normal<T>(n * d, offset, 4);
    for (auto& x : X) x = static_cast<T>(std::round(static_cast<double>(x) * grid) / grid);
    std::vector<T> C(X.begin(), X.begin() + static_cast<std::ptrdiff_t>(k * d));
    const auto w = random.uniform(n);
    std::vector<std::int32_t> kept(n, -1), labels(n);
    Doubles1 lower(n), moves(k);
    size_t compared = 0, all = 0;
    for (size_t pass = 0; pass < 12; ++pass) {
        Doubles1 sums(k * d), totals(k), want_sums(k * d), want_totals(k);
        const double want = lloyd<T>(matrix_of(X, n, d), matrix_of(C, k, d), w.data(),
                                     {want_sums.data(), want_totals.data(), labels.data(), nullptr}, InterruptPoll());
        BoundedLloyd<T> bounded(matrix_of(C, k, d), {kept.data(), lower.data(), moves.data()});
        CLOSE(bounded(matrix_of(X, n, d), w.data(), sums.data(), totals.data(), compared, InterruptPoll()), want,
              1e-14);
        CHECK(kept == labels && sums == want_sums && totals == want_totals);
        all += compared;
        for (size_t c = 0; c < k; ++c) {
            double square = 0;
            for (size_t j = 0; j < d && totals[c] > 0; ++j) {
                const T before = C[c * d + j];
                C[c * d + j] = static_cast<T>(sums[c * d + j] / totals[c]);
                square += std::pow(static_cast<double>(C[c * d + j]) - static_cast<double>(before), 2);
            }
            moves[c] = std::sqrt(square) * (1 + 1e-12);
        }
    }
    CHECK(k > 1 || all == n);
    CHECK(all < 12 * n || n < 1000 || offset != 0);
}

int main() {
    for (const size_t d : {1, 3, 17})
        for (const size_t k : {1, 2, 9, 20})
            for (const double offset : {0., 1e5}) {
                test_bounds_change_no_bit<float>(1001, d, k, offset, 8);
                test_bounds_change_no_bit<double>(1001, d, k, offset, 1e9);
            }
    for (const size_t n : {0, 1, 95, 97, 200})
        for (const size_t d : {1, 7, 16, 33})
            for (const size_t k : {1, 4, 9, 20})
                for (const double offset : {0., 1e6}) {
                    test_rows_go_to_their_nearest_center<float>(n, d, k, offset, k % 2);
                    test_rows_go_to_their_nearest_center<double>(n, d, k, offset, k % 2);
                }
    test_bad_cells_stay_in_bounds();
    return failures;
}
