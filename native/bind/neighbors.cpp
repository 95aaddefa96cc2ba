// Instance-based learning.
#include <lyceum/neighbors/local_fits.hpp>

#include "arrays.hpp"

using namespace nb::literals;
namespace ln = lyceum::neighbors;

namespace {

using Numbers = Array<const std::int64_t, 1>;
using Line = Array<double, 1>;

void local_fits(Array<const double, 2> X, Array<const double, 1> y, Array<const double, 2> Q, Numbers offsets,
                Numbers rows, Array<const double, 1> kernel, Weights count, int degree, std::int64_t steps, double rate,
                double tolerance, Line value, Line norm, Line inverse, Array<double, 2> gradient,
                Array<std::uint8_t, 1> degenerate) {
    const auto n = X.shape(0), d = X.shape(1), m = Q.shape(0), listed = rows.shape(0);
    expect(degree >= 0 && degree <= 2, "the degree must be 0, 1 or 2");
    expect_shape("y", y, {n});
    expect_shape("Q", Q, {m, d});
    expect_shape("offsets", offsets, {m + 1});
    expect_shape("kernel", kernel, {listed});
    for (const auto& line : {value, norm, inverse}) expect_shape("output", line, {m});
    expect_shape("gradient", gradient, {m, d});
    expect_shape("degenerate", degenerate, {m});
    const auto *starts = offsets.data(), *at = rows.data();
    expect(std::is_sorted(starts, starts + m + 1) && starts[0] >= 0 && static_cast<std::size_t>(starts[m]) <= listed,
           "offsets must not decrease nor point outside of rows");
    expect(std::all_of(at, at + listed, [&](auto i) { return i >= 0 && static_cast<std::size_t>(i) < n; }),
           "rows must hold row numbers");
    const ln::WeightedLists lists{starts, at, kernel.data(), data_or_null("count", count, {listed})};
    const ln::LocalOutput out{value.data(), norm.data(), inverse.data(), matrix(gradient), degenerate.data()};
    auto poll = signals();
    ln::LocalFits(matrix(X), y.data(), degree, {steps, rate, tolerance})(matrix(Q), lists, out, poll);
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    m.def("local_fits", &local_fits, "X"_a.noconvert(), "y"_a.noconvert(), "Q"_a.noconvert(), "offsets"_a.noconvert(),
          "rows"_a.noconvert(), "kernel"_a.noconvert(), "count"_a.noconvert().none(), "degree"_a, "steps"_a, "rate"_a,
          "tolerance"_a, "value"_a.noconvert(), "norm"_a.noconvert(), "inverse"_a.noconvert(), "gradient"_a.noconvert(),
          "degenerate"_a.noconvert(), ReleaseGil(),
          "Set the outputs to the weighted least-squares fit in the neighbourhood of every query.");
}
