#include <lyceum/bayes/gaussian_log_joint.hpp>
#include <lyceum/bayes/posterior.hpp>
#include <lyceum/bayes/quadratic_log_density.hpp>
#include <lyceum/linear/linear_argmax.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Table = Array<const double, 2>;

template <class T>
void gaussian_log_joint(Array<const T, 2> X, Array<const std::int32_t, 1> columns, Table mean, Table half_precision,
                        Table constant, Array<double, 2> out) {
    const auto m = columns.shape(0), K = out.shape(1);
    expect_shape("mean", mean, {m, K});
    expect_shape("half_precision", half_precision, {m, K});
    expect_shape("constant", constant, {m, K});
    expect_shape("out", out, {X.shape(0), K});
    for (std::size_t j = 0; j < m; ++j)
        expect(columns.data()[j] >= 0 && static_cast<std::size_t>(columns.data()[j]) < X.shape(1),
               "columns[" + std::to_string(j) + "] is not a column of X");
    const lyceum::bayes::GaussianTable table{mean.data(), half_precision.data(), constant.data(), m, K};
    lyceum::bayes::gaussian_log_joint(matrix(X), columns.data(), table, out.data(), signals());
}

template <class T>
void quadratic_log_density(Array<const T, 2> X, Table mean, Array<const double, 3> whiten,
                           Array<const double, 1> constant, Array<double, 2> out) {
    const auto d = X.shape(1), K = mean.shape(0);
    expect_shape("mean", mean, {K, d});
    expect_shape("whiten", whiten, {K, d, d});
    expect_shape("constant", constant, {K});
    expect_shape("out", out, {X.shape(0), K});
    lyceum::bayes::quadratic_log_density(matrix(X), mean.data(), whiten.data(), constant.data(), K, out.data(),
                                         signals());
}

template <class T>
bool linear_argmax(Array<const T, 2> X, Table coef, Array<const double, 1> intercept, Array<std::int64_t, 1> labels) {
    const auto n = X.shape(0), d = X.shape(1), K = coef.shape(0);
    expect(K > 0, "coef has no rows");
    expect_shape("coef", coef, {K, d});
    expect_shape("intercept", intercept, {K});
    expect_shape("labels", labels, {n});
    return lyceum::linear::linear_argmax(matrix(X), coef.data(), intercept.data(), K, labels.data(), signals());
}

template <class T>
void bind(nb::module_& m) {
    m.def("gaussian_log_joint", &gaussian_log_joint<T>, "X"_a.noconvert(), "columns"_a.noconvert(),
          "mean"_a.noconvert(), "half_precision"_a.noconvert(), "constant"_a.noconvert(), "out"_a.noconvert(),
          ReleaseGil(), "Add constant - half_precision * (x - mean)**2 to out over the cells that are not NaN.");
    m.def("quadratic_log_density", &quadratic_log_density<T>, "X"_a.noconvert(), "mean"_a.noconvert(),
          "whiten"_a.noconvert(), "constant"_a.noconvert(), "out"_a.noconvert(), ReleaseGil(),
          "Add constant[k] - |whiten[k] @ (x - mean[k])|**2 / 2 to out.");
    m.def("linear_argmax", &linear_argmax<T>, "X"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a.noconvert(),
          "labels"_a.noconvert(), ReleaseGil(),
          "Set labels to the first k of largest intercept[k] + x @ coef[k]; False if a cell is NaN or infinite.");
}

}  // namespace

void bind_bayes(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    m.def(
        "posterior", [](Array<double, 2> out) { lyceum::bayes::posterior(matrix(out), signals()); },
        "out"_a.noconvert(), ReleaseGil(), "Turn rows of log joint densities into posteriors, in place.");
    m.def(
        "log_posterior", [](Array<double, 2> out) { lyceum::bayes::log_posterior(matrix(out), signals()); },
        "out"_a.noconvert(), ReleaseGil(), "Turn rows of log joint densities into log posteriors, in place.");
    m.def(
        "row_argmax",
        [](Array<const double, 2> out, Array<std::int64_t, 1> labels) {
            expect_shape("labels", labels, {out.shape(0)});
            lyceum::bayes::row_argmax(matrix(out), labels.data());
        },
        "out"_a.noconvert(), "labels"_a.noconvert(), ReleaseGil(), "Set labels to the first maximum of every row.");
}
