#include <lyceum/trees/grow/node_regressions.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::trees;

// X as columns, y = 2 x0 - 3 x2 + noise
struct Table {
    size_t n, d;
    Doubles1 X, y, w;
    std::vector<std::int32_t> all;

    Table(size_t n, size_t d, double noise) : n(n), d(d), all(d) {
        Random random;
        X = random.normal<double>(n * d, 5);
        y = random.normal<double>(n, 0, noise);
        w = random.uniform(n);
        for (size_t j = 0; j < d; ++j) all[j] = std::int32_t(j);
        for (size_t i = 0; i < n; ++i) y[i] += 2 * X[i] - 3 * X[2 * n + i];
    }
};

// The residuals of least squares are orthogonal to the columns in the model and sum to zero.
void test_residuals_are_orthogonal(ModelRule rule, bool weighted) {
    const Table t(301, 4, 0.5);
    const double* w = weighted ? t.w.data() : nullptr;
    NodeFitter fitter(t.X.data(), t.n, t.y.data(), w);
    Doubles1 b(t.d);
    const size_t first = 20, last = 290;
    const auto model = fitter.fit(first, last, t.all.data(), t.d, rule, b.data());
    Doubles1 products(t.d + 1);
    double weight = 0, absolute = 0, squared = 0;
    for (size_t i = first; i < last; ++i) {
        double r = t.y[i] - model.intercept;
        for (size_t j = 0; j < t.d; ++j) r -= b[j] * t.X[j * t.n + i];
        const double here = weight_of(w, i);
        for (size_t j = 0; j < t.d; ++j) products[j] += b[j] != 0 ? here * r * t.X[j * t.n + i] : 0;
        products[t.d] += here * r, weight += here, absolute += here * std::abs(r), squared += here * r * r;
    }
    for (double product : products) CLOSE(product, 0.0, 1e-9);
    CLOSE(model.weight, weight, 1e-12);
    CLOSE(model.absolute, absolute / weight, 1e-12);
    CLOSE(model.squared, squared / weight, 1e-12);
    CHECK(b[0] != 0 && b[2] != 0);
    CHECK(model.parameters == 1 + std::int32_t(t.d) - std::count(b.begin(), b.end(), 0.0));
}

void test_what_tells_nothing_is_dropped(ModelRule rule) {
    const Table t(200, 5, 0);
    NodeFitter fitter(t.X.data(), t.n, t.y.data(), nullptr);
    Doubles1 b(t.d);
    CHECK(fitter.fit(0, t.n, t.all.data(), t.d, rule, b.data()).parameters == 3);
    CLOSE(b[0], 2.0, 1e-10);
    CLOSE(b[2], -3.0, 1e-10);
}

void test_few_rows_and_no_columns(ModelRule rule) {
    const Table t(10, 4, 1);
    NodeFitter fitter(t.X.data(), t.n, t.y.data(), nullptr);
    Doubles1 b(t.d);
    for (size_t rows = 1; rows < 7; ++rows) {
        const auto model = fitter.fit(3, 3 + rows, t.all.data(), t.d, rule, b.data());
        CHECK(model.parameters == 1 || size_t(model.parameters) < rows);
    }
    const auto mean = fitter.fit(0, 2, t.all.data(), 0, rule, b.data());
    CLOSE(mean.intercept, (t.y[0] + t.y[1]) / 2, 1e-15);
}

int main() {
    for (auto rule : {ModelRule::keep_all, ModelRule::m5, ModelRule::m5_prime})
        for (bool weighted : {false, true}) test_residuals_are_orthogonal(rule, weighted);
    for (auto rule : {ModelRule::m5, ModelRule::m5_prime}) {
        test_what_tells_nothing_is_dropped(rule);
        test_few_rows_and_no_columns(rule);
    }
    return failures;
}
