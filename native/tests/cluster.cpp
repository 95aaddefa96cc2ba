#include <lyceum/cluster/lloyd.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::cluster;

template <class T>
void test_rows_go_to_their_nearest_centre(size_t n, size_t d, size_t k, double offset, bool weighted) {
    Random random;
    const auto X = random.template normal<T>(n * d, offset, 100), C = random.template normal<T>(k * d, offset, 100);
    const auto w = random.uniform(n);
    const double* weights = weighted ? w.data() : nullptr;
    Doubles1 sums(k * d), totals(k), distances(n), want_sums(k * d), want_totals(k);
    std::vector<std::int32_t> labels(n);
    const double inertia = lloyd<T>(matrix_of(X, n, d), matrix_of(C, k, d), weights,
                                    {sums.data(), totals.data(), labels.data(), distances.data()}, Poll());
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
                 Poll());
    CHECK(totals[0] == 1 && totals[1] == 1);
}

int main() {
    for (const size_t n : {0, 1, 95, 97, 200})
        for (const size_t d : {1, 7, 16, 33})
            for (const size_t k : {1, 4, 9, 20})
                for (const double offset : {0., 1e6}) {
                    test_rows_go_to_their_nearest_centre<float>(n, d, k, offset, k % 2);
                    test_rows_go_to_their_nearest_centre<double>(n, d, k, offset, k % 2);
                }
    test_bad_cells_stay_in_bounds();
    return failures;
}
