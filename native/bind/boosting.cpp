#include <nanobind/stl/vector.h>

#include <limits>
#include <tuple>
#include <vector>

#include <lyceum/boosting/bin_codes.hpp>
#include <lyceum/boosting/integer_gradients.hpp>
#include <lyceum/boosting/losses.hpp>
#include <lyceum/boosting/route_rows.hpp>
#include <lyceum/boosting/tree_grower.hpp>

#include "arrays.hpp"

using namespace nb::literals;
namespace boosting = lyceum::boosting;

namespace {

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::device::cpu>;  // of any strides
using Numbers = Array<const double, 1>;
using Integers = Array<const std::int32_t, 1>;
using Flags = Array<const std::uint8_t, 1>;
using HeldBytes = HeldArray<const std::uint8_t, 2>;
using HeldIntegers = HeldArray<const std::int32_t, 1>;
using HeldFlags = HeldArray<const std::uint8_t, 1>;
using NodeNumbers = Array<std::uint16_t, 1>;

template <class T>
void bin_codes(Array<const T, 2> X, Array<const T, 2> edges, Integers n_bins, Array<const std::int64_t, 1> start,
               Flags table, Bytes out, Maybe<Bytes> columns) {
    const auto n = X.shape(0), d = n_bins.shape(0);
    expect_shape("X", X, {n, d});
    expect_shape("edges", edges, {d, lyceum::boosting::edge_slots});
    expect_shape("start", start, {d + 1});
    expect_shape("out", out, {n, d});
    if (columns) {
        expect_shape("columns", *columns, {d, n});
        expect(n < 2 || columns->stride(1) == 1, "the cells of a column must follow each other in columns");
    }
    for (std::size_t j = 0; j < d; ++j) {
        expect(n_bins.data()[j] >= 0 && n_bins.data()[j] < 256, "a column has more than 255 bins");
        expect(start.data()[j] >= 0 && start.data()[j] <= start.data()[j + 1], "start must not decrease");
    }
    expect(static_cast<std::size_t>(start.data()[d]) == table.shape(0), "start does not end where the table does");
    lyceum::boosting::bin_codes<T>(matrix(X), {edges.data(), n_bins.data(), start.data(), table.data()}, out.data(),
                                   out.stride(0), out.stride(1), columns ? columns->data() : nullptr,
                                   columns ? columns->stride(0) : 0, signals());
}

// How a tree is grown.
struct BoostRules {
    std::size_t max_leaves = 31, max_depth = std::numeric_limits<std::size_t>::max();
    std::int64_t min_rows = 1;
    double l2 = 0, smoothing = 0, min_hessian = 0;
    bool exact = false;                        // sums in 64 bits, for losses that need every digit
    double max_gradient = 0, max_hessian = 0;  // upper bounds, 0: taken from the rows

    std::vector<std::int8_t> directions;  // of every column: 1 rising, -1 falling, 0 free; empty: all free
    std::vector<std::uint8_t> sets;       // (sets, columns): those that may be on one path; empty: all

    boosting::Growth growth(std::size_t d) const {
        expect(directions.empty() || directions.size() == d, "directions must have one number per column");
        expect(sets.size() % d == 0, "sets must have one flag per column");
        return {max_leaves,
                max_depth,
                {l2, smoothing, min_hessian, min_rows},
                directions.empty() ? nullptr : directions.data(),
                sets.empty() ? nullptr : sets.data(),
                sets.size() / d};
    }
};

// The nodes of a tree as arrays.
struct GrownArrays {
    std::vector<std::int32_t> splits;  // (4, nodes): column (-1: a leaf), bin, first child, whether missing goes left
    std::vector<double> gain;
    std::vector<std::int64_t> n_rows;
    std::vector<std::uint8_t> sides;  // (nodes, slots): of categories, 0 left, 1 right, 2 stay

