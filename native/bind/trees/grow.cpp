#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <lyceum/trees/grow/tree_grower.hpp>

#include "trees/columns_and_rules.hpp"
#include "trees/grow_several.hpp"

using namespace nb::literals;

namespace {

using lyceum::trees::AnyGrower;
using lyceum::trees::Classes;
using lyceum::trees::ClassRow;
using lyceum::trees::Criterion;
using lyceum::trees::NumberRow;
using lyceum::trees::Numbers;
using lyceum::trees::SeveralTargets;
using lyceum::trees::Subtree;
using lyceum::trees::TreeGrower;
using Columns = BoundColumns;
using Rules = BoundRules;

template <class Instance, class Make>
std::vector<Instance> instances(std::size_t n, const Weights& w, const Maybe<CodesArray>& rows, Make&& make) {
    data_or_null("w", w, {n});
    std::vector<Instance> out;
    const std::size_t m = rows ? rows->shape(0) : n;
    out.reserve(m);
    for (std::size_t r = 0; r < m; ++r) {
        const auto i = rows ? static_cast<std::uint32_t>(rows->data()[r]) : static_cast<std::uint32_t>(r);
        expect(i < n, "rows must lie in [0, " + std::to_string(n) + ")");
        const double weight = w ? w->data()[i] : 1.;
        if (weight > 0.) out.push_back(make(i, weight));
    }
    return out;
}

class Grower {
public:
    Grower(const Columns& columns, CodesArray y, std::size_t classes, Weights w, const Rules& rules,
           Maybe<CodesArray> rows)
        : rules_(rules), d_(columns.codes.shape(0)) {
        const auto n = columns.codes.shape(1);
        expect_shape("y", y, {n});
        expect(classes > 0, "there must be a class");
        expect(rules.loss.empty() || rules.loss.size() == classes * rules.actions,
               "loss must have a row for every class");
        point();
        const lyceum::Codes codes{y.data(), classes};
        auto all = instances<ClassRow>(n, w, rows, [&](std::uint32_t i, double weight) {
            const auto k = codes(i);
            expect(k >= 0, "y must not be negative");
            return ClassRow{i, k, weight};
        });
        const lyceum::trees::LossTable loss{rules_.loss.data(), rules_.actions};
        if (classes == 2)
            grower_ = std::make_unique<TreeGrower<Classes<2>>>(Classes<2>{2, rules_.criterion, loss}, columns.view(),
                                                               rules_, std::move(all));
        else
            grower_ = std::make_unique<TreeGrower<Classes<0>>>(Classes<0>{classes, rules_.criterion, loss},
                                                               columns.view(), rules_, std::move(all));
    }

    Grower(const Columns& columns, Array<const double, 1> y, Weights w, const Rules& rules, Maybe<CodesArray> rows)
        : rules_(rules), d_(columns.codes.shape(0)) {
        const auto n = columns.codes.shape(1);
        expect_shape("y", y, {n});
        point();
        auto all = instances<NumberRow>(
            n, w, rows, [&](std::uint32_t i, double weight) { return NumberRow{i, y.data()[i], weight}; });
        if (rules_.criterion == Criterion::variance)
            grower_ = std::make_unique<TreeGrower<Numbers<2>>>(Numbers<2>{rules_.criterion}, columns.view(), rules_,
                                                               std::move(all));
        else
            grower_ = std::make_unique<TreeGrower<Numbers<3>>>(Numbers<3>{rules_.criterion}, columns.view(), rules_,
                                                               std::move(all));
    }

    // Several outputs, or counts: `classes` of every output, or none where they are numbers.
    Grower(const Columns& columns, Array<const double, 2> y, std::vector<std::size_t> classes, Weights w,
           const Rules& rules, Maybe<CodesArray> rows)
        : rules_(rules), d_(columns.codes.shape(0)), first_(1, 0) {
        const auto n = columns.codes.shape(1), outputs = y.shape(1);
        expect_shape("y", y, {n, outputs});
        expect(outputs > 0 && (classes.empty() || classes.size() == outputs), "classes must be one number per output");
        for (const auto count : classes) first_.push_back(first_.back() + count);
        for (std::size_t i = 0; i < n * outputs && !classes.empty(); ++i)
            expect(y.data()[i] >= 0. && y.data()[i] < static_cast<double>(classes[i % outputs]),
                   "y must be codes of classes");
        point();
        auto all =
            instances<ClassRow>(n, w, rows, [](std::uint32_t i, double weight) { return ClassRow{i, 0, weight}; });
        const SeveralTargets target{rules_.criterion, y.data(), outputs, classes.empty() ? nullptr : first_.data()};
        grower_ = grower_of_several(target, columns.view(), rules_, std::move(all));
    }

    AnyGrower& operator*() { return *grower_; }

    void sort(std::size_t start, std::size_t stop) {
        expect_columns(start, stop);
        expect(is_root_, "columns are sorted before the root is split or finished");
        grower_->sort(start, stop);
    }

