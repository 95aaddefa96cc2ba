#include <lyceum/moments/class_moments.hpp>
#include <lyceum/moments/class_scatter.hpp>
#include <lyceum/moments/scatter.hpp>
#include <lyceum/moments/soft_moments.hpp>
#include <lyceum/moments/soft_scatter.hpp>

#include "arrays.hpp"

using namespace nb::literals;
using lyceum::Codes;

namespace {

template <class T>
void class_moments(Array<const T, 2> X, Maybe<CodesArray> codes, Weights w, Array<double, 2> weight,
                   Array<double, 2> mean, Array<double, 2> scatter) {
    const auto n = X.shape(0), d = X.shape(1), K = weight.shape(0);
    expect_shape("weight", weight, {K, d});
    expect_shape("mean", mean, {K, d});
    expect_shape("scatter", scatter, {K, d});
    const Codes classes{data_or_null("codes", codes, {n}), K};
    expect(codes || K == 1, "codes is None, so weight, mean and scatter must have one row");
    lyceum::moments::class_moments(matrix(X), classes, data_or_null("w", w, {n}), weight.data(), mean.data(),
                                   scatter.data(), signals());
}

template <class T>
double scatter(Array<const T, 2> X, Maybe<Array<const double, 2>> Y, Weights w, Array<double, 1> mean,
               Array<double, 2> S) {
    const auto n = X.shape(0), q = Y ? Y->shape(1) : 0, p = X.shape(1) + q;
    expect_shape("mean", mean, {p});
    expect_shape("S", S, {p, p});
    const lyceum::Matrix<const double> targets{data_or_null("Y", Y, {n, q}), n, q};
    return lyceum::moments::scatter(matrix(X), targets, data_or_null("w", w, {n}), mean.data(), S.data(), signals());
}

template <class T>
void class_scatter(Array<const T, 2> X, CodesArray codes, Weights w, Array<double, 1> weight, Array<double, 2> mean,
                   Array<double, 3> S, bool pooled) {
    const auto n = X.shape(0), d = X.shape(1), K = weight.shape(0);
    expect_shape("codes", codes, {n});
    expect_shape("mean", mean, {K, d});
    expect_shape("S", S, {pooled ? 1 : K, d, d});
    lyceum::moments::class_scatter(matrix(X), Codes{codes.data(), K}, data_or_null("w", w, {n}), weight.data(),
                                   mean.data(), S.data(), pooled, signals());
}

template <class T>
void soft_scatter(Array<const T, 2> X, Array<const double, 2> R, Weights w, Array<double, 1> weight,
                  Array<double, 2> mean, Array<double, 3> S, bool pooled) {
    const auto n = X.shape(0), d = X.shape(1), K = R.shape(1);
    expect_shape("R", R, {n, K});
    expect_shape("weight", weight, {K});
    expect_shape("mean", mean, {K, d});
    expect_shape("S", S, {pooled ? 1 : K, d, d});
    lyceum::moments::soft_scatter(matrix(X), matrix(R), data_or_null("w", w, {n}), weight.data(), mean.data(), S.data(),
                                  pooled, signals());
}

template <class T>
void soft_moments(Array<const T, 2> X, Array<const double, 2> R, Weights w, Array<double, 2> weight,
                  Array<double, 2> mean, Array<double, 2> scatter) {
    const auto n = X.shape(0), d = X.shape(1), K = R.shape(1);
    expect_shape("R", R, {n, K});
    expect_shape("weight", weight, {K, d});
    expect_shape("mean", mean, {K, d});
    expect_shape("scatter", scatter, {K, d});
    lyceum::moments::soft_moments(matrix(X), matrix(R), data_or_null("w", w, {n}), weight.data(), mean.data(),
                                  scatter.data(), signals());
}

template <class T>
void bind(nb::module_& m) {
    m.def("class_moments", &class_moments<T>, "X"_a.noconvert(), "codes"_a.noconvert().none(), "w"_a.noconvert().none(),
          "weight"_a.noconvert(), "mean"_a.noconvert(), "scatter"_a.noconvert(), ReleaseGil(),
          "Set weight, mean and scatter (K, d) of every class and column; NaN cells are skipped.");
    m.def("scatter", &scatter<T>, "X"_a.noconvert(), "Y"_a.noconvert().none(), "w"_a.noconvert().none(),
          "mean"_a.noconvert(), "S"_a.noconvert(), ReleaseGil(),
          "Set the mean and the centred scatter matrix of [X Y]; return the total weight.");
    m.def("class_scatter", &class_scatter<T>, "X"_a.noconvert(), "codes"_a.noconvert(), "w"_a.noconvert().none(),
          "weight"_a.noconvert(), "mean"_a.noconvert(), "S"_a.noconvert(), "pooled"_a = false, ReleaseGil(),
          "Set weight (K,) and mean (K, d), and the scatter matrix S of every class (K, d, d); "
          "pooled: add their sum to S (1, d, d).");
    m.def("soft_scatter", &soft_scatter<T>, "X"_a.noconvert(), "R"_a.noconvert(), "w"_a.noconvert().none(),
          "weight"_a.noconvert(), "mean"_a.noconvert(), "S"_a.noconvert(), "pooled"_a = false, ReleaseGil(),
          "class_scatter with responsibilities R (n, K) in place of class codes.");
    m.def("soft_moments", &soft_moments<T>, "X"_a.noconvert(), "R"_a.noconvert(), "w"_a.noconvert().none(),
          "weight"_a.noconvert(), "mean"_a.noconvert(), "scatter"_a.noconvert(), ReleaseGil(),
          "class_moments with responsibilities R (n, K) in place of class codes.");
}

}  // namespace

void bind_moments(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