    GrownArrays() = default;
    explicit GrownArrays(const std::vector<boosting::Node>& nodes)
        : splits(4 * nodes.size()), gain(nodes.size()), n_rows(nodes.size()), sides(nodes.size() * boosting::slots, 2) {
        const std::size_t count = nodes.size();
        for (std::size_t k = 0; k < count; ++k) {
            const auto& [node, split] = std::tie(nodes[k], nodes[k].split);
            const bool leaf = node.child < 0;
            splits[k] = leaf ? -1 : split.column;
            splits[count + k] = leaf ? -1 : split.bin;
            splits[2 * count + k] = node.child;
            splits[3 * count + k] = leaf ? 0 : split.missing_left;
            gain[k] = leaf ? 0 : split.gain;
            n_rows[k] = static_cast<std::int64_t>(node.end - node.begin);
            if (!leaf && split.is_category) std::copy_n(split.sides, boosting::slots, &sides[k * boosting::slots]);
        }
    }
};

// All rows of a table in bins, and the buffers of the trees that are grown on them. No thread outlives a call.
class BoostTable {
public:
    BoostTable(const Bytes& rows, const HeldBytes& columns, const HeldIntegers& n_bins, const HeldFlags& is_category)
        : rows_(rows), columns_(columns), n_bins_(n_bins), is_category_(is_category) {
        const auto d = columns.shape(0), n = columns.shape(1);
        expect(d > 0 && n < 0xffffffffu, "a table has at least a column, and fewer than 2**32 - 1 rows");
        expect_shape("rows", rows, {n, d});
        expect_shape("n_bins", n_bins, {d});
        expect_shape("is_category", is_category, {d});
        expect(n < 2 || (rows.stride(1) == 1 && rows.stride(0) >= static_cast<std::int64_t>(d)),
               "the cells of a row must follow each other in rows");
        table_ = {rows.data(),
                  columns.data(),
                  n_bins.data(),
                  is_category.data(),
                  n,
                  d,
                  n < 2 ? d : static_cast<std::size_t>(rows.stride(0))};
        for (std::size_t j = 0; j < d; ++j) {
            expect(n_bins.data()[j] >= 1 && n_bins.data()[j] < 256, "a column has 1 to 255 bins");
            std::uint8_t top = 0;
            for (std::size_t i = 0; i < n; ++i) top = std::max(top, columns.data()[j * n + i]);
            expect(top <= n_bins.data()[j], "a code is above the bin of missing cells");
        }
    }

    // Returns the splits, gains, row counts and category sides of the nodes; sets the node of every row grown on.
    nb::tuple grow(Numbers g, Maybe<Numbers> h, Maybe<Array<const std::uint32_t, 1>> rows, Flags in_use,
                   const BoostRules& rules, std::size_t threads, NodeNumbers node) {
        expect(rules.max_leaves >= 1 && rules.max_leaves <= 32768, "max_leaves must be from 1 to 32768");
        expect(rules.min_rows >= 1, "min_rows must be at least 1");
        expect_shape("g", g, {table_.n});
        expect_shape("in_use", in_use, {table_.d});
        expect_shape("node", node, {table_.n});
        const double* hessian = data_or_null("h", h, {table_.n});
        const boosting::Growth growth = rules.growth(table_.d);
        const std::size_t count = rows ? rows->shape(0) : table_.n;
        GrownArrays tree;
        {
            nb::gil_scoped_release release;
            if (rows) copy_row_numbers(rows->data(), count);
            lyceum::ThreadTeam team(threads);
            const auto gradients = boosting::in_units(g.data(), hessian, table_.n, rules.exact, rules.max_gradient,
                                                      rules.max_hessian, units_, team);
            boosting::Grower grower(table_, growth, gradients, in_use.data(), count, rows.has_value(), buffers_, team,
                                    signals());
            const auto& nodes = grower.grow();
            if (rows) std::fill_n(node.data(), table_.n, boosting::nowhere);
            write_nodes(nodes, grower.is_listed() ? buffers_.numbers.data() : nullptr, node.data(), team);
            tree = GrownArrays(nodes);
        }
        const std::size_t n_nodes = tree.gain.size();
        return nb::make_tuple(to_numpy(std::move(tree.splits), n_nodes), to_numpy(std::move(tree.gain)),
                              to_numpy(std::move(tree.n_rows)), to_numpy(std::move(tree.sides), boosting::slots));
    }

    void route(Array<const std::int32_t, 2> splits, Array<const std::uint8_t, 2> sides, bool rest, std::size_t threads,
               NodeNumbers node) {
        const auto most = splits.shape(1);
        expect_shape("splits", splits, {4, most});
        expect_shape("sides", sides, {most, boosting::slots});
        expect_shape("node", node, {table_.n});
        for (std::size_t k = 0; k < most; ++k)
            if (splits.data()[k] >= 0) {
                const auto child = splits.data()[2 * most + k];
                expect(static_cast<std::size_t>(splits.data()[k]) < table_.d,
                       "a split is on a column that does not exist");
                expect(child > static_cast<std::int32_t>(k) && static_cast<std::size_t>(child) + 1 < most,
                       "children come after their parents");
            }
        lyceum::ThreadTeam team(threads);
        std::vector<std::uint8_t> missing_left(most);
        for (std::size_t k = 0; k < most; ++k) missing_left[k] = splits.data()[3 * most + k] != 0;
        boosting::route(
            table_,
            {splits.data(), splits.data() + most, splits.data() + 2 * most, missing_left.data(), sides.data(), most},
            rest, node.data(), team);
    }

private:
    void copy_row_numbers(const std::uint32_t* rows, std::size_t count) {
        buffers_.numbers.resize(std::max(buffers_.numbers.size(), count + boosting::ahead));
        for (std::size_t i = 0; i < count; ++i) {
            expect(rows[i] < table_.n, "a row number is out of range");
            buffers_.numbers[i] = rows[i];
        }
    }

