// A tree as it grows: its nodes and their tables, and subtrees put together.
#pragma once
#include <algorithm>

#include <lyceum/trees/growth_rules.hpp>

namespace lyceum::trees {

struct TreeNode {
    std::int32_t feature = -2;  // of a leaf, as in scikit-learn
    SplitKind kind = SplitKind::leaf;
    std::int32_t child = -1, n_children = 0, table = -1, n_codes = 0, missing = -1;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    double weight = 0.;
    std::int64_t n_rows = 0;
    double impurity = 0., gain = 0.;
};

struct Considered {  // a column at a node, and the gain of its best split
    std::int32_t node, feature;
    double gain, score, threshold;
};

struct Subtree {
    std::vector<TreeNode> nodes;
    std::vector<double> value, cuts;
    std::vector<std::int32_t> branches;
    std::vector<Considered> record;
};

// Puts a subtree in the place of the node that it was grown from.
inline void attach(Subtree& tree, size_t node, Subtree& subtree, size_t width) {
    if (subtree.nodes.empty()) return;
    const auto base = static_cast<std::int32_t>(tree.nodes.size()) - 1;
    const auto cuts = static_cast<std::int32_t>(tree.cuts.size());
    const auto branches = static_cast<std::int32_t>(tree.branches.size());
    for (auto& moved : subtree.nodes) {
        if (moved.kind == SplitKind::leaf) continue;
        moved.child += base;
        if (moved.table >= 0) moved.table += moved.kind == SplitKind::intervals ? cuts : branches;
    }
    for (auto& seen : subtree.record) {
        seen.node = seen.node ? seen.node + base : static_cast<std::int32_t>(node);
        tree.record.push_back(seen);
    }
    tree.nodes[node] = subtree.nodes[0];
    tree.nodes.insert(tree.nodes.end(), subtree.nodes.begin() + 1, subtree.nodes.end());
    tree.value.insert(tree.value.end(), subtree.value.begin() + static_cast<std::ptrdiff_t>(width),
                      subtree.value.end());
    tree.cuts.insert(tree.cuts.end(), subtree.cuts.begin(), subtree.cuts.end());
    tree.branches.insert(tree.branches.end(), subtree.branches.begin(), subtree.branches.end());
    subtree = {};
}

// The same tree with its nodes level by level, so that the numbers do not depend on the order of growth.
inline Subtree number_by_level(Subtree&& tree, size_t width) {
    const size_t n = tree.nodes.size(), w = width;
    std::vector<size_t> order{0};
    std::vector<std::int32_t> number(n);
    for (size_t at = 0; at < order.size(); ++at) {
        number[order[at]] = static_cast<std::int32_t>(at);
        const TreeNode& node = tree.nodes[order[at]];
        for (std::int32_t c = 0; c < node.n_children; ++c) order.push_back(static_cast<size_t>(node.child + c));
    }
    Subtree out;
    out.nodes.reserve(n);
    out.value.reserve(n * w);
    for (const size_t old : order) {
        TreeNode node = tree.nodes[old];
        if (node.kind != SplitKind::leaf) node.child = number[static_cast<size_t>(node.child)];
        const auto copied = [&](auto& from, auto& to, std::int32_t count) {
            const auto start = from.begin() + node.table;
            node.table = static_cast<std::int32_t>(to.size());
            to.insert(to.end(), start, start + count);
        };
        if (node.kind == SplitKind::intervals) copied(tree.cuts, out.cuts, node.n_children - 1);
        if (node.n_codes) copied(tree.branches, out.branches, node.n_codes);
        out.nodes.push_back(node);
        out.value.insert(out.value.end(), tree.value.begin() + static_cast<std::ptrdiff_t>(old * w),
                         tree.value.begin() + static_cast<std::ptrdiff_t>((old + 1) * w));
    }
    out.record = std::move(tree.record);
    for (auto& seen : out.record) seen.node = number[static_cast<size_t>(seen.node)];
    std::stable_sort(out.record.begin(), out.record.end(),
                     [](const auto& a, const auto& b) { return a.node < b.node; });
    return out;
}

}  // namespace lyceum::trees
