#include <lyceum/trees/grow/node_regressions.hpp>
#include <string_view>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Vector = Array<const double, 1>;
using Places = Array<const std::int64_t, 1>;

lyceum::trees::ModelRule rule_named(std::string_view name) {
    if (name == "m5") return lyceum::trees::ModelRule::m5;
    if (name == "m5p") return lyceum::trees::ModelRule::m5_prime;
    expect(name == "all", "rule must be 'm5', 'm5p' or 'all'");
    return lyceum::trees::ModelRule::keep_all;
}

void expect_nodes(const Places& begin, const Places& end, const Places& start, const CodesArray& columns, std::size_t n,
                  std::size_t d) {
    const std::size_t m = begin.shape(0);
    expect_shape("end", end, {m});
    expect_shape("start", start, {m + 1});
    bool inside = start.data()[0] == 0 && static_cast<std::size_t>(start.data()[m]) == columns.shape(0);
    for (std::size_t i = 0; i < m; ++i) {
        inside &= 0 <= begin.data()[i] && begin.data()[i] < end.data()[i];
        inside &= static_cast<std::size_t>(end.data()[i]) <= n && start.data()[i] <= start.data()[i + 1];
    }
    expect(inside, "begin and end must hold rows of X, and start must rise from 0 to the number of columns");
    for (std::size_t k = 0; k < columns.shape(0); ++k) inside &= static_cast<std::uint32_t>(columns.data()[k]) < d;
    expect(inside, "columns must lie in [0, " + std::to_string(d) + ")");
}

void node_models(Array<const double, 2> X, Vector y, Weights w, Places begin, Places end, Places start,
                 CodesArray columns, const char* rule, Array<double, 1> coef, Array<double, 2> models) {
    const auto d = X.shape(0), n = X.shape(1), m = begin.shape(0);
    expect_shape("y", y, {n});
    expect_shape("coef", coef, {columns.shape(0)});
    expect_shape("models", models, {m, 5});
    expect_nodes(begin, end, start, columns, n, d);
    lyceum::trees::NodeFitter fitter(X.data(), n, y.data(), data_or_null("w", w, {n}));
    const auto chosen = rule_named(rule);
    auto poll = signals();
    for (std::size_t i = 0; i < m; ++i) {
        const auto at = static_cast<std::size_t>(start.data()[i]);
        const auto v = static_cast<std::size_t>(start.data()[i + 1]) - at;
        const auto model =
            fitter.fit(static_cast<std::size_t>(begin.data()[i]), static_cast<std::size_t>(end.data()[i]),
                       columns.data() + at, v, chosen, coef.data() + at);
        double* out = models.data() + 5 * i;
        out[0] = model.intercept, out[1] = model.parameters, out[2] = model.weight;
        out[3] = model.absolute, out[4] = model.squared;
        poll(fitter.work());
    }
}

}  // namespace

void bind_node_regressions(nb::module_& m) {
    m.def(
        "node_models", &node_models, "X"_a.noconvert(), "y"_a.noconvert(), "w"_a.noconvert().none(),
        "begin"_a.noconvert(), "end"_a.noconvert(), "start"_a.noconvert(), "columns"_a.noconvert(), "rule"_a,
        "coef"_a.noconvert(), "models"_a.noconvert(), ReleaseGil(),
        "Least squares at nodes that hold rows from begin to end of the transposed X, on columns[start[i]:start[i+1]], "
        "dropped by the rule; models get intercept, parameters, weight, mean absolute and mean squared residual.");
}
