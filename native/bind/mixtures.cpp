#include <lyceum/mixtures/missing_step.hpp>
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

using Order = Array<const std::int64_t, 1>;

// Rows group by group, checked: every place is a row, and groups follow each other.
lyceum::mixtures::Groups groups_of(const Order& order, const Order& starts, std::size_t n) {
    expect(starts.shape(0) > 0 && starts.data()[0] == 0, "starts must begin with 0");
    const std::size_t count = starts.shape(0) - 1;
    for (std::size_t g = 0; g < count; ++g) expect(starts.data()[g] <= starts.data()[g + 1], "starts must ascend");
    expect(static_cast<std::size_t>(starts.data()[count]) == order.shape(0),
           "starts must end with the length of order");
    for (std::size_t i = 0; i < order.shape(0); ++i)
        expect(order.data()[i] >= 0 && static_cast<std::size_t>(order.data()[i]) < n, "order must hold rows");
    return {order.data(), starts.data(), count};
}

template <int Matrices>
lyceum::mixtures::Spreads spreads_of(std::size_t d, const Table& mean, const Array<const double, Matrices>& cells,
                                     const Array<const double, 1>& log_weight,
                                     const Maybe<Array<const double, 1>>& degrees, const Table& peak,
                                     const Table& log_shift, bool shared) {
    const auto K = mean.shape(0);
    expect(K > 0, "mean must have at least one row");
    expect_shape("mean", mean, {K, d});
    if constexpr (Matrices == 2)
        expect_shape("matrix", cells, {K, d});
    else
        expect_shape("matrix", cells, {K, d, d});
    expect_shape("log_weight", log_weight, {K});
    expect_shape("peak", peak, {d + 1, K});
    expect_shape("log_shift", log_shift, {d + 1, K});
    return {mean.data(),
            cells.data(),
            log_weight.data(),
            data_or_null("degrees", degrees, {K}),
            peak.data(),
            log_shift.data(),
            K,
            d,
            Matrices == 2,
            shared};
}

template <int Matrices>
double missing_step(Table X, Weights w, Order order, Order starts, Table mean, Array<const double, Matrices> cells,
                    Array<const double, 1> log_weight, Maybe<Array<const double, 1>> degrees, Table peak,
                    Table log_shift, Vector rows, Vector weight, Vector logs, Array<double, 2> new_mean,
                    Array<double, Matrices> S, bool pooled) {
    const auto n = X.shape(0), d = X.shape(1), K = mean.shape(0);
    const auto model = spreads_of<Matrices>(d, mean, cells, log_weight, degrees, peak, log_shift, pooled);
    if constexpr (Matrices == 2) {
        expect(!pooled, "diagonal scatters are not pooled");
        expect_shape("S", S, {K, d});
    } else {
        expect_shape("S", S, {pooled ? 1 : K, d, d});
    }
    expect_shape("rows", rows, {K});
    expect_shape("weight", weight, {K});
    expect_shape("logs", logs, {K});
    expect_shape("new_mean", new_mean, {K, d});
    const lyceum::mixtures::StepSums sums{rows.data(), weight.data(), logs.data(), new_mean.data(), S.data(), pooled};
    return lyceum::mixtures::missing_step(matrix(X), data_or_null("w", w, {n}), groups_of(order, starts, n), model,
                                          sums, signals());
}

template <int Matrices>
void missing_joint(Table X, Order order, Order starts, Table mean, Array<const double, Matrices> cells,
                   Array<const double, 1> log_weight, Maybe<Array<const double, 1>> degrees, Table peak,
                   Array<double, 2> joint) {
    const auto n = X.shape(0), d = X.shape(1);
    const auto model = spreads_of<Matrices>(d, mean, cells, log_weight, degrees, peak, peak, false);
    expect_shape("joint", joint, {n, mean.shape(0)});
    lyceum::mixtures::missing_joint(matrix(X), groups_of(order, starts, n), model, joint.data(), signals());
}

template <int Matrices>
void missing_terms(Table X, Order order, Order starts, Table mean, Array<const double, Matrices> cells,
                   Array<const double, 1> log_weight, Maybe<Array<const double, 1>> degrees, Table peak,
                   Array<double, 3> terms, Array<double, 2> constant) {
    const auto n = X.shape(0), d = X.shape(1), K = mean.shape(0);
    const auto model = spreads_of<Matrices>(d, mean, cells, log_weight, degrees, peak, peak, false);
    expect_shape("terms", terms, {n, K, d});
    expect_shape("constant", constant, {n, K});
    lyceum::mixtures::missing_terms(matrix(X), groups_of(order, starts, n), model, terms.data(), constant.data(),
                                    signals());
}

template <int Matrices>
void bind_missing(nb::module_& m) {
    m.def("mixture_missing_step", &missing_step<Matrices>, "X"_a.noconvert(), "w"_a.noconvert().none(),
          "order"_a.noconvert(), "starts"_a.noconvert(), "mean"_a.noconvert(), "matrix"_a.noconvert(),
          "log_weight"_a.noconvert(), "degrees"_a.noconvert().none(), "peak"_a.noconvert(), "log_shift"_a.noconvert(),
          "rows"_a.noconvert(), "weight"_a.noconvert(), "logs"_a.noconvert(), "new_mean"_a.noconvert(),
          "S"_a.noconvert(), "pooled"_a = false, ReleaseGil(),
          "`mixture_step` for rows with missing cells, grouped by which are missing; `pooled`: all matrices are one.");
    m.def("mixture_missing_joint", &missing_joint<Matrices>, "X"_a.noconvert(), "order"_a.noconvert(),
          "starts"_a.noconvert(), "mean"_a.noconvert(), "matrix"_a.noconvert(), "log_weight"_a.noconvert(),
          "degrees"_a.noconvert().none(), "peak"_a.noconvert(), "joint"_a.noconvert(), ReleaseGil(),
          "Log joint densities of components and of the cells that are not missing.");
    m.def("mixture_missing_terms", &missing_terms<Matrices>, "X"_a.noconvert(), "order"_a.noconvert(),
          "starts"_a.noconvert(), "mean"_a.noconvert(), "matrix"_a.noconvert(), "log_weight"_a.noconvert(),
          "degrees"_a.noconvert().none(), "peak"_a.noconvert(), "terms"_a.noconvert(), "constant"_a.noconvert(),
          ReleaseGil(), "What every known cell adds to the log joint densities, and the rest of these.");
}

}  // namespace

void bind_mixtures(nb::module_& m) {
    bind<float, 3, 3>(m);
    bind<double, 3, 3>(m);
    bind<float, 2, 2>(m);
    bind<double, 2, 2>(m);
    bind_missing<2>(m);
    bind_missing<3>(m);
}
