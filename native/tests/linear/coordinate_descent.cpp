#include <lyceum/linear/coordinate_descent.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::linear;

struct Data {
    size_t n, d;
    Doubles1 X, y, Q, q, norms;  // X as columns
    double yy = 0;

    Data(size_t n, size_t d) : n(n), d(d), Q(d * d), q(d), norms(d) {
        Random random;
        X = random.normal<double>(n * d, 0, 1 / std::sqrt(double(n)));
        y = random.normal<double>(n);
        for (double v : y) yy += v * v;
        for (size_t j = 0; j < d; ++j) {
            for (size_t i = 0; i < n; ++i) q[j] += X[j * n + i] * y[i];
            for (size_t k = 0; k < d; ++k)
                for (size_t i = 0; i < n; ++i) Q[j * d + k] += X[j * n + i] * X[k * n + i];
            norms[j] = Q[j * d + j];
        }
    }
};

// |x_j.r - l2 b_j| is l1 where b_j is not zero, and at most l1 where it is.
double violation(const Data& data, const Doubles1& b, Penalty p) {
    double worst = 0;
    for (size_t j = 0; j < data.d; ++j) {
        double g = data.q[j] - p.l2 * b[j];
        for (size_t k = 0; k < data.d; ++k) g -= data.Q[j * data.d + k] * b[k];
        worst =
            std::max(worst, b[j] != 0 ? std::abs(g - std::copysign(p.l1, b[j])) : std::max(0.0, std::abs(g) - p.l1));
    }
    return worst;
}

void test_all_ways_agree(size_t n, size_t d, Penalty p) {
    const Data data(n, d);
    Doubles1 b(d), g = data.q;
    const auto done = gram_descent({data.Q.data(), d, d, data.q.data(), data.yy}, g.data(), b.data(), p, 1e-13, 100000,
                                   InterruptPoll());
    CHECK(done.gap <= 1e-13);
    CHECK(violation(data, b, p) < 1e-5);

    std::vector<std::int32_t> chosen(d), start(d + 1), index(n * d);
    for (size_t j = 0; j < d; ++j) {
        chosen[j] = std::int32_t(j), start[j + 1] = std::int32_t((j + 1) * n);
        for (size_t i = 0; i < n; ++i) index[j * n + i] = std::int32_t(i);
    }
    const Doubles1 zeros(d);
    Doubles1 dense(d), sparse(d), u = data.y, v = data.y;
    Residual r{u.data(), 0}, s{v.data(), 0};
    const DenseColumns columns{data.X.data(), n, d};
    const SparseColumns thin{start.data(), index.data(), data.X.data(), n, d};
    const auto one = column_descent<DenseColumns>({columns, zeros.data(), data.norms.data(), data.y.data()},
                                                  chosen.data(), d, r, dense.data(), p, 1e-13, 100000, InterruptPoll());
    const auto two =
        column_descent<SparseColumns>({thin, zeros.data(), data.norms.data(), data.y.data()}, chosen.data(), d, s,
                                      sparse.data(), p, 1e-13, 100000, InterruptPoll());
    CHECK(one.gap <= 1e-13 && two.gap <= 1e-13);
    for (size_t j = 0; j < d; ++j) CLOSE(dense[j], b[j], 1e-5);
    for (size_t j = 0; j < d; ++j) CLOSE(sparse[j], b[j], 1e-5);
    Doubles1 out(d);
    column_products(columns, zeros.data(), chosen.data(), d, r, out.data(), InterruptPoll());
    for (size_t j = 0; j < d; ++j) CLOSE(out[j], g[j], 1e-5);
}

void test_no_columns_and_constant_columns() {
    const double zero = 0;
    double g = 0, b = 0;
    CHECK(gram_descent({&zero, 0, 0, &zero, 1.0}, &g, &b, {1, 0}, 1e-9, 10, InterruptPoll()).epochs <= 1);
    CHECK(gram_descent({&zero, 1, 1, &zero, 1.0}, &g, &b, {1, 0}, 1e-9, 10, InterruptPoll()).gap == 0);
    CHECK(b == 0);
}

int main() {
    test_all_ways_agree(50, 10, {0.1, 0});
    test_all_ways_agree(40, 15, {0.05, 0.3});
    test_all_ways_agree(33, 1, {0.01, 0});
    test_no_columns_and_constant_columns();
    return failures;
}
