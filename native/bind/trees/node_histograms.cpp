#include <lyceum/trees/grow/node_histograms.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Ints = Array<const std::int32_t, 1>;
using Places = Array<const std::int64_t, 1>;
using Doubles = Array<const double, 1>;

std::string at(const char* name, std::size_t i) { return std::string(name) + "[" + std::to_string(i) + "]"; }

// Offsets that rise, and every code in its column's cells.
template <class Code>
lyceum::trees::CodeCells checked_cells(const Array<const Code, 2>& codes, const Places& offsets, std::size_t wanted) {
    const std::size_t n = codes.shape(0), d = codes.shape(1);
    expect_shape("offsets", offsets, {d + 1});
    const std::int64_t* start = offsets.data();
    expect(start[0] == 0 && start[d] == static_cast<std::int64_t>(wanted),
           "offsets must go from 0 to the " + std::to_string(wanted) + " cells of out");
    std::vector<Code> most(d);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < d; ++j) most[j] = std::max(most[j], codes.data()[i * d + j]);
    for (std::size_t j = 0; j < d; ++j)
        expect(start[j] < start[j + 1] && (n == 0 || most[j] < start[j + 1] - start[j]),
               at("column ", j) + " has the code " + std::to_string(most[j]) + ", but " +
                   std::to_string(start[j + 1] - start[j]) + " cells");
    return {start, d};
}

// Children come after their parent, branches stay among them, slots are those of out.
lyceum::trees::CodedTree checked_tree(const Ints& feature, const Places& table, const Ints& branches, const Ints& child,
                                      const Ints& n_children, const Doubles& share, const Ints& slot,
                                      lyceum::trees::CodeCells cells, std::size_t slots) {
    const std::size_t m = feature.shape(0);
    expect(m > 0, "the tree must have a root");
    expect_shape("table", table, {m});
    expect_shape("child", child, {m});
    expect_shape("n_children", n_children, {m});
    expect_shape("share", share, {m});
    expect_shape("slot", slot, {m});
    const lyceum::trees::CodedTree tree{feature.data(),    table.data(), branches.data(), child.data(),
                                        n_children.data(), share.data(), slot.data()};
    for (std::size_t i = 0; i < m; ++i) {
        expect(tree.slot[i] < static_cast<std::int64_t>(slots), at("slot", i) + " is not a slot of out");
        const std::int64_t j = tree.feature[i];
        if (j < 0) continue;
        expect(j < static_cast<std::int64_t>(cells.d), at("feature", i) + " is not a column");
        const std::int64_t first = tree.child[i], last = first + tree.n_children[i];
        expect(first > static_cast<std::int64_t>(i) && tree.n_children[i] > 0 && last <= static_cast<std::int64_t>(m),
               at("child", i) + " does not begin a run of later nodes");
        const std::int64_t size = cells.offsets[j + 1] - cells.offsets[j];
        expect(tree.table[i] >= 0 && tree.table[i] + size <= static_cast<std::int64_t>(branches.shape(0)),
               at("table", i) + " runs past the branches");
        for (std::int64_t c = 0; c < size; ++c) {
            const std::int32_t to = tree.branches[tree.table[i] + c];
            expect(to == -1 || to == lyceum::trees::every_child || (to >= first && to < last),
                   at("branches", static_cast<std::size_t>(tree.table[i] + c)) + " is not a child of its node");
        }
    }
    return tree;
}

template <class Code>
void class_histograms(Array<const Code, 2> codes, Places offsets, Ints feature, Places table, Ints branches, Ints child,
                      Ints n_children, Doubles share, Ints slot, CodesArray y, Weights w, bool counted,
                      Array<double, 3> out) {
    const auto n = codes.shape(0), slots = out.shape(0), channels = out.shape(2);
    expect(channels > static_cast<std::size_t>(counted), "out must have a channel for every class");
    expect_shape("y", y, {n});
    const auto cells = checked_cells(codes, offsets, out.shape(1));
    const auto tree = checked_tree(feature, table, branches, child, n_children, share, slot, cells, slots);
    const lyceum::trees::ClassTarget target{lyceum::Codes{y.data(), channels - counted}, counted};
    lyceum::trees::node_histograms(matrix(codes), cells, tree, target, data_or_null("w", w, {n}), slots, out.data(),
                                   signals());
}

template <class Code>
void number_histograms(Array<const Code, 2> codes, Places offsets, Ints feature, Places table, Ints branches,
                       Ints child, Ints n_children, Doubles share, Ints slot, Doubles y, Weights w, Doubles center,
                       Array<double, 3> out) {
    const auto n = codes.shape(0), slots = out.shape(0);
    expect_shape("out", out, {slots, out.shape(1), lyceum::trees::NumberTarget::channels()});
    expect_shape("y", y, {n});
    expect_shape("center", center, {slots});
    const auto cells = checked_cells(codes, offsets, out.shape(1));
    const auto tree = checked_tree(feature, table, branches, child, n_children, share, slot, cells, slots);
    const lyceum::trees::NumberTarget target{y.data(), center.data()};
    lyceum::trees::node_histograms(matrix(codes), cells, tree, target, data_or_null("w", w, {n}), slots, out.data(),
                                   signals());
}

template <class T, class Code>
void bin_ranges(Array<const T, 2> X, Array<const Code, 2> codes, Places offsets, Array<double, 1> low,
                Array<double, 1> high) {
    expect_shape("codes", codes, {X.shape(0), X.shape(1)});
    expect_shape("high", high, {low.shape(0)});
    const auto cells = checked_cells(codes, offsets, low.shape(0));
    lyceum::trees::bin_ranges(matrix(X), codes.data(), cells, low.data(), high.data(), signals());
}

template <class T, class Code>
void bind_ranges(nb::module_& m) {
    m.def("bin_ranges", &bin_ranges<T, Code>, "X"_a.noconvert(), "codes"_a.noconvert(), "offsets"_a.noconvert(),
          "low"_a.noconvert(), "high"_a.noconvert(), ReleaseGil(),
          "Lower low and raise high to the values in every cell of every column; missing values are in none.");
}

template <class Code>
void bind(nb::module_& m) {
    m.def("class_histograms", &class_histograms<Code>, "codes"_a.noconvert(), "offsets"_a.noconvert(),
          "feature"_a.noconvert(), "table"_a.noconvert(), "branches"_a.noconvert(), "child"_a.noconvert(),
          "n_children"_a.noconvert(), "share"_a.noconvert(), "slot"_a.noconvert(), "y"_a.noconvert(),
          "w"_a.noconvert().none(), "counted"_a, "out"_a.noconvert(), ReleaseGil(),
          "Add every row's weight to out[slot, cell of every column, class]; count rows in one more channel.");
    m.def("number_histograms", &number_histograms<Code>, "codes"_a.noconvert(), "offsets"_a.noconvert(),
          "feature"_a.noconvert(), "table"_a.noconvert(), "branches"_a.noconvert(), "child"_a.noconvert(),
          "n_children"_a.noconvert(), "share"_a.noconvert(), "slot"_a.noconvert(), "y"_a.noconvert(),
          "w"_a.noconvert().none(), "center"_a.noconvert(), "out"_a.noconvert(), ReleaseGil(),
          "Add every row's weight, w z, w z² and 1, z = y - center[slot], to out[slot, cell of every column].");
}

}  // namespace

void bind_node_histograms(nb::module_& m) {
    bind<std::uint8_t>(m);
    bind<std::uint16_t>(m);
    bind_ranges<float, std::uint8_t>(m);
    bind_ranges<double, std::uint8_t>(m);
}
