#include <lyceum/linear/logistic_loss.hpp>
#include <lyceum/linear/separable_bound.hpp>
#include <lyceum/linear/softmax_loss.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Vector = Array<const double, 1>;

template <class T>
double logistic(Array<const T, 2> X, Vector y, Weights w, Vector coef, Array<double, 1> gradient,
                Maybe<Array<double, 2>> hessian, Vector shift) {
    const auto n = X.shape(0), d = X.shape(1), p = d + 1;
    expect_shape("y", y, {n});
    expect_shape("coef", coef, {p});
    expect_shape("gradient", gradient, {p});
    expect_shape("shift", shift, {d});
    return lyceum::linear::logistic(matrix(X), y.data(), data_or_null("w", w, {n}), coef.data(), shift.data(),
                                    gradient.data(), data_or_null("hessian", hessian, {p, p}), signals());
}

template <class T>
void expect_class_shapes(const Array<const T, 2>& X, const CodesArray& codes, const Array<const double, 2>& coef,
                         const Array<double, 2>& gradient, const Vector& shift) {
    const auto n = X.shape(0), d = X.shape(1), K = coef.shape(0), p = d + 1;
    expect_shape("codes", codes, {n});
    expect_shape("coef", coef, {K, p});
    expect_shape("gradient", gradient, {K, p});
    expect_shape("shift", shift, {d});
}

template <class T>
double softmax_loss(Array<const T, 2> X, CodesArray codes, Weights w, Array<const double, 2> coef,
                    Array<double, 2> gradient, Maybe<Array<double, 2>> hessian, Vector shift) {
    const auto n = X.shape(0), K = coef.shape(0), p = X.shape(1) + 1;
    expect(K > 0, "coef must have at least one row");
    expect_class_shapes(X, codes, coef, gradient, shift);
    return lyceum::linear::softmax_loss(matrix(X), lyceum::Codes{codes.data(), K}, data_or_null("w", w, {n}),
                                        coef.data(), shift.data(), gradient.data(),
                                        data_or_null("hessian", hessian, {K * p, K * p}), signals());
}

template <class T>
double separable_bound(Array<const T, 2> X, CodesArray codes, Weights w, Array<const double, 2> coef,
                       Array<double, 2> gradient, Maybe<Array<double, 3>> curvature, Vector shift) {
    const auto n = X.shape(0), K = coef.shape(0), p = X.shape(1) + 1;
    expect(K > 1, "coef must have at least two rows");
    expect_class_shapes(X, codes, coef, gradient, shift);
    return lyceum::linear::separable_bound(matrix(X), lyceum::Codes{codes.data(), K}, data_or_null("w", w, {n}),
                                           coef.data(), shift.data(), gradient.data(),
                                           data_or_null("curvature", curvature, {K, p, p}), signals());
}

template <class T>
void bind(nb::module_& m) {
    m.def("logistic", &logistic<T>, "X"_a.noconvert(), "y"_a.noconvert(), "w"_a.noconvert().none(),
          "coef"_a.noconvert(), "gradient"_a.noconvert(), "hessian"_a.noconvert().none(), "shift"_a.noconvert(),
          ReleaseGil(),
          "Return the logistic loss; add its gradient and, when given, its Hessian. The intercept is last.");
    m.def("softmax_loss", &softmax_loss<T>, "X"_a.noconvert(), "codes"_a.noconvert(), "w"_a.noconvert().none(),
          "coef"_a.noconvert(), "gradient"_a.noconvert(), "hessian"_a.noconvert().none(), "shift"_a.noconvert(),
          ReleaseGil(), "Return the multinomial loss; add its gradient and, when given, its Hessian.");
    m.def("separable_bound", &separable_bound<T>, "X"_a.noconvert(), "codes"_a.noconvert(), "w"_a.noconvert().none(),
          "coef"_a.noconvert(), "gradient"_a.noconvert(), "curvature"_a.noconvert().none(), "shift"_a.noconvert(),
          ReleaseGil(),
          "Return the separable bound of the multinomial loss; add its gradient and every class's curvature.");
}

}  // namespace

void bind_losses(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