    // `numbers` are the row numbers that the ranges of the nodes refer to, null: the rows themselves.
    static void write_nodes(const std::vector<boosting::Node>& nodes, const std::uint32_t* numbers, std::uint16_t* out,
                            lyceum::ThreadTeam& team) {
        team(nodes.size(), [&](std::size_t k) {
            if (nodes[k].child >= 0) return;
            for (std::size_t i = nodes[k].begin; i < nodes[k].end; ++i)
                out[numbers ? numbers[i] : i] = static_cast<std::uint16_t>(k);
        });
    }

    Bytes rows_;
    HeldBytes columns_;
    HeldIntegers n_bins_;
    HeldFlags is_category_;
    boosting::Table table_;
    boosting::GrowBuffers buffers_;
    boosting::UnitBuffers units_;
};

double logistic(CodesArray y, Numbers score, Weights w, std::size_t threads, Array<double, 1> g, Array<double, 1> h) {
    const auto n = y.shape(0);
    expect_shape("score", score, {n});
    expect_shape("g", g, {n});
    expect_shape("h", h, {n});
    lyceum::ThreadTeam team(threads);
    return boosting::logistic(y.data(), score.data(), data_or_null("w", w, {n}), n, g.data(), h.data(), team);
}

void expect_classes(const CodesArray& y, std::size_t K) {
    for (std::size_t i = 0; i < y.shape(0); ++i)
        expect(y.data()[i] >= 0 && static_cast<std::size_t>(y.data()[i]) < K, "a class code is out of range");
}

double log_sums(CodesArray y, Array<const double, 2> score, Weights w, std::size_t threads, Array<double, 1> out) {
    const auto n = y.shape(0), K = score.shape(0);
    expect_shape("score", score, {K, n});
    expect_shape("out", out, {n});
    expect_classes(y, K);
    lyceum::ThreadTeam team(threads);
    return boosting::log_sums(y.data(), score.data(), data_or_null("w", w, {n}), n, K, out.data(), team);
}

void softmax(CodesArray y, Array<const double, 2> score, Numbers sums, Weights w, std::size_t k, std::size_t threads,
             Array<double, 1> g, Array<double, 1> h) {
    const auto n = y.shape(0), K = score.shape(0);
    expect_shape("score", score, {K, n});
    expect_shape("sums", sums, {n});
    expect_shape("g", g, {n});
    expect_shape("h", h, {n});
    expect(k < K && K > 1, "there is no such class");
    lyceum::ThreadTeam team(threads);
    boosting::softmax(y.data(), score.data() + k * n, sums.data(), data_or_null("w", w, {n}), n, k, K, g.data(),
                      h.data(), team);
}

template <boosting::Residual Kind>
double residual_loss(Numbers y, Numbers score, Weights w, double alpha, std::size_t threads, Array<double, 1> g) {
    const auto n = y.shape(0);
    expect_shape("score", score, {n});
    expect_shape("g", g, {n});
    lyceum::ThreadTeam team(threads);
    return boosting::residual_loss<Kind>(y.data(), score.data(), data_or_null("w", w, {n}), n, alpha, g.data(), team);
}

void node_sums(Array<const std::uint16_t, 1> node, Numbers g, Maybe<Numbers> h, Weights w, std::size_t threads,
               Array<double, 2> out) {
    const auto n = node.shape(0);
    expect_shape("g", g, {n});
    expect_shape("out", out, {out.shape(0), 3});
    lyceum::ThreadTeam team(threads);
    boosting::node_sums(node.data(), g.data(), data_or_null("h", h, {n}), data_or_null("w", w, {n}), n, out.shape(0),
                        out.data(), team);
}

void add_node_values(Array<const std::uint16_t, 1> node, Numbers value, std::size_t threads, Array<double, 1> score) {
    const auto n = node.shape(0);
    expect_shape("score", score, {n});
    std::uint16_t top = 0;
    for (std::size_t i = 0; i < n; ++i) top = std::max(top, node.data()[i]);
    expect(n == 0 || top < value.shape(0), "a row is at a node that does not exist");
    lyceum::ThreadTeam team(threads);
    boosting::add_values(node.data(), value.data(), n, score.data(), team);
}

template <class T>
void bind(nb::module_& m) {
    m.def("bin_codes", &bin_codes<T>, "X"_a.noconvert(), "edges"_a.noconvert(), "n_bins"_a.noconvert(),
          "start"_a.noconvert(), "table"_a.noconvert(), "out"_a.noconvert(), "columns"_a.noconvert().none(),
          ReleaseGil(), "Write the bins of X to out (n, d), of any strides, and to columns (d, n) if given.");
}

template <boosting::Residual Kind>
void bind_residual(nb::module_& m, const char* name, const char* text) {
    m.def(name, &residual_loss<Kind>, "y"_a.noconvert(), "score"_a.noconvert(), "w"_a.noconvert().none(), "alpha"_a,
          "threads"_a, "g"_a.noconvert(), ReleaseGil(), text);
}

}  // namespace

