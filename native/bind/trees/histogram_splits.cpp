#include <lyceum/trees/split/histogram_splits.hpp>

#include "trees/columns_and_rules.hpp"

using namespace nb::literals;

namespace {

using Seeds = HeldArray<const std::uint64_t, 1>;

// Sums of the cells of every column in every slot, with the arrays that hold them.
struct BoundTables {
    HeldArray<const double, 3> tables;
    Longs offsets;
    bool counted;

    lyceum::trees::NodeTables view(const lyceum::trees::TreeColumns& columns, std::size_t classes) const {
        const std::size_t d = columns.d, channels = classes ? classes + counted : 4;
        expect_shape("offsets", offsets, {d + 1});
        expect_shape("tables", tables, {slots(), static_cast<std::size_t>(offsets.data()[d]), channels});
        for (std::size_t j = 0; j < d; ++j)
            expect(offsets.data()[j + 1] - offsets.data()[j] == columns.n_codes[j] + 1,
                   "column " + std::to_string(j) + " must have a cell for every code and one for missing");
        return {tables.data(), offsets.data(), slots(), channels, classes == 0 || counted};
    }

    std::size_t slots() const { return tables.shape(0); }
};

// The nodes of the slots: whether each may be split, its sums, and its columns of one value.
struct BoundNodes {
    Flags open;
    HeldArray<const double, 2> total;
    Reals impurity;
    Seeds seed;
    HeldArray<std::uint8_t, 2> dead;

    void check(std::size_t slots, std::size_t d, std::size_t classes) const {
        expect_shape("open", open, {slots});
        expect_shape("total", total, {slots, classes ? classes : 3});
        expect_shape("impurity", impurity, {slots});
        expect_shape("seed", seed, {slots});
        expect_shape("dead", dead, {slots, d});
    }
};

// Room for the split of every slot.
struct BoundSplits {
    HeldArray<std::int32_t, 1> feature;
    HeldArray<std::uint8_t, 1> kind;
    HeldArray<std::int32_t, 1> children, missing;
    HeldArray<double, 1> gain, threshold;
    HeldArray<double, 2> cuts;
    HeldArray<std::int32_t, 2> branches;
    Maybe<HeldArray<double, 3>> considered;

    lyceum::trees::NodeSplits view(std::size_t slots, const lyceum::trees::TreeColumns& columns,
                                   std::size_t max_branches) const {
        std::int64_t most = 0;
        for (std::size_t j = 0; j < columns.d; ++j) most = std::max<std::int64_t>(most, columns.n_codes[j] + 1);
        expect_shape("feature", feature, {slots});
        expect_shape("kind", kind, {slots});
        expect_shape("children", children, {slots});
        expect_shape("missing", missing, {slots});
        expect_shape("gain", gain, {slots});
        expect_shape("threshold", threshold, {slots});
        expect_shape("cuts", cuts, {slots, std::max<std::size_t>(1, max_branches - 1)});
        expect_shape("branches", branches, {slots, static_cast<std::size_t>(most)});
        return {feature.data(),
                children.data(),
                missing.data(),
                kind.data(),
                gain.data(),
                threshold.data(),
                cuts.data(),
                branches.data(),
                cuts.shape(1),
                branches.shape(1),
                data_or_null("considered", considered, {slots, columns.d, 3})};
    }
};

template <class Target>
void search(Target target, lyceum::trees::TreeColumns columns, const lyceum::trees::TreeRules& rules,
            lyceum::trees::NodeTables tables, const BoundNodes& nodes, const lyceum::trees::NodeSplits& out) {
    lyceum::trees::HistogramSplits<Target> split(target, columns, rules, tables);
    lyceum::InterruptPoll poll = signals();
    for (std::size_t slot = 0; slot < tables.slots; ++slot) {
        if (!nodes.open.data()[slot]) continue;
        split(slot, nodes.total.data() + slot * nodes.total.shape(1), nodes.impurity.data()[slot],
              nodes.seed.data()[slot], nodes.dead.data() + slot * columns.d, out);
        poll(static_cast<std::size_t>(tables.offsets[columns.d]) * tables.channels * 8);
    }
}

void histogram_splits(const BoundColumns& bound, BoundRules rules, std::size_t classes, const BoundTables& tables,
                      const BoundNodes& nodes, const BoundSplits& splits) {
    const auto columns = bound.view();
    const auto sums = tables.view(columns, classes);
    nodes.check(sums.slots, columns.d, classes);
    const auto out = splits.view(sums.slots, columns, rules.max_branches);
    expect(rules.criterion != lyceum::trees::Criterion::absolute, "the absolute error is not a sum over bins");
    expect(rules.loss.empty() || rules.loss.size() == classes * rules.actions, "loss must have a row for every class");
    expect(rules.cost.empty() || rules.cost.size() == columns.d, "there must be a cost for every column");
    rules.costs = rules.cost.empty() ? nullptr : rules.cost.data();
    const lyceum::trees::LossTable loss{rules.loss.data(), rules.actions};
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
    nb::class_<BoundTables>(m, "NodeTables", "Sums over the cells of every column, for the nodes in some slots.")
        .def(nb::init<const HeldArray<const double, 3>&, const Longs&, bool>(), "tables"_a.noconvert(),
             "offsets"_a.noconvert(), "counted"_a);
    nb::class_<BoundNodes>(m, "OpenNodes", "The nodes in some slots: those open are split.")
        .def(nb::init<const Flags&, const HeldArray<const double, 2>&, const Reals&, const Seeds&,
                      const HeldArray<std::uint8_t, 2>&>(),
             "open"_a.noconvert(), "total"_a.noconvert(), "impurity"_a.noconvert(), "seed"_a.noconvert(),
             "dead"_a.noconvert());
    nb::class_<BoundSplits>(m, "NodeSplits", "Room for the splits of the nodes in some slots.")
        .def(nb::init<const HeldArray<std::int32_t, 1>&, const HeldArray<std::uint8_t, 1>&,
                      const HeldArray<std::int32_t, 1>&, const HeldArray<std::int32_t, 1>&, const HeldArray<double, 1>&,
                      const HeldArray<double, 1>&, const HeldArray<double, 2>&, const HeldArray<std::int32_t, 2>&,
                      const Maybe<HeldArray<double, 3>>&>(),
             "feature"_a.noconvert(), "kind"_a.noconvert(), "children"_a.noconvert(), "missing"_a.noconvert(),
             "gain"_a.noconvert(), "threshold"_a.noconvert(), "cuts"_a.noconvert(), "branches"_a.noconvert(),
             "considered"_a.noconvert().none());
    m.def("histogram_splits", &histogram_splits, "columns"_a, "rules"_a, "classes"_a, "tables"_a, "nodes"_a, "splits"_a,
          ReleaseGil(), "Write the best split of every open node, from its tables.");
}
