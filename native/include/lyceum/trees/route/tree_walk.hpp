// Walks rows down one tree, many at a time so that the waits for memory overlap.
// Cost: rows · depth steps of about a nanosecond.
#pragma once
#include <bit>
#include <limits>
#include <lyceum/trees/route/tree_view.hpp>
#include <vector>

namespace lyceum::trees {

inline constexpr size_t walk_rows = 256;  // rows that are checked for missing cells at once

// The largest T that is not above the threshold: x <= threshold is x <= cut for every x of type T.
template <class T>
T cut_of(double threshold) {
    const T cut = static_cast<T>(threshold);
    return double(cut) > threshold ? std::nextafter(cut, -std::numeric_limits<T>::infinity()) : cut;
}

// A two-way node: to child() if the cell is at most the cut, else to the node after. A leaf leads to itself.
struct SmallNode {
    using Cell = float;
    static constexpr size_t most_nodes = size_t{1} << 21, most_columns = size_t{1} << 10;

    SmallNode(float cut, std::uint32_t child, std::uint32_t feature, bool missing_right)
        : cut(cut), word(child << 11 | feature << 1 | missing_right) {}
    std::uint32_t child() const { return word >> 11; }
    std::uint32_t feature() const { return word >> 1 & (most_columns - 1); }
    bool missing_right() const { return word & 1; }

    float cut;
    std::uint32_t word;
};

template <class T>
struct WideNode {
    using Cell = T;
    static constexpr size_t most_nodes = size_t{1} << 31, most_columns = size_t{1} << 31;

    WideNode(T cut, std::uint32_t child, std::uint32_t feature, bool missing_right)
        : cut(cut), to(child), word(feature << 1 | missing_right) {}
    std::uint32_t child() const { return to; }
    std::uint32_t feature() const { return word >> 1; }
    bool missing_right() const { return word & 1; }

