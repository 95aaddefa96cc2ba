// Estimates of what a row costs in nanoseconds, from measurements on AVX-512; other widths scale.
#pragma once
#include <bit>
#include <lyceum/core/simd.hpp>
#include <lyceum/trees/route/tree_walk.hpp>
#include <vector>

namespace lyceum::trees {

// `bytes`: of a rank.
inline double scan_cost(const std::vector<TreeView>& trees, size_t columns, double bytes) {
    std::vector<size_t> thresholds(columns, 0);
    double cost = 0;
    for (const auto& tree : trees) {
        cost += 0.7;
        for (size_t i = 0; i < tree.nodes; ++i) {
            if (tree.split(i) == SplitKind::leaf) continue;
            cost += 0.02 * bytes * (64.0 / vector_bytes) * (tree.n_children[i] - 1);
            thresholds[tree.feature[i]] += 1;
            if (tree.split(i) > SplitKind::intervals) cost += 0.7;
        }
    }
    for (const size_t count : thresholds)
        if (count) cost += 1.0 + 0.4 * static_cast<double>(std::bit_width(count));
    return cost;
}

inline double walk_cost(const std::vector<TreeView>& trees) {
    double cost = 0;
    for (const auto& tree : trees) {
        std::vector<double> depth(tree.nodes, 0.0);
        double reach = 0, total = 0;
        for (size_t i = 0; i < tree.nodes; ++i) {
            if (tree.split(i) == SplitKind::leaf) {
                reach += tree.weight[i] * depth[i];
                total += tree.weight[i];
            } else {
                std::fill_n(depth.begin() + tree.child[i], tree.n_children[i], depth[i] + 1);
            }
        }
        cost += 1.0 + (is_two_way(tree) ? 1.0 : 5.0) * (total > 0 ? reach / total : 1.0);
    }
    return cost;
}

}  // namespace lyceum::trees
