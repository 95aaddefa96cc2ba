#include <algorithm>
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

// Rows group by group, checked: groups follow each other.
class RowGroups {
public:
    using Numbers = HeldArray<const std::int64_t, 1>;

    RowGroups(const Numbers& order, const Numbers& starts) : order_(order), starts_(starts) {
        const std::size_t bounds = starts.shape(0);
        const std::int64_t *start = starts.data(), *row = order.data();
        expect(bounds > 0 && start[0] == 0, "starts must begin with 0");
        expect(std::is_sorted(start, start + bounds), "starts must ascend");
        expect(static_cast<std::size_t>(start[bounds - 1]) == order.shape(0),
               "starts must end with the length of order");
        for (std::size_t i = 0; i < order.shape(0); ++i) {
            expect(row[i] >= 0, "order must hold rows");
            rows_ = std::max(rows_, static_cast<std::size_t>(row[i]) + 1);
        }
    }

    lyceum::mixtures::Groups of(std::size_t n) const {
        expect(rows_ <= n, "order must hold rows");
        return {order_.data(), starts_.data(), starts_.shape(0) - 1};
    }

private:
    Numbers order_, starts_;
    std::size_t rows_ = 0;  // one more than the largest row
};

// The components of a mixture with covariances, not whitened: for rows with missing cells.
class Components {
public:
    using Line = HeldArray<const double, 1>;
    using Cells = HeldArray<const double, 2>;
    using Matrices = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;  // (K, d, d), or diagonals (K, d)

    Components(const Cells& mean, const Matrices& matrix, const Line& log_weight, const Maybe<Line>& degrees,
               const Cells& peak)
        : mean_(mean), matrix_(matrix), log_weight_(log_weight), degrees_(degrees), peak_(peak) {
        expect(K() > 0, "mean must have at least one row");
        if (diagonal())
            expect_shape("matrix", matrix, {K(), d()});
        else
            expect_shape("matrix", matrix, {K(), d(), d()});
        expect_shape("log_weight", log_weight, {K()});
        data_or_null("degrees", degrees, {K()});
        expect_shape("peak", peak, {d() + 1, K()});
    }

    std::size_t K() const { return mean_.shape(0); }
    std::size_t d() const { return mean_.shape(1); }
    bool diagonal() const { return matrix_.ndim() == 2; }

    lyceum::mixtures::Spreads view(const Table& X, const double* log_shift = nullptr, bool shared = false) const {
        expect_shape("X", X, {X.shape(0), d()});
        const double* degrees = degrees_ ? degrees_->data() : nullptr;
        return {mean_.data(), matrix_.data(), log_weight_.data(), degrees, peak_.data(), log_shift, K(), d(),
                diagonal(),   shared};
    }

private:
    Cells mean_;
    Matrices matrix_;
    Line log_weight_;
    Maybe<Line> degrees_;
    Cells peak_;
};

double missing_step(Table X, Weights w, const RowGroups& groups, const Components& components, Table log_shift,
                    Vector rows, Vector weight, Vector logs, Array<double, 2> new_mean,
                    const nb::ndarray<double, nb::c_contig, nb::device::cpu>& S, bool pooled) {
    const auto n = X.shape(0), K = components.K(), d = components.d();
    expect_shape("log_shift", log_shift, {d + 1, K});
    const auto model = components.view(X, log_shift.data(), pooled);
    if (model.diagonal) {
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
    return lyceum::mixtures::missing_step(matrix(X), data_or_null("w", w, {n}), groups.of(n), model, sums, signals());
}

void missing_joint(Table X, const RowGroups& groups, const Components& components, Array<double, 2> joint) {
    const auto n = X.shape(0);
    const auto model = components.view(X);
    expect_shape("joint", joint, {n, model.K});
    lyceum::mixtures::missing_joint(matrix(X), groups.of(n), model, joint.data(), signals());
}

void missing_terms(Table X, const RowGroups& groups, const Components& components, Array<double, 3> terms,
                   Array<double, 2> constant) {
    const auto n = X.shape(0);
    const auto model = components.view(X);
    expect_shape("terms", terms, {n, model.K, model.d});
    expect_shape("constant", constant, {n, model.K});
    lyceum::mixtures::missing_terms(matrix(X), groups.of(n), model, terms.data(), constant.data(), signals());
}

void bind_missing(nb::module_& m) {
    nb::class_<RowGroups>(m, "RowGroups", "Rows group by group, and where every group begins, one more at the end.")
        .def(nb::init<const RowGroups::Numbers&, const RowGroups::Numbers&>(), "order"_a.noconvert(),
             "starts"_a.noconvert());
    nb::class_<Components>(m, "MixtureComponents", "The components of a mixture, with covariances or variances.")
        .def(nb::init<const Components::Cells&, const Components::Matrices&, const Components::Line&,
                      const Maybe<Components::Line>&, const Components::Cells&>(),
             "mean"_a.noconvert(), "matrix"_a.noconvert(), "log_weight"_a.noconvert(), "degrees"_a.noconvert().none(),
             "peak"_a.noconvert());
    m.def("mixture_missing_step", &missing_step, "X"_a.noconvert(), "w"_a.noconvert().none(), "groups"_a,
          "components"_a, "log_shift"_a.noconvert(), "rows"_a.noconvert(), "weight"_a.noconvert(), "logs"_a.noconvert(),
          "new_mean"_a.noconvert(), "S"_a.noconvert(), "pooled"_a = false, ReleaseGil(),
          "`mixture_step` for rows with missing cells, grouped by which are missing; `pooled`: all matrices are one.");
    m.def("mixture_missing_joint", &missing_joint, "X"_a.noconvert(), "groups"_a, "components"_a, "joint"_a.noconvert(),
          ReleaseGil(), "Log joint densities of components and of the cells that are not missing.");
    m.def("mixture_missing_terms", &missing_terms, "X"_a.noconvert(), "groups"_a, "components"_a, "terms"_a.noconvert(),
          "constant"_a.noconvert(), ReleaseGil(),
          "What every known cell adds to the log joint densities, and the rest of these.");
}

}  // namespace

void bind_mixtures(nb::module_& m) {
    bind<float, 3, 3>(m);
    bind<double, 3, 3>(m);
    bind<float, 2, 2>(m);
    bind<double, 2, 2>(m);
    bind_missing(m);
}
