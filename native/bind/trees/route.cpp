#include <nanobind/stl/vector.h>

#include <lyceum/trees/route/packed_forest.hpp>
#include <lyceum/trees/route/visited_nodes.hpp>
#include <memory>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Ints = HeldArray<const std::int32_t, 1>;
using Kinds = HeldArray<const std::uint8_t, 1>;
using Reals = HeldArray<const double, 1>;
using Values = HeldArray<const double, 2>;

// The arrays of a Tree, kept alive, and checked against the number of columns.
struct TreeArrays {
    TreeArrays(const Ints& feature, const Kinds& kind, const Ints& child, const Ints& n_children,
               const Reals& threshold, const Ints& table, const Ints& n_codes, const Ints& missing, const Reals& cuts,
               const Ints& branches, const Reals& weight, std::size_t n_columns)
        : feature(feature),
          kind(kind),
          child(child),
          n_children(n_children),
          threshold(threshold),
          table(table),
          n_codes(n_codes),
          missing(missing),
          cuts(cuts),
          branches(branches),
          weight(weight),
          n_columns(n_columns) {
        const auto n = feature.shape(0);
        expect_shape("kind", kind, {n});
        expect_shape("child", child, {n});
        expect_shape("n_children", n_children, {n});
        expect_shape("threshold", threshold, {n});
        expect_shape("table", table, {n});
        expect_shape("n_codes", n_codes, {n});
        expect_shape("missing", missing, {n});
        expect_shape("weight", weight, {n});
        view().check(n_columns);
    }

    lyceum::trees::TreeView view() const {
        return {feature.shape(0), feature.data(),  kind.data(),       child.data(),   n_children.data(),
                threshold.data(), table.data(),    n_codes.data(),    missing.data(), cuts.data(),
                cuts.shape(0),    branches.data(), branches.shape(0), weight.data()};
    }

    Ints feature;
    Kinds kind;
    Ints child, n_children;
    Reals threshold;
    Ints table, n_codes, missing;
    Reals cuts;
    Ints branches;
    Reals weight;
    std::size_t n_columns;
};

template <class T>
void expect_rows(const TreeArrays& tree, const Array<const T, 2>& X) {
    expect_shape("X", X, {X.shape(0), tree.n_columns});
}

template <class T>
void ends(const TreeArrays& tree, Array<const T, 2> X, Array<std::int32_t, 1> out) {
    expect_rows(tree, X);
    expect_shape("out", out, {X.shape(0)});
    lyceum::trees::visit_ends(tree.view(), matrix(X), out.data(), 1, signals());
}

template <class T>
void add_ends(const TreeArrays& tree, Array<const T, 2> X, Values values, std::size_t column, Array<double, 2> out) {
    expect_rows(tree, X);
    expect_shape("values", values, {tree.feature.shape(0), values.shape(1)});
    expect_shape("out", out, {X.shape(0), out.shape(1)});
    expect(values.shape(1) <= out.shape(1) && column <= out.shape(1) - values.shape(1),
           "out has fewer columns than the values need");
    lyceum::trees::add_visit_values(tree.view(), matrix(X), matrix(values), out.data() + column, out.shape(1),
                                    signals());
}

template <class T>
void contributions(const TreeArrays& tree, Array<const T, 2> X, Values values, Maybe<Ints> pick, Array<double, 2> out) {
    expect_rows(tree, X);
    expect_shape("values", values, {tree.feature.shape(0), values.shape(1)});
    expect_shape("out", out, {X.shape(0), tree.n_columns});
    const auto* picked = data_or_null("pick", pick, {X.shape(0)});
    const auto K = static_cast<std::int32_t>(values.shape(1));
    expect(K > 0 && (!picked || std::all_of(picked, picked + X.shape(0), [&](auto k) { return k >= 0 && k < K; })),
           "pick must hold numbers of columns of the values");
    lyceum::trees::add_contributions(tree.view(), matrix(X), matrix(values), picked, matrix(out), signals());
}

template <class T>
nb::tuple visits(const TreeArrays& tree, Array<const T, 2> X) {
    expect_rows(tree, X);
    lyceum::trees::SparseVisits all;
    {
        nb::gil_scoped_release release;
        all = lyceum::trees::sparse_visits(tree.view(), matrix(X), signals());
    }
    return nb::make_tuple(to_numpy(std::move(all.starts)), to_numpy(std::move(all.node)),
                          to_numpy(std::move(all.share)));
}

