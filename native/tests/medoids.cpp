#include <lyceum/cluster/cluster_sums.hpp>
#include <lyceum/cluster/medoids.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::cluster;

template <class T>
std::vector<T> distances_of(const Doubles1& X, size_t n, size_t d) {
    std::vector<T> D(n * n);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
            D[i * n + j] = static_cast<T>(
                std::sqrt(distances::raw_value(distances::SquaredDifferences{}, &X[i * d], &X[j * d], d)));
    return D;
}

template <class T>
double loss_of(const std::vector<T>& D, size_t n, const double* w, const std::vector<std::int64_t>& medoids) {
    double total = 0;
    for (size_t i = 0; i < n; ++i) {
        double near = infinity;
        for (const auto m : medoids) near = std::min(near, double(D[size_t(m) * n + i]));
        total += weight_of(w, i) * near;
    }
    return total;
}

template <class T>
void test_no_swap_helps(size_t n, size_t k, bool weighted, size_t threads) {
    Random random;
    const auto X = random.normal<double>(n * 2);
    const auto w = random.uniform(n);
    const double* weights = weighted ? w.data() : nullptr;
    const auto D = distances_of<T>(X, n, 2);
    std::vector<std::int64_t> medoids(k);
    Medoids<T> model(matrix_of(D, n, n), weights, k, threads, InterruptPoll());
    model.build(medoids.data());
    const double built = loss_of(D, n, weights, medoids);
    Doubles1 losses;
    model.swap(medoids.data(), 100, losses);
    const double reached = loss_of(D, n, weights, medoids);
    CLOSE(losses.front(), built, 1e-9);
    CLOSE(losses.back(), reached, 1e-9);
    CHECK(std::is_sorted(losses.rbegin(), losses.rend()));
    for (size_t m = 0; m < k; ++m)
        for (size_t row = 0; row < n; ++row) {
            auto other = medoids;
            other[m] = static_cast<std::int64_t>(row);
            CHECK(loss_of(D, n, weights, other) >= reached * (1 - 1e-5));
        }
}

void test_sums_are_those_of_plain_loops(size_t n, size_t m, size_t d) {
    Random random;
    const auto X = random.normal<double>(n * d), Y = random.normal<double>(m * d);
    const auto w = random.uniform(m);
    const std::vector<std::int64_t> starts{0, std::int64_t(m / 3), std::int64_t(m / 3), std::int64_t(m)};
    Doubles1 out(n * 3);
    const distances::SquaredDifferences space;
    cluster_sums(space, matrix_of(X, n, d), {matrix_of(Y, m, d), w.data(), starts.data(), 3}, true, 0.5, out.data(),
                 InterruptPoll());
    for (size_t i = 0; i < n; ++i)
        for (size_t c = 0; c < 3; ++c) {
            double want = 0;
            for (auto j = size_t(starts[c]); j < size_t(starts[c + 1]); ++j)
                want += 0.5 * w[j] * std::sqrt(distances::raw_value(space, &X[i * d], &Y[j * d], d));
            CLOSE(out[i * 3 + c], want, 1e-12);
        }
}

int main() {
    for (const size_t n : {5, 40})
        for (const size_t k : {1, 2, 5})
            for (const size_t threads : {1, 2}) {
                test_no_swap_helps<double>(n, k, k == 2, threads);
                test_no_swap_helps<float>(n, k, k != 2, threads);
            }
    for (const size_t n : {1, 25, 60}) test_sums_are_those_of_plain_loops(n, 17, 3);
    return failures;
}