    void prepare(std::size_t i) {
        expect_open(i);
        grower_->prepare(i);
    }

    void search(std::size_t i, std::size_t start, std::size_t stop) {
        expect_open(i);
        expect_columns(start, stop);
        grower_->search(i, start, stop, signals());
    }

    std::size_t split(std::size_t i) {
        expect_open(i);
        is_root_ = false;
        split_ = i;
        return children_ = grower_->split(i);
    }

    void deal(std::size_t i, std::size_t children, std::size_t start, std::size_t stop) {
        expect_columns(start, stop);
        expect(i == split_ && children == children_, "rows are dealt to the children of the node split last");
        grower_->deal(i, children, start, stop);
    }

    void finish(std::size_t i) {  // several threads at a time, each another node
        expect_open(i);
        if (i == 0) is_root_ = false;
        grower_->finish(i, signals());
    }

private:
    void point() {
        expect(rules_.cost.empty() || rules_.cost.size() == d_, "there must be a cost for every column");
        rules_.costs = rules_.cost.empty() ? nullptr : rules_.cost.data();
        expect(rules_.direction.empty() || rules_.direction.size() == d_, "there must be a direction for every column");
        rules_.monotonic = rules_.direction.empty() ? nullptr : rules_.direction.data();
    }

    void expect_open(std::size_t i) const {
        expect(i < grower_->n_open() && !grower_->is_finished(i), "i must be the number of an open node");
    }

    void expect_columns(std::size_t start, std::size_t stop) const {
        expect(start <= stop && stop <= d_, "start and stop must be numbers of columns");
    }

    Rules rules_;
    std::size_t d_;
    bool is_root_ = true;                   // the root is open, and has its rows
    std::size_t split_ = 0, children_ = 0;  // the place of the node split last, and its children
    std::vector<std::size_t> first_;        // of several outputs: where their classes begin
    std::unique_ptr<AnyGrower> grower_;
};

Criterion criterion_named(const std::string& name) {
    static const std::pair<const char*, Criterion> names[] = {
        {"entropy", Criterion::entropy}, {"gain_ratio", Criterion::gain_ratio},
        {"gini", Criterion::gini},       {"misclassification", Criterion::misclassification},
        {"loss", Criterion::loss},       {"variance", Criterion::variance},
        {"sd", Criterion::deviation},    {"absolute_error", Criterion::absolute},
        {"poisson", Criterion::poisson}};
    for (const auto& [known, criterion] : names)
        if (name == known) return criterion;
    throw std::invalid_argument("there is no criterion " + name);
}

template <class Field>
auto field(const std::vector<lyceum::trees::TreeNode>& nodes, Field&& get) {
    std::vector<std::decay_t<decltype(get(nodes[0]))>> out;
    out.reserve(nodes.size());
    for (const auto& node : nodes) out.push_back(get(node));
    return to_numpy(std::move(out));
}

nb::dict result(Grower& grower) {
    Subtree tree;
    {
        nb::gil_scoped_release release;
        tree = (*grower).assemble();
    }
    nb::dict out;
    const auto& nodes = tree.nodes;
    out["feature"] = field(nodes, [](const auto& n) { return n.feature; });
    out["kind"] = field(nodes, [](const auto& n) { return static_cast<std::uint8_t>(n.kind); });
    out["child"] = field(nodes, [](const auto& n) { return n.child; });
    out["n_children"] = field(nodes, [](const auto& n) { return n.n_children; });
    out["threshold"] =
        field(nodes, [](const auto& n) { return n.kind == lyceum::trees::SplitKind::leaf ? -2. : n.threshold; });
    out["table"] = field(nodes, [](const auto& n) { return n.table; });
    out["n_codes"] = field(nodes, [](const auto& n) { return n.n_codes; });
    out["missing"] = field(nodes, [](const auto& n) { return n.missing; });
    out["weight"] = field(nodes, [](const auto& n) { return n.weight; });
    out["n_rows"] = field(nodes, [](const auto& n) { return n.n_rows; });
    out["impurity"] = field(nodes, [](const auto& n) { return n.impurity; });
    out["gain"] = field(nodes, [](const auto& n) { return n.gain; });
    out["node_values"] = to_numpy(std::move(tree.value), (*grower).width());
    out["cuts"] = to_numpy(std::move(tree.cuts));
    out["branches"] = to_numpy(std::move(tree.branches));
    std::vector<std::int32_t> seen;
    std::vector<double> numbers;
    for (const auto& one : tree.record) {
        seen.insert(seen.end(), {one.node, one.feature});
        numbers.insert(numbers.end(), {one.gain, one.score, one.threshold});
    }
    out["considered"] = to_numpy(std::move(seen), 2);
    out["merits"] = to_numpy(std::move(numbers), 3);
    return out;
}

template <class T>
nb::ndarray<nb::numpy, double> rank_column(Array<const T, 2> X, std::size_t j, Array<std::uint32_t, 1> codes) {
    expect(j < X.shape(1), "there is no such column");
    expect_shape("codes", codes, {X.shape(0)});
    std::vector<double> values;
    {
        nb::gil_scoped_release release;
        lyceum::trees::rank_column(X.data() + j, X.shape(1), X.shape(0), codes.data(), values);
    }
    return to_numpy(std::move(values));
}

}  // namespace

