// Rules that learn from one row after the other: the perceptron, the LMS rule, recursive least squares.
#include <nanobind/stl/tuple.h>

#include <lyceum/linear/least_mean_squares.hpp>
#include <lyceum/linear/perceptron.hpp>
#include <lyceum/linear/recursive_least_squares.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Vector = Array<const double, 1>;

template <class T>
std::tuple<std::size_t, std::size_t, double> perceptron_pass(Array<const T, 2> X, CodesArray codes, Weights w,
                                                             Vector shift,
                                                             std::tuple<double, double, double, bool> rule,
                                                             Array<double, 2> coef, Array<double, 2> paid) {
    const auto n = X.shape(0), d = X.shape(1), outputs = coef.shape(0);
    expect(outputs > 0, "coef must have at least one row");
    expect_shape("codes", codes, {n});
    expect_shape("shift", shift, {d});
    expect_shape("coef", coef, {outputs, d + 1});
    expect_shape("paid", paid, {outputs, d + 1});
    const auto [rate, ridge, lasso, intercept] = rule;
    const auto pass = lyceum::linear::perceptron_pass(
        matrix(X), lyceum::Codes{codes.data(), outputs == 1 ? 2 : outputs}, data_or_null("w", w, {n}), shift.data(),
        {rate, ridge, lasso, intercept}, matrix(coef), matrix(paid), signals());
    return {pass.rows, pass.mistakes, pass.loss};
}

template <class T>
void lms_pass(Array<const T, 2> X, Vector y, Weights w, Vector shift, Vector unit, double rate, bool intercept,
              Array<double, 1> coef) {
    const auto n = X.shape(0), d = X.shape(1);
    expect_shape("y", y, {n});
    expect_shape("shift", shift, {d});
    expect_shape("unit", unit, {d});
    expect_shape("coef", coef, {d + 1});
    lyceum::linear::lms_pass(matrix(X), y.data(), data_or_null("w", w, {n}), shift.data(), unit.data(), rate, intercept,
                             coef.data(), signals());
}

template <class T>
void recursive_squares(Array<const T, 2> X, Vector y, Weights w, Vector shift, Array<double, 1> coef,
                       Array<double, 2> inverse) {
    const auto n = X.shape(0), d = X.shape(1), p = d + 1;
    expect_shape("y", y, {n});
    expect_shape("shift", shift, {d});
    expect_shape("coef", coef, {p});
    expect_shape("inverse", inverse, {p, p});
    lyceum::linear::recursive_squares(matrix(X), y.data(), data_or_null("w", w, {n}), shift.data(), coef.data(),
                                      inverse.data(), signals());
}

template <class T>
double recursive_softmax(Array<const T, 2> X, CodesArray codes, Weights w, Vector shift, Array<double, 2> coef,
                         Array<double, 2> inverse, Maybe<Array<double, 3>> trace) {
    const auto n = X.shape(0), d = X.shape(1), outputs = coef.shape(0), p = d + 1;
    expect(outputs > 0, "coef must have at least one row");
    expect_shape("codes", codes, {n});
    expect_shape("shift", shift, {d});
    expect_shape("coef", coef, {outputs, p});
    expect_shape("inverse", inverse, {outputs * p, outputs * p});
    return lyceum::linear::recursive_softmax(matrix(X), lyceum::Codes{codes.data(), outputs == 1 ? 2 : outputs},
                                             data_or_null("w", w, {n}), shift.data(), matrix(coef), inverse.data(),
                                             data_or_null("trace", trace, {n, outputs, p}), signals());
}

template <class T>
void bind(nb::module_& m) {
    m.def("perceptron_pass", &perceptron_pass<T>, "X"_a.noconvert(), "codes"_a.noconvert(), "w"_a.noconvert().none(),
          "shift"_a.noconvert(), "rule"_a, "coef"_a.noconvert(), "paid"_a.noconvert(), ReleaseGil(),
          "Change coef by every row that is on the wrong side, with a rule (rate, ridge, lasso, intercept); return how "
          "many rows count, how many were mistakes, and the sum of the losses.");
    m.def("lms_pass", &lms_pass<T>, "X"_a.noconvert(), "y"_a.noconvert(), "w"_a.noconvert().none(),
          "shift"_a.noconvert(), "unit"_a.noconvert(), "rate"_a, "intercept"_a, "coef"_a.noconvert(), ReleaseGil(),
          "Change coef by the LMS rule, row after row.");
    m.def("recursive_squares", &recursive_squares<T>, "X"_a.noconvert(), "y"_a.noconvert(), "w"_a.noconvert().none(),
          "shift"_a.noconvert(), "coef"_a.noconvert(), "inverse"_a.noconvert(), ReleaseGil(),
          "Change coef and the inverse of the Hessian by every row's square.");
    m.def("recursive_softmax", &recursive_softmax<T>, "X"_a.noconvert(), "codes"_a.noconvert(),
          "w"_a.noconvert().none(), "shift"_a.noconvert(), "coef"_a.noconvert(), "inverse"_a.noconvert(),
          "trace"_a.noconvert().none(), ReleaseGil(),
          "Change coef and the inverse of the Hessian by every row's log loss; return the loss before each row.");
}

}  // namespace

void bind_row_by_row(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
