// The best split of a node by one column: which search it takes.
//
//   tree_rules.hpp       how a tree is grown, what is found           tree_thresholds.hpp  the best threshold
//   tree_score.hpp       a node and its column, gain and score        tree_drawn.hpp       a threshold that is drawn
//   tree_places.hpp      the merits of many cuts at a time            tree_intervals.hpp   several intervals
//   tree_group_cut.hpp   the best cut of rows grouped by code         tree_categories.hpp  splits by categories
#pragma once
#include <lyceum/trees/split/category_splits.hpp>
#include <lyceum/trees/split/interval_splits.hpp>
#include <lyceum/trees/split/random_threshold.hpp>
#include <lyceum/trees/split/thresholds.hpp>

namespace lyceum::trees {

template <class Target>
class SplitSearch {
public:
    using Instance = typename Target::Instance;

    SplitSearch(const Target& target, const TreeColumns& columns, const TreeRules& rules)
        : node_(target, columns, rules) {}

    // A node of such an impurity is next.
    void begin(double impurity) { node_.begin(impurity); }

    // `total` are the sums of all rows; `sorted` is the order of the rows, if it is known; the random numbers are used
    // by random splits only.
    Found operator()(const Instance* rows, size_t m, const double* total, size_t j, const std::uint64_t* sorted,
                     NodeRandom random) {
        node_.rows = rows;
        node_.m = m;
        const bool few_codes = node_.columns.missing(j) <= Thresholds<Target>::most_bins;
        const bool plain = !node_.columns.is_category[j] && !node_.rules.multi_way && !node_.by_medians();
        if (!draws(j) && !(plain && (sorted || few_codes)))
            return among(node_.grouping(rows, m, j, sorted), total, j, random);
        node_.at(total, j);
        Found found;
        if (draws(j))
            drawn_.of_rows(found, random);
        else if (sorted)
            thresholds_.of_sorted(found, sorted);
        else
            thresholds_.of_bins(found);
        return found;
    }

    // The same of rows that are summed by code already. The absolute error is no such sum.
    Found among(const Groups& groups, const double* total, size_t j, NodeRandom random) {
        node_.at(total, j);
        node_.groups = &groups;
        Found found;
        if (draws(j)) {
            drawn_.of_groups(found, random);
            return found;
        }
        const bool is_category = node_.columns.is_category[j];
        found.constant = groups.count + (groups.absent_rows ? 1 : 0) < 2;
        // missing cells of a categorical column are one more category
        if (groups.count + (is_category && node_.learns_absent() ? 1 : 0) < 2) return found;
        node_.know(groups.absent.data());
        if constexpr (std::is_same_v<Instance, Measured>)
            if (node_.by_medians())
                node_.medians.prepare(node_.rows, node_.m, node_.grouping.codes(node_.rows, node_.m, j),
                                      node_.columns.missing(j));
        if (is_category)
            categories_(found, random);
        else if (node_.rules.multi_way)
            intervals_(found);
        else
            thresholds_.of_groups(found);
        return found;
    }

private:
    bool draws(size_t j) const { return node_.rules.random && !node_.by_medians() && !node_.columns.is_category[j]; }

    SplitNode<Target> node_;
    Cutting<Target> cutting_{node_};
    Thresholds<Target> thresholds_{node_, cutting_};
    DrawnThresholds<Target> drawn_{node_, cutting_};
    Intervals<Target> intervals_{node_, cutting_};
    CategorySplits<Target> categories_{node_, cutting_};
};

}  // namespace lyceum::trees