template <class T>
class Packed {
public:
    Packed(const std::vector<const TreeArrays*>& trees, const std::vector<Values>& values,
           const std::vector<std::size_t>& columns, std::size_t n_columns, int engine)
        : forest_(nullptr) {
        expect(!trees.empty(), "a forest has at least one tree");
        expect(n_columns > 0, "trees need at least one column");
        expect(values.size() == trees.size() && columns.size() == trees.size(),
               "there must be values and a column for every tree");
        expect(engine >= 0 && engine <= 2, "engine must be 0, 1 or 2");
        std::vector<lyceum::trees::TreeView> views;
        std::vector<lyceum::trees::TreeValues> given;
        for (std::size_t t = 0; t < trees.size(); ++t) {
            expect(trees[t], "a tree is None");
            views.push_back(trees[t]->view());
            expect(values[t].shape(1) > 0, "values need at least one column");
            given.push_back({matrix(values[t]), columns[t]});
        }
        nb::gil_scoped_release release;
        forest_ = std::make_unique<lyceum::trees::Forest<T>>(views, given, n_columns,
                                                             static_cast<lyceum::trees::Engine>(engine));
    }

    void leaves(Array<const T, 2> X, std::size_t first, std::size_t last, Array<std::int32_t, 2> out) const {
        expect_trees(X, first, last);
        expect_shape("out", out, {X.shape(0), last - first});
        forest_->leaves(matrix(X), first, last, out.data(), signals());
    }

    void add_values(Array<const T, 2> X, std::size_t first, std::size_t last, Array<double, 2> out) const {
        expect_trees(X, first, last);
        expect_shape("out", out, {X.shape(0), out.shape(1)});
        expect(out.shape(1) >= forest_->n_outputs(), "out has fewer columns than the trees add to");
        forest_->add_values(matrix(X), first, last, matrix(out), signals());
    }

    bool scans() const { return forest_->scans(); }

private:
    void expect_trees(const Array<const T, 2>& X, std::size_t first, std::size_t last) const {
        expect_shape("X", X, {X.shape(0), forest_->n_columns()});
        expect(first <= last && last <= forest_->n_trees(), "first and last must be numbers of trees");
    }

    std::unique_ptr<lyceum::trees::Forest<T>> forest_;
};

template <class T>
void bind_for(nb::module_& m, nb::class_<TreeArrays>& tree, const char* name) {
    tree.def("ends", &ends<T>, "X"_a.noconvert(), "out"_a.noconvert(), ReleaseGil(),
             "Set out to the node where the largest part of every row ends.");
    tree.def("add_ends", &add_ends<T>, "X"_a.noconvert(), "values"_a.noconvert(), "column"_a, "out"_a.noconvert(),
             ReleaseGil(), "Add the values of the nodes where every row ends, by its parts.");
    tree.def("contributions", &contributions<T>, "X"_a.noconvert(), "values"_a.noconvert(), "pick"_a.noconvert().none(),
             "out"_a.noconvert(), ReleaseGil(), "Add the change of value of every step to the column that was tested.");
    tree.def("visits", &visits<T>, "X"_a.noconvert(),
             "All nodes that rows visit, sparse: the start of every row, nodes and shares.");
    nb::class_<Packed<T>>(m, name, "Trees packed for prediction.")
        .def(nb::init<const std::vector<const TreeArrays*>&, const std::vector<Values>&,
                      const std::vector<std::size_t>&, std::size_t, int>(),
             "trees"_a, "values"_a, "columns"_a, "n_columns"_a, "engine"_a = 0)
        .def("leaves", &Packed<T>::leaves, "X"_a.noconvert(), "first"_a, "last"_a, "out"_a.noconvert(), ReleaseGil(),
             "Set out to the nodes where rows end, one column per tree.")
        .def("add_values", &Packed<T>::add_values, "X"_a.noconvert(), "first"_a, "last"_a, "out"_a.noconvert(),
             ReleaseGil(), "Add the values of the nodes where rows end, tree after tree.")
        .def_prop_ro("scans", &Packed<T>::scans, "Whether trees are scanned, not walked.");
}

}  // namespace

void bind_tree_route(nb::module_& m) {
    nb::class_<TreeArrays> tree(m, "TreeArrays", "The arrays of a Tree, checked.");
    tree.def(nb::init<const Ints&, const Kinds&, const Ints&, const Ints&, const Reals&, const Ints&, const Ints&,
                      const Ints&, const Reals&, const Ints&, const Reals&, std::size_t>(),
             "feature"_a.noconvert(), "kind"_a.noconvert(), "child"_a.noconvert(), "n_children"_a.noconvert(),
             "threshold"_a.noconvert(), "table"_a.noconvert(), "n_codes"_a.noconvert(), "missing"_a.noconvert(),
             "cuts"_a.noconvert(), "branches"_a.noconvert(), "weight"_a.noconvert(), "n_columns"_a);
    tree.def_prop_ro(
        "shares_missing", [](const TreeArrays& t) { return t.view().shares_missing(); },
        "Whether a missing cell may send a row to several children.");
    bind_for<float>(m, tree, "PackedTreesFloat");
    bind_for<double>(m, tree, "PackedTreesDouble");
}