void bind_tree_grow(nb::module_& m) {
    m.def("rank_column", &rank_column<double>, "X"_a.noconvert(), "j"_a, "codes"_a.noconvert());
    m.def("rank_column", &rank_column<float>, "X"_a.noconvert(), "j"_a, "codes"_a.noconvert(),
          "Ranks of the cells of column j among its distinct values, which are returned; missing cells come last.");
    nb::class_<Columns>(m, "TreeColumns", "Columns as ranks: what trees are grown on.")
        .def(nb::init<const AnyCodes&, const Ints&, const Flags&, const Longs&, const Reals&, const Reals&>(),
             "codes"_a.noconvert(), "n_codes"_a.noconvert(), "is_category"_a.noconvert(), "first"_a.noconvert(),
             "lower"_a.noconvert(), "upper"_a.noconvert());
    nb::class_<Rules>(m, "TreeRules", "How a tree is grown.")
        .def(nb::init<>())
        .def_prop_rw(
            "criterion", [](const Rules& r) { return static_cast<int>(r.criterion); },
            [](Rules& r, const std::string& name) { r.criterion = criterion_named(name); })
        .def_prop_rw(
            "categorical", [](const Rules& r) { return static_cast<int>(r.categorical); },
            [](Rules& r, const std::string& name) {
                r.categorical = name == "multiway"      ? lyceum::trees::Categorical::multiway
                                : name == "one_vs_rest" ? lyceum::trees::Categorical::one_vs_rest
                                                        : lyceum::trees::Categorical::groups;
            })
        .def_rw("multi_way", &Rules::multi_way)
        .def_rw("max_branches", &Rules::max_branches)
        .def_rw("fractions", &Rules::fractions)
        .def_rw("observed", &Rules::observed)
        .def_rw("max_depth", &Rules::max_depth)
        .def_rw("min_split", &Rules::min_split)
        .def_rw("min_leaf", &Rules::min_leaf)
        .def_rw("max_leaves", &Rules::max_leaves)
        .def_rw("min_weight", &Rules::min_weight)
        .def_rw("min_decrease", &Rules::min_decrease)
        .def_rw("max_p", &Rules::max_p)
        .def_rw("floor", &Rules::floor)
        .def_rw("max_features", &Rules::max_features)
        .def_rw("random", &Rules::random)
        .def_rw("needs_gain", &Rules::needs_gain)
        .def_rw("release8", &Rules::release8)
        .def_rw("record", &Rules::record)
        .def_rw("seed", &Rules::seed)
        .def_rw("cost", &Rules::cost)
        .def_rw("direction", &Rules::direction)
        .def_rw("loss", &Rules::loss)
        .def_rw("actions", &Rules::actions);
    nb::class_<Grower>(m, "TreeGrower", "Grows one tree; what is open is split node by node, or finished as a subtree.")
        .def(nb::init<const Columns&, CodesArray, std::size_t, Weights, const Rules&, Maybe<CodesArray>>(),
             nb::keep_alive<1, 2>(), "columns"_a, "y"_a.noconvert(), "classes"_a, "w"_a.noconvert(), "rules"_a,
             "rows"_a.noconvert() = nb::none())
        .def(nb::init<const Columns&, Array<const double, 1>, Weights, const Rules&, Maybe<CodesArray>>(),
             nb::keep_alive<1, 2>(), "columns"_a, "y"_a.noconvert(), "w"_a.noconvert(), "rules"_a,
             "rows"_a.noconvert() = nb::none())
        .def(nb::init<const Columns&, Array<const double, 2>, std::vector<std::size_t>, Weights, const Rules&,
                      Maybe<CodesArray>>(),
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), "columns"_a, "y"_a.noconvert(), "classes"_a,
             "w"_a.noconvert(), "rules"_a, "rows"_a.noconvert() = nb::none())
        .def_prop_ro(
            "open",
            [](Grower& g) {
                std::vector<std::size_t> rows;
                for (std::size_t i = 0; i < (*g).n_open(); ++i) rows.push_back((*g).open_rows(i));
                return rows;
            },
            "How many rows every open node has, 0 where it will not be split.")
        .def("prepare", &Grower::prepare, "i"_a)
        .def("search", &Grower::search, "i"_a, "start"_a, "stop"_a, ReleaseGil())
        .def("sort", &Grower::sort, "start"_a, "stop"_a, ReleaseGil())
        .def("split", &Grower::split, "i"_a, ReleaseGil())
        .def("deal", &Grower::deal, "i"_a, "children"_a, "start"_a, "stop"_a, ReleaseGil())
        .def("finish", &Grower::finish, "i"_a, ReleaseGil())
        .def("result", &result);
}
