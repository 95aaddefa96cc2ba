#include <lyceum/mixtures/mixture_step.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Table = Array<const double, 2>;
using Vector = Array<double, 1>;

template <class T, int Whiten, int Scatter>
double mixture_step(Array<const T, 2> X, Weights w, Table mean, Array<const double, Whiten> whiten,
                    Array<const double, 1> constant, Maybe<Array<const double, 1>> degrees, Vector rows, Vector weight,
                    Maybe<Vector> logs, Array<double, 2> new_mean, Array<double, Scatter> S, bool pooled) {
    constexpr bool diagonal = Whiten == 2;
    const auto n = X.shape(0), d = X.shape(1), K = mean.shape(0);
    expect(K > 0, "mean must have at least one row");
    expect_shape("mean", mean, {K, d});
    if constexpr (diagonal) {
        expect(!pooled, "diagonal scatters are not pooled");
        expect_shape("whiten", whiten, {K, d});
        expect_shape("S", S, {K, d});
    } else {
        expect_shape("whiten", whiten, {K, d, d});
        expect_shape("S", S, {pooled ? 1 : K, d, d});
    }
    expect_shape("constant", constant, {K});
    expect_shape("rows", rows, {K});
    expect_shape("weight", weight, {K});
    expect_shape("new_mean", new_mean, {K, d});
    const lyceum::mixtures::Components model{
        mean.data(), whiten.data(), constant.data(), data_or_null("degrees", degrees, {K}), K, d, diagonal};
    const lyceum::mixtures::StepSums sums{rows.data(),     weight.data(), data_or_null("logs", logs, {K}),
                                          new_mean.data(), S.data(),      pooled};
    return lyceum::mixtures::mixture_step(matrix(X), data_or_null("w", w, {n}), model, sums, signals());
}

template <class T, int Whiten, int Scatter>
void bind(nb::module_& m) {
    m.def("mixture_step", &mixture_step<T, Whiten, Scatter>, "X"_a.noconvert(), "w"_a.noconvert().none(),
          "mean"_a.noconvert(), "whiten"_a.noconvert(), "constant"_a.noconvert(), "degrees"_a.noconvert().none(),
          "rows"_a.noconvert(), "weight"_a.noconvert(), "logs"_a.noconvert().none(), "new_mean"_a.noconvert(),
          "S"_a.noconvert(), "pooled"_a = false, ReleaseGil(),
          "E-step and the sums of the M-step of a mixture of Gaussians, or of Student-t with `degrees`; "
          "return the sum of w log p(x).");
}

}  // namespace

void bind_mixtures(nb::module_& m) {
    bind<float, 3, 3>(m);
    bind<double, 3, 3>(m);
    bind<float, 2, 2>(m);
    bind<double, 2, 2>(m);
}
