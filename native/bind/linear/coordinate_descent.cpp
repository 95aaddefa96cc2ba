#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <lyceum/linear/coordinate_descent.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Vector = Array<const double, 1>;
using Indices = Array<const std::int32_t, 1>;
using Result = std::tuple<std::size_t, double>;

Result gram_descent(Array<const double, 2> Q, Vector q, Array<double, 1> gradient, Array<double, 1> coef, double l1,
                    double l2, double yy, double tolerance, std::size_t max_epochs) {
    const auto m = q.shape(0);
    expect(Q.shape(0) >= m && Q.shape(1) >= m, "Q is smaller than q");
    expect_shape("gradient", gradient, {m});
    expect_shape("coef", coef, {m});
    const auto at = lyceum::linear::gram_descent({Q.data(), Q.shape(1), m, q.data(), yy}, gradient.data(), coef.data(),
                                                 {l1, l2}, tolerance, max_epochs, signals());
    return {at.epochs, at.gap};
}

void expect_inside(const Indices& chosen, std::size_t d) {
    bool inside = true;
    for (std::size_t k = 0; k < chosen.shape(0); ++k) inside &= static_cast<std::uint32_t>(chosen.data()[k]) < d;
    expect(inside, "chosen must lie in [0, " + std::to_string(d) + ")");
}

lyceum::linear::DenseColumns dense(const Array<const double, 2>& X) { return {X.data(), X.shape(1), X.shape(0)}; }

lyceum::linear::SparseColumns sparse(const Indices& start, const Indices& index, const Vector& data, std::size_t n) {
    expect(start.shape(0) > 0, "start is empty");
    const std::size_t d = start.shape(0) - 1, stored = index.shape(0);
    expect_shape("data", data, {stored});
    expect(start.data()[0] >= 0 && static_cast<std::size_t>(start.data()[d]) <= stored &&
               std::is_sorted(start.data(), start.data() + d + 1),
           "start must rise and stay inside of data");
    return {start.data(), index.data(), data.data(), n, d};
}

template <class Columns>
std::tuple<std::size_t, double, double> descend(Columns X, const Vector& mean, const Vector& norms, const Vector& y,
                                                const Indices& chosen, const Array<double, 1>& residual, double offset,
                                                const Array<double, 1>& coef, double l1, double l2, double tolerance,
                                                std::size_t max_epochs) {
    expect_shape("mean", mean, {X.count});
    expect_shape("norms", norms, {X.count});
    expect_shape("y", y, {X.rows});
    expect_shape("residual", residual, {X.rows});
    expect_shape("coef", coef, {X.count});
    expect_inside(chosen, X.count);
    lyceum::linear::Residual r{residual.data(), offset};
    const lyceum::linear::ColumnProblem<Columns> problem{X, mean.data(), norms.data(), y.data()};
    const auto at = lyceum::linear::column_descent(problem, chosen.data(), chosen.shape(0), r, coef.data(), {l1, l2},
                                                   tolerance, max_epochs, signals());
    return {at.epochs, at.gap, r.c};
}

template <class Columns>
void products(Columns X, const Vector& mean, const Indices& chosen, const Vector& residual, double offset,
              const Array<double, 1>& out) {
    expect_shape("mean", mean, {X.count});
    expect_shape("residual", residual, {X.rows});
    expect_shape("out", out, {chosen.shape(0)});
    expect_inside(chosen, X.count);
    lyceum::linear::column_products(X, mean.data(), chosen.data(), chosen.shape(0),
                                    {const_cast<double*>(residual.data()), offset}, out.data(), signals());
}

}  // namespace

void bind_coordinate_descent(nb::module_& m) {
    m.def("gram_descent", &gram_descent, "Q"_a.noconvert(), "q"_a.noconvert(), "gradient"_a.noconvert(),
          "coef"_a.noconvert(), "l1"_a, "l2"_a, "yy"_a, "tolerance"_a, "max_epochs"_a, ReleaseGil(),
          "Coordinate descent on the corner of a Gram matrix; gradient is q - Q coef. Return epochs and duality gap.");
    m.def(
        "dense_column_descent",
        [](Array<const double, 2> X, Vector mean, Vector norms, Vector y, Indices chosen, Array<double, 1> residual,
           double offset, Array<double, 1> coef, double l1, double l2, double tolerance, std::size_t max_epochs) {
            return descend(dense(X), mean, norms, y, chosen, residual, offset, coef, l1, l2, tolerance, max_epochs);
        },
        "X"_a.noconvert(), "mean"_a.noconvert(), "norms"_a.noconvert(), "y"_a.noconvert(), "chosen"_a.noconvert(),
        "residual"_a.noconvert(), "offset"_a, "coef"_a.noconvert(), "l1"_a, "l2"_a, "tolerance"_a, "max_epochs"_a,
        ReleaseGil(), "Coordinate descent over chosen rows of the transposed X. Return epochs, gap and offset.");
    m.def(
        "sparse_column_descent",
        [](Indices start, Indices index, Vector data, Vector mean, Vector norms, Vector y, Indices chosen,
           Array<double, 1> residual, double offset, Array<double, 1> coef, double l1, double l2, double tolerance,
           std::size_t max_epochs) {
            return descend(sparse(start, index, data, y.shape(0)), mean, norms, y, chosen, residual, offset, coef, l1,
                           l2, tolerance, max_epochs);
        },
        "start"_a.noconvert(), "index"_a.noconvert(), "data"_a.noconvert(), "mean"_a.noconvert(), "norms"_a.noconvert(),
        "y"_a.noconvert(), "chosen"_a.noconvert(), "residual"_a.noconvert(), "offset"_a, "coef"_a.noconvert(), "l1"_a,
        "l2"_a, "tolerance"_a, "max_epochs"_a, ReleaseGil(),
        "Coordinate descent over chosen CSC columns. Return epochs, gap and offset.");
    m.def(
        "dense_column_products",
        [](Array<const double, 2> X, Vector mean, Indices chosen, Vector residual, double offset,
           Array<double, 1> out) { products(dense(X), mean, chosen, residual, offset, out); },
        "X"_a.noconvert(), "mean"_a.noconvert(), "chosen"_a.noconvert(), "residual"_a.noconvert(), "offset"_a,
        "out"_a.noconvert(), ReleaseGil(), "Products of chosen rows of the transposed X with the residuals.");
    m.def(
        "sparse_column_products",
        [](Indices start, Indices index, Vector data, Vector mean, Indices chosen, Vector residual, double offset,
           Array<double, 1> out) {
            products(sparse(start, index, data, residual.shape(0)), mean, chosen, residual, offset, out);
        },
        "start"_a.noconvert(), "index"_a.noconvert(), "data"_a.noconvert(), "mean"_a.noconvert(),
        "chosen"_a.noconvert(), "residual"_a.noconvert(), "offset"_a, "out"_a.noconvert(), ReleaseGil(),
        "Products of chosen CSC columns with the residuals.");
}