    T cut;
    std::uint32_t to, word;
};

inline bool is_two_way(const TreeView& tree) {
    return std::all_of(tree.kind, tree.kind + tree.nodes, [](auto kind) { return kind <= 1; });
}

template <class Node>
void append_nodes(const TreeView& tree, std::vector<Node>& nodes) {
    using T = typename Node::Cell;
    for (size_t i = 0; i < tree.nodes; ++i) {
        if (tree.split(i) == SplitKind::leaf)
            nodes.emplace_back(std::numeric_limits<T>::infinity(), std::uint32_t(i), 0u, false);
        else
            nodes.emplace_back(cut_of<T>(tree.threshold[i]), std::uint32_t(tree.child[i]),
                               std::uint32_t(tree.feature[i]), tree.missing[i] == 1);
    }
}

template <class T>
bool any_missing(const T* cells, size_t count) {
    int found = 0;
    for (size_t i = 0; i < count; ++i) found |= cells[i] != cells[i];
    return found;
}

template <bool HasMissing, class Node>
std::uint32_t next_node(const Node* nodes, std::uint32_t at, const typename Node::Cell* cells) {
    const Node node = nodes[at];
    const auto cell = cells[node.feature()];
    bool right = cell > node.cut;
    if constexpr (HasMissing) right |= (cell != cell) & node.missing_right();
    return node.child() + right;
}

// Four steps of several rows; the rows that have not reached their ends are written to `unfinished`, and counted.
template <bool HasMissing, size_t Rows, class Node>
size_t walk_group(const Node* nodes, const typename Node::Cell* cells, size_t d, const std::uint32_t* rows,
                  std::int32_t* ends, std::uint32_t* unfinished) {
    std::uint32_t at[Rows];
    const typename Node::Cell* of[Rows];
    for (size_t r = 0; r < Rows; ++r) at[r] = static_cast<std::uint32_t>(ends[rows[r]]), of[r] = cells + rows[r] * d;
#pragma GCC unroll 4
    for (int step = 0; step < 4; ++step)
#pragma GCC unroll 16
        for (size_t r = 0; r < Rows; ++r) at[r] = next_node<HasMissing>(nodes, at[r], of[r]);
    size_t count = 0;
    for (size_t r = 0; r < Rows; ++r) {
        const std::uint32_t row = rows[r];
        ends[row] = static_cast<std::int32_t>(at[r]);
        unfinished[count] = row;
        count += nodes[at[r]].child() != at[r];
    }
    return count;
}

template <bool HasMissing, class Node>
void walk_tile(const Node* nodes, const typename Node::Cell* cells, size_t n, size_t d, std::int32_t* ends) {
    constexpr size_t group = 8;
    std::uint32_t walking[walk_rows];
    for (size_t i = 0; i < n; ++i) walking[i] = static_cast<std::uint32_t>(i);
    for (size_t left = n; left > 0;) {
        size_t kept = 0, g = 0;
        for (; g + group <= left; g += group)
            kept += walk_group<HasMissing, group>(nodes, cells, d, walking + g, ends, walking + kept);
        for (; g < left; ++g) kept += walk_group<HasMissing, 1>(nodes, cells, d, walking + g, ends, walking + kept);
        left = kept;
    }
}

// ends = the nodes where rows end that are at the nodes `ends` now.
template <class Node>
void walk(const Node* nodes, const typename Node::Cell* cells, size_t n, size_t d, std::int32_t* ends) {
    for (size_t i = 0; i < n; i += walk_rows) {
        const size_t count = std::min(walk_rows, n - i);
        if (any_missing(cells + i * d, count * d))
            walk_tile<true>(nodes, cells + i * d, count, d, ends + i);
        else
            walk_tile<false>(nodes, cells + i * d, count, d, ends + i);
    }
}

// A node of any kind; `table` is in the tables of the forest.
struct MixedNode {
    double threshold;
    std::int32_t feature, child, count, missing;  // count: codes or cuts
    std::int64_t table;
    SplitKind split;
};

struct MixedTables {
    std::vector<double> cuts;
    std::vector<std::int32_t> branches;
};

inline void append_nodes(const TreeView& tree, std::vector<MixedNode>& nodes, MixedTables& tables) {
    const auto cuts = static_cast<std::int64_t>(tables.cuts.size());
    const auto branches = static_cast<std::int64_t>(tables.branches.size());
    tables.cuts.insert(tables.cuts.end(), tree.cuts, tree.cuts + tree.n_cuts);
    tables.branches.insert(tables.branches.end(), tree.branches, tree.branches + tree.n_branches);
    for (size_t i = 0; i < tree.nodes; ++i) {
        const SplitKind split = tree.split(i);
        const bool by_cuts = split == SplitKind::intervals;
        nodes.push_back({tree.threshold[i], tree.feature[i], tree.child[i],
                         by_cuts ? tree.n_children[i] - 1 : tree.n_codes[i], tree.missing[i],
                         tree.table[i] + (by_cuts ? cuts : branches), split});
    }
}

// The node where a row ends; a part of a row cannot be followed here, it stays where the cell is missing.
template <class T>
std::int32_t walk_mixed(const MixedNode* nodes, const MixedTables& tables, const T* cells) {
    std::int32_t at = 0;
    for (;;) {
        const MixedNode& node = nodes[at];
        if (node.split == SplitKind::leaf) return at;
        const auto cell = static_cast<double>(cells[node.feature]);
        std::int32_t branch = stays;
        if (std::isnan(cell)) {
            branch = node.missing;
        } else if (node.split == SplitKind::threshold) {
            branch = !(cell <= node.threshold);
        } else if (node.split == SplitKind::intervals) {
            const double* first = tables.cuts.data() + node.table;
            branch = static_cast<std::int32_t>(std::lower_bound(first, first + node.count, cell) - first);
        } else if (cell >= 0 && cell < node.count) {
            branch = tables.branches[static_cast<size_t>(node.table + static_cast<int>(cell))];
        }
        if (branch < 0) return at;
        at = node.child + branch;
    }
}

}  // namespace lyceum::trees
