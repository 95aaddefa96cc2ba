#include <lyceum/moments/class_moments.hpp>
#include <lyceum/moments/class_scatter.hpp>
#include <lyceum/moments/scatter.hpp>
#include <lyceum/moments/soft_moments.hpp>
#include <lyceum/moments/soft_scatter.hpp>
#include <lyceum/moments/sparse_moments.hpp>

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
void sparse_moments(Array<const std::int32_t, 1> indptr, Array<const std::int32_t, 1> indices, Array<const T, 1> data,
                    Weights w, Array<double, 1> weight, Array<double, 1> mean, Array<double, 1> scatter,
                    Array<double, 1> low, Array<double, 1> high) {
    expect(indptr.shape(0) > 0, "indptr must have an entry more than there are rows");
    const auto n = indptr.shape(0) - 1, d = weight.shape(0), stored = indices.shape(0);
    expect_shape("data", data, {stored});
    expect_shape("mean", mean, {d});
    expect_shape("scatter", scatter, {d});
    expect_shape("low", low, {d});
    expect_shape("high", high, {d});
    const auto* starts = indptr.data();
    expect(std::is_sorted(starts, starts + n + 1) && starts[0] >= 0 && static_cast<std::size_t>(starts[n]) <= stored,
           "indptr must not decrease nor point outside of data");
    const auto inside = [d](std::int32_t j) { return j >= 0 && static_cast<std::size_t>(j) < d; };
    expect(std::all_of(indices.data(), indices.data() + stored, inside), "an index is out of range");
    const lyceum::moments::SparseRows<T> rows{starts, indices.data(), data.data(), n, d};
    lyceum::moments::sparse_moments(rows, data_or_null("w", w, {n}), weight.data(), mean.data(), scatter.data(),
                                    low.data(), high.data(), signals());
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
    m.def("sparse_moments", &sparse_moments<T>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
          "w"_a.noconvert().none(), "weight"_a.noconvert(), "mean"_a.noconvert(), "scatter"_a.noconvert(),
          "low"_a.noconvert(), "high"_a.noconvert(), ReleaseGil(),
          "Set weight, mean, scatter, minimum and maximum (d,) of every column of canonical CSR rows.");
    m.def("scatter", &scatter<T>, "X"_a.noconvert(), "Y"_a.noconvert().none(), "w"_a.noconvert().none(),
          "mean"_a.noconvert(), "S"_a.noconvert(), ReleaseGil(),
          "Set the mean and the centered scatter matrix of [X Y]; return the total weight.");
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
