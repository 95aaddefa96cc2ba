#include <lyceum/trees/split/histogram_splits.hpp>

#include "trees/columns_and_rules.hpp"

using namespace nb::literals;

namespace {

using Seeds = Array<const std::uint64_t, 1>;

struct Nodes {
    const std::uint8_t* open;
    const double* total;
    std::size_t n_sums;
    const double* impurity;
    const std::uint64_t* seed;
    std::uint8_t* dead;
};

template <class Target>
void search(Target target, lyceum::trees::TreeColumns columns, const lyceum::trees::TreeRules& rules,
            lyceum::trees::NodeTables tables, const Nodes& nodes, const lyceum::trees::NodeSplits& out) {
    lyceum::trees::HistogramSplits<Target> split(target, columns, rules, tables);
    lyceum::Poll poll = signals();
    for (std::size_t slot = 0; slot < tables.slots; ++slot) {
        if (!nodes.open[slot]) continue;
        split(slot, nodes.total + slot * nodes.n_sums, nodes.impurity[slot], nodes.seed[slot],
              nodes.dead + slot * columns.d, out);
        poll(static_cast<std::size_t>(tables.offsets[columns.d]) * tables.channels * 8);
    }
}

void histogram_splits(const BoundColumns& bound, BoundRules rules, std::size_t classes, Array<const double, 3> tables,
                      Longs offsets, bool counted, Flags open, Array<const double, 2> total, Reals impurity, Seeds seed,
                      Array<std::uint8_t, 2> dead, Array<std::int32_t, 1> feature, Array<std::uint8_t, 1> kind,
                      Array<std::int32_t, 1> children, Array<std::int32_t, 1> missing, Array<double, 1> gain,
                      Array<double, 1> threshold, Array<double, 2> cuts, Array<std::int32_t, 2> branches,
                      Maybe<Array<double, 3>> considered) {
    const auto columns = bound.view();
    const std::size_t slots = tables.shape(0), d = columns.d, channels = classes ? classes + counted : 4;
    expect_shape("offsets", offsets, {d + 1});
    expect_shape("tables", tables, {slots, static_cast<std::size_t>(offsets.data()[d]), channels});
    std::int64_t most = 0;
    for (std::size_t j = 0; j < d; ++j) {
        most = std::max<std::int64_t>(most, columns.n_codes[j] + 1);
        expect(offsets.data()[j + 1] - offsets.data()[j] == columns.n_codes[j] + 1,
               "column " + std::to_string(j) + " must have a cell for every code and one for missing");
    }
    expect_shape("open", open, {slots});
    expect_shape("total", total, {slots, classes ? classes : 3});
    expect_shape("impurity", impurity, {slots});
    expect_shape("seed", seed, {slots});
    expect_shape("dead", dead, {slots, d});
    expect_shape("feature", feature, {slots});
    expect_shape("kind", kind, {slots});
    expect_shape("children", children, {slots});
    expect_shape("missing", missing, {slots});
    expect_shape("gain", gain, {slots});
    expect_shape("threshold", threshold, {slots});
    expect_shape("cuts", cuts, {slots, std::max<std::size_t>(1, rules.max_branches - 1)});
    expect_shape("branches", branches, {slots, static_cast<std::size_t>(most)});
    expect(rules.criterion != lyceum::trees::Criterion::absolute, "the absolute error is not a sum over bins");
    expect(rules.loss.empty() || rules.loss.size() == classes * rules.actions, "loss must have a row for every class");
    expect(rules.cost.empty() || rules.cost.size() == d, "there must be a cost for every column");
    rules.costs = rules.cost.empty() ? nullptr : rules.cost.data();
    const lyceum::trees::LossTable loss{rules.loss.data(), rules.actions};
    const lyceum::trees::NodeTables sums{tables.data(), offsets.data(), slots, channels, classes == 0 || counted};
    const Nodes nodes{open.data(), total.data(), total.shape(1), impurity.data(), seed.data(), dead.data()};
    const lyceum::trees::NodeSplits out{feature.data(),
                                        children.data(),
                                        missing.data(),
                                        kind.data(),
                                        gain.data(),
                                        threshold.data(),
                                        cuts.data(),
                                        branches.data(),
                                        cuts.shape(1),
                                        branches.shape(1),
                                        data_or_null("considered", considered, {slots, d, 3})};
    if (classes == 2)
        search(lyceum::trees::Classes<2>{2, rules.criterion, loss}, columns, rules, sums, nodes, out);
    else if (classes)
        search(lyceum::trees::Classes<0>{classes, rules.criterion, loss}, columns, rules, sums, nodes, out);
    else if (rules.criterion == lyceum::trees::Criterion::variance)
        search(lyceum::trees::Numbers<2>{rules.criterion}, columns, rules, sums, nodes, out);
    else
        search(lyceum::trees::Numbers<3>{rules.criterion}, columns, rules, sums, nodes, out);
}

}  // namespace

void bind_histogram_splits(nb::module_& m) {
    m.def("histogram_splits", &histogram_splits, "columns"_a, "rules"_a, "classes"_a, "tables"_a.noconvert(),
          "offsets"_a.noconvert(), "counted"_a, "open"_a.noconvert(), "total"_a.noconvert(), "impurity"_a.noconvert(),
          "seed"_a.noconvert(), "dead"_a.noconvert(), "feature"_a.noconvert(), "kind"_a.noconvert(),
          "children"_a.noconvert(), "missing"_a.noconvert(), "gain"_a.noconvert(), "threshold"_a.noconvert(),
          "cuts"_a.noconvert(), "branches"_a.noconvert(), "considered"_a.noconvert().none(), ReleaseGil(),
          "Write the best split of every open slot of tables, sums over the cells of every column.");
}
