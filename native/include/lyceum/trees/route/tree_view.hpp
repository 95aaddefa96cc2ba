// The arrays of a Tree (see src/lyceum/tree_core/_tree.py), checked once so that kernels may index them freely.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <lyceum/core/views.hpp>
#include <lyceum/trees/split_kind.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace lyceum::trees {

inline constexpr int stays = -1;   // the row ends at the node
inline constexpr int shared = -2;  // the row goes to every child in part

struct TreeView {
    size_t nodes;
    const std::int32_t* feature;
    const std::uint8_t* kind;
    const std::int32_t* child;
    const std::int32_t* n_children;
    const double* threshold;
    const std::int32_t* table;
    const std::int32_t* n_codes;
    const std::int32_t* missing;
    const double* cuts;
    size_t n_cuts;
    const std::int32_t* branches;
    size_t n_branches;
    const double* weight;

    SplitKind split(size_t i) const { return static_cast<SplitKind>(kind[i]); }

    // The number of the child that a cell leads to, `stays` or `shared`.
    int branch(size_t i, double cell) const {
        const SplitKind how = split(i);
        if (how == SplitKind::leaf) return stays;
        if (std::isnan(cell)) return missing[i] < 0 ? shared : missing[i];
        if (how == SplitKind::threshold) return !(cell <= threshold[i]);
        if (how == SplitKind::intervals) {
            const double* first = cuts + table[i];
            return static_cast<int>(std::lower_bound(first, first + n_children[i] - 1, cell) - first);
        }
        return cell >= 0 && cell < n_codes[i] ? branches[table[i] + static_cast<int>(cell)] : stays;
    }

    // The share of the rows of node i that went to its child number b: equal shares if no weight went anywhere.
    double share(size_t i, int b) const {
        double total = 0;
        for (int c = 0; c < n_children[i]; ++c) total += weight[child[i] + c];
        return total > 0 ? weight[child[i] + b] / total : 1.0 / n_children[i];
    }

    bool shares_missing() const {
        for (size_t i = 0; i < nodes; ++i)
            if (split(i) != SplitKind::leaf && missing[i] < 0) return true;
        return false;
    }

    // Throws unless every index leads inside the arrays, every child comes after its parent, and every node but the
    // root is the child of exactly one node: then all nodes are reached from the root, each on one path.
    void check(size_t columns) const {
        if (nodes == 0) fail(0, "is missing: a tree has at least one node");
        std::vector<std::uint8_t> has_parent(nodes, 0);
        for (size_t i = 0; i < nodes; ++i) {
            if (!(weight[i] >= 0 && std::isfinite(weight[i]))) fail(i, "has no finite weight");
            if (split(i) == SplitKind::leaf) continue;
            check_inner(i, columns);
            for (int c = 0; c < n_children[i]; ++c)
                if (has_parent[child[i] + c]++) fail(child[i] + c, "has two parents");
        }
        for (size_t i = 1; i < nodes; ++i)
            if (!has_parent[i]) fail(i, "is not reached from the root");
    }

private:
    void check_inner(size_t i, size_t columns) const {
        const auto size = static_cast<std::int64_t>(nodes);
        if (kind[i] > static_cast<std::uint8_t>(SplitKind::groups)) fail(i, "has an unknown kind of split");
        if (feature[i] < 0 || static_cast<size_t>(feature[i]) >= columns) fail(i, "tests a column that does not exist");
        if (n_children[i] < 2) fail(i, "must have two children or more");
        if (child[i] <= static_cast<std::int64_t>(i) || child[i] + std::int64_t{n_children[i]} > size)
            fail(i, "must have its children after itself and among the nodes");
        if (missing[i] < -1 || missing[i] >= n_children[i])
            fail(i, "sends missing cells to a child that does not exist");
        if (split(i) == SplitKind::threshold && (n_children[i] != 2 || std::isnan(threshold[i])))
            fail(i, "must have two children and a threshold");
        if (split(i) == SplitKind::intervals) check_cuts(i);
        if (split(i) == SplitKind::categories || split(i) == SplitKind::groups) check_branches(i);
    }

    void check_cuts(size_t i) const {
        const std::int64_t first = table[i], count = n_children[i] - 1;
        if (first < 0 || first + count > static_cast<std::int64_t>(n_cuts)) fail(i, "has cuts outside the table");
        for (std::int64_t c = first; c < first + count; ++c)
            if (std::isnan(cuts[c]) || (c > first && cuts[c] <= cuts[c - 1])) fail(i, "has cuts that do not rise");
    }

    void check_branches(size_t i) const {
        const std::int64_t first = table[i], count = n_codes[i];
        if (first < 0 || count < 0 || first + count > static_cast<std::int64_t>(n_branches))
            fail(i, "has branches outside the table");
        for (std::int64_t c = first; c < first + count; ++c)
            if (branches[c] < -1 || branches[c] >= n_children[i])
                fail(i, "has a branch to a child that does not exist");
    }

    [[noreturn]] static void fail(size_t i, const char* what) {
        throw std::invalid_argument("node " + std::to_string(i) + " of the tree " + what);
    }
};

}  // namespace lyceum::trees