void bind_boosting(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    nb::class_<BoostRules>(m, "BoostRules", "How a tree of gradients is grown.")
        .def(nb::init<>())
        .def_rw("max_leaves", &BoostRules::max_leaves)
        .def_rw("max_depth", &BoostRules::max_depth)
        .def_rw("min_rows", &BoostRules::min_rows)
        .def_rw("l2", &BoostRules::l2)
        .def_rw("smoothing", &BoostRules::smoothing)
        .def_rw("min_hessian", &BoostRules::min_hessian)
        .def_rw("exact", &BoostRules::exact)
        .def_rw("max_gradient", &BoostRules::max_gradient)
        .def_rw("max_hessian", &BoostRules::max_hessian)
        .def_rw("directions", &BoostRules::directions)
        .def_rw("sets", &BoostRules::sets);
    nb::class_<BoostTable>(m, "BoostTable", "Rows in bins, to grow trees of gradients on.")
        .def(nb::init<const Bytes&, const HeldBytes&, const HeldIntegers&, const HeldFlags&>(), "rows"_a.noconvert(),
             "columns"_a.noconvert(), "n_bins"_a.noconvert(), "is_category"_a.noconvert())
        .def(
            "grow", &BoostTable::grow, "g"_a.noconvert(), "h"_a.noconvert().none(), "rows"_a.noconvert().none(),
            "in_use"_a.noconvert(), "rules"_a, "threads"_a, "node"_a.noconvert(),
            "Grow a tree; set node of its rows. Return splits (column, bin, child, missing_left), gain, n_rows, sides.")
        .def("route", &BoostTable::route, "splits"_a.noconvert(), "sides"_a.noconvert(), "rest"_a, "threads"_a,
             "node"_a.noconvert(), ReleaseGil(),
             "Set node to where every row ends; with `rest` only for rows that have none yet.");
    m.def("boost_logistic", &logistic, "y"_a.noconvert(), "score"_a.noconvert(), "w"_a.noconvert().none(), "threads"_a,
          "g"_a.noconvert(), "h"_a.noconvert(), ReleaseGil(),
          "Gradients of the logistic loss; returns the summed loss.");
    m.def("boost_log_sums", &log_sums, "y"_a.noconvert(), "score"_a.noconvert(), "w"_a.noconvert().none(), "threads"_a,
          "out"_a.noconvert(), ReleaseGil(), "log Σ_k exp(s_k) of every row; returns the summed multinomial loss.");
    m.def("boost_softmax", &softmax, "y"_a.noconvert(), "score"_a.noconvert(), "sums"_a.noconvert(),
          "w"_a.noconvert().none(), "k"_a, "threads"_a, "g"_a.noconvert(), "h"_a.noconvert(), ReleaseGil(),
          "Gradients of the multinomial loss for class k.");
    bind_residual<boosting::Residual::squared>(m, "boost_squared",
                                               "Gradients of the squared loss; returns the summed loss.");
    bind_residual<boosting::Residual::huber>(m, "boost_huber", "Gradients of Huber's loss; returns the summed loss.");
    bind_residual<boosting::Residual::quantile>(m, "boost_quantile",
                                                "Gradients of the quantile loss; returns the summed loss.");
    m.def("boost_node_sums", &node_sums, "node"_a.noconvert(), "g"_a.noconvert(), "h"_a.noconvert().none(),
          "w"_a.noconvert().none(), "threads"_a, "out"_a.noconvert(), ReleaseGil(),
          "Add the sums of g, h and w over the rows of every node to out.");
    m.def("boost_add_values", &add_node_values, "node"_a.noconvert(), "value"_a.noconvert(), "threads"_a,
          "score"_a.noconvert(), ReleaseGil(), "Add the value of its node to every row's score.");
}
