// A node that may still be split: its rows, their sums, and the rules that stop growth.
#pragma once
#include <lyceum/trees/grow/sorted_rows.hpp>
#include <lyceum/trees/grow/subtree.hpp>
#include <lyceum/trees/stopping_rules.hpp>

namespace lyceum::trees {

template <class Instance>
struct OpenNode {
    size_t node, depth;
    std::uint64_t seed;
    double mean;  // of the target, which is centered on it
    Bounds bounds;
    std::vector<Instance> rows;
    std::vector<double> total;
    std::vector<std::uint8_t> constant;  // columns of one value
    std::vector<FoundSplit> found;
    SortedRows sorted;
};

// The node of a child, whose rows are still to come.
template <class Instance>
OpenNode<Instance> child_of(const OpenNode<Instance>& parent, size_t number) {
    const std::uint64_t seed = mix(parent.seed + (number + 1) * 0x9E3779B97F4A7C15u);
    return {0, parent.depth + 1, seed, parent.mean, parent.bounds, {}, {}, parent.constant, {}, {}};
}

// Sums, value, weight and impurity of nodes, and whether they may be split.
template <class Target>
class NodeSummary {
public:
    using Instance = typename Target::Instance;
    static constexpr bool is_class = std::is_same_v<Instance, ClassRow>;

    NodeSummary(const Target& target, const TreeRules& rules) : target_(target), rules_(rules) {}

    size_t width() const { return is_class ? target_.size() : 1; }  // of a node's value

    // Sets the sums of an open node, and weight, impurity and value of its node in the tree.
    void summarize(Subtree& tree, OpenNode<Instance>& open) const {
        TreeNode& node = tree.nodes[open.node];
        double* value = tree.value.data() + open.node * width();
        node.n_rows = static_cast<std::int64_t>(open.rows.size());
        open.total.assign(target_.size(), 0.);
        if constexpr (is_class) {
            for (const auto& row : open.rows) target_.add(open.total.data(), row);
            node.weight = target_.weight(open.total.data());
            node.impurity = target_.impurity(open.total.data(), merit_of(target_, open.total.data()));
            std::copy_n(open.total.data(), target_.size(), value);
        } else {
            double weight = 0., sum = 0., squares = 0.;
            for (const auto& row : open.rows) weight += row.w, sum += row.w * row.y;
            const double shift = weight > 0. ? sum / weight : 0.;
            for (auto& row : open.rows) {
                row.y -= shift;
                squares += row.w * row.y * row.y;
                target_.add(open.total.data(), row);
            }
            open.mean += shift;
            node.weight = weight;
            node.impurity = spread(target_.criterion, weight, 0., squares);
            *value = open.mean;
            if (target_.criterion == Criterion::absolute) summarize_by_median(node, open, value);
        }
    }

    // The bounds of a node's children, as its target is centered.
    Bounds centered(const OpenNode<Instance>& open) const {
        return {open.bounds.lower - open.mean, open.bounds.upper - open.mean};
    }

    // The value of a node within its bounds.
    void clip(Subtree& tree, const OpenNode<Instance>& open) const {
        double* value = tree.value.data() + open.node * width();
        if constexpr (!is_class) *value = std::clamp(*value, open.bounds.lower, open.bounds.upper);
        if constexpr (is_class && Target::fixed == 2) {
            const double n = value[0] + value[1];
            value[1] = n * std::clamp(value[1] / n, open.bounds.lower, open.bounds.upper);
            value[0] = n - value[1];
        }
        // a count: its weight, sum and sum of y log y
        if constexpr (requires { target_.outputs; })
            if (!target_.first)
                value[1] = value[0] * std::clamp(value[1] / value[0], open.bounds.lower, open.bounds.upper);
    }

    // What a monotone function of a column is: the mean, the median, or the share of the second class.
    double value(const Subtree& tree, const OpenNode<Instance>& open) const {
        if (target_.criterion == Criterion::absolute) return tree.value[open.node * width()];
        std::vector<Doubles, AlignedAllocator<Doubles>> sums(target_.size());
        for (size_t k = 0; k < sums.size(); ++k) sums[k] = splat(open.total[k]);
        return open.mean + target_.value(sums.data())[0];
    }

    // `root_impurity` gives the scale of rounding errors.
    bool may_split(const TreeNode& node, const OpenNode<Instance>& open, double root_impurity) const {
        return trees::may_split(rules_, open.rows.size(), open.depth, node.impurity, open.mean, root_impurity);
    }

private:
    void summarize_by_median(TreeNode& node, const OpenNode<Instance>& open, double* value) const {
        std::vector<std::pair<double, double>> cells;
        for (const auto& row : open.rows) cells.emplace_back(row.y, row.w);
        std::sort(cells.begin(), cells.end());
        double below = 0., median = 0., cost = 0.;
        for (size_t i = 0; i < cells.size(); ++i) {
            below += cells[i].second;
            if (below < node.weight / 2 * (1 - 1e-12)) continue;
            // where the weight so far is just half, midway to the next: any point between has the same cost
            const bool half = i + 1 < cells.size() && below <= node.weight / 2 * (1 + 1e-12);
            median = half ? cells[i].first / 2 + cells[i + 1].first / 2 : cells[i].first;
            break;
        }
        for (const auto& [y, w] : cells) cost += w * std::abs(y - median);
        node.impurity = node.weight > 0. ? cost / node.weight : 0.;
        *value = open.mean + median;
    }

    const Target& target_;
    const TreeRules& rules_;
};

}  // namespace lyceum::trees
