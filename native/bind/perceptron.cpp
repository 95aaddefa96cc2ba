#include <lyceum/perceptron.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

template <class T>
std::size_t perceptron_pass(Array<const T, 2> X, CodesArray codes, Weights w, Array<const double, 1> shift, double rate,
                            Array<double, 2> coef) {
    const auto n = X.shape(0), d = X.shape(1), outputs = coef.shape(0);
    expect(outputs > 0, "coef must have at least one row");
    expect_shape("codes", codes, {n});
    expect_shape("shift", shift, {d});
    expect_shape("coef", coef, {outputs, d + 1});
    return lyceum::perceptron_pass(matrix(X), lyceum::Codes{codes.data(), outputs == 1 ? 2 : outputs},
                                   data_or_null("w", w, {n}), shift.data(), rate, matrix(coef), signals());
}

template <class T>
void bind(nb::module_& m) {
    m.def("perceptron_pass", &perceptron_pass<T>, "X"_a.noconvert(), "codes"_a.noconvert(), "w"_a.noconvert().none(),
          "shift"_a.noconvert(), "rate"_a, "coef"_a.noconvert(), ReleaseGil(),
          "Change coef by every row that is on the wrong side; return the number of mistakes.");
}

}  // namespace

void bind_perceptron(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
