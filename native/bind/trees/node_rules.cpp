#include <lyceum/core/midpoint.hpp>
#include <lyceum/trees/chi_square.hpp>
#include <lyceum/trees/stopping_rules.hpp>

#include "trees/columns_and_rules.hpp"

using namespace nb::literals;

namespace {

void midpoints(Array<const double, 1> low, Array<const double, 1> high, Array<double, 1> out) {
    expect_shape("high", high, {low.shape(0)});
    expect_shape("out", out, {low.shape(0)});
    for (std::size_t i = 0; i < low.shape(0); ++i) out.data()[i] = lyceum::midpoint(low.data()[i], high.data()[i]);
}

void node_impurities(const BoundRules& rules, std::size_t classes, Array<const double, 2> sums, Array<double, 1> out) {
    const std::size_t n = sums.shape(0), size = classes ? classes : 3;
    expect_shape("sums", sums, {n, size});
    expect_shape("out", out, {n});
    expect(rules.loss.empty() || rules.loss.size() == classes * rules.actions, "loss must have a row for every class");
    const lyceum::trees::Classes<0> target{classes, rules.criterion, {rules.loss.data(), rules.actions}};
    for (std::size_t i = 0; i < n; ++i) {
        const double* s = sums.data() + i * size;
        out.data()[i] = classes ? target.impurity(s, lyceum::trees::merit_of(target, s))
                                : lyceum::trees::spread(rules.criterion, s[0], s[1], s[2]);
    }
}

void may_split(const BoundRules& rules, Array<const std::int64_t, 1> n_rows, Array<const std::int64_t, 1> depth,
               Array<const double, 1> impurity, Array<const double, 1> mean, double root_impurity,
               Array<std::uint8_t, 1> out) {
    const std::size_t n = n_rows.shape(0);
    expect_shape("depth", depth, {n});
    expect_shape("impurity", impurity, {n});
    expect_shape("mean", mean, {n});
    expect_shape("out", out, {n});
    for (std::size_t i = 0; i < n; ++i)
        out.data()[i] = lyceum::trees::may_split(rules, static_cast<std::size_t>(n_rows.data()[i]),
                                                 static_cast<std::size_t>(depth.data()[i]), impurity.data()[i],
                                                 mean.data()[i], root_impurity);
}

double independence(Array<const double, 2> table) {
    std::vector<const double*> rows;
    for (std::size_t b = 0; b < table.shape(0); ++b) rows.push_back(table.data() + b * table.shape(1));
    return lyceum::trees::independence(rows, table.shape(1));
}

}  // namespace

void bind_node_rules(nb::module_& m) {
    m.def("midpoints", &midpoints, "low"_a.noconvert(), "high"_a.noconvert(), "out"_a.noconvert(),
          "Write the midpoint of every pair, never rounded up to the larger one.");
    m.def("node_impurities", &node_impurities, "rules"_a, "classes"_a, "sums"_a.noconvert(), "out"_a.noconvert(),
          "Write the impurity of nodes from the weights of their classes, or (0 classes) from Σw, Σwz and Σwz².");
    m.def("may_split", &may_split, "rules"_a, "n_rows"_a.noconvert(), "depth"_a.noconvert(), "impurity"_a.noconvert(),
          "mean"_a.noconvert(), "root_impurity"_a, "out"_a.noconvert(),
          "Write whether the stopping rules let nodes be split.");
    m.def("independence", &independence, "table"_a.noconvert(),
          "The p-value of the chi-square test that the columns of a table do not depend on its rows.");
}
