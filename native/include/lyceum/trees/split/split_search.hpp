// The best split of a node by one column, by the search that the column and the rules ask for.
//
//   growth_rules.hpp   how a tree is grown, and a split that was found    thresholds.hpp        the best threshold
//   split_node.hpp     a node and its column, gain and score              random_threshold.hpp  a random threshold
//   cut_positions.hpp  the merits of many cuts at a time                  interval_splits.hpp   several intervals
//   group_cuts.hpp     the best cut of rows grouped by code               category_splits.hpp   splits by categories
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

    void start_node(double impurity, Bounds bounds = {}) { node_.start_node(impurity, bounds); }

    // `total` are the sums of all rows; `sorted` is the order of the rows, if it is known; only random splits use
    // `random`.
    FoundSplit operator()(const Instance* rows, size_t m, const double* total, size_t j, const std::uint64_t* sorted,
                          NodeRandom random) {
        const bool few_codes = node_.columns().missing(j) <= Thresholds<Target>::most_bins;
        const bool plain = !node_.columns().is_category[j] && !node_.rules().multi_way && !node_.by_medians();
        node_.start_column(j, rows, m, total);
        if (node_.by_medians() || (!is_random(j) && !(plain && (sorted || few_codes))))
            return search_groups(node_.grouping()(rows, m, j, sorted), random);
        FoundSplit found;
        if (is_random(j))
            random_thresholds_.of_rows(found, random);
        else if (sorted)
            thresholds_.of_sorted(found, sorted);
        else
            thresholds_.of_bins(found);
        return found;
    }

    // The same for rows that are already summed by code. The absolute error is no such sum.
    FoundSplit of_groups(const Groups& groups, const double* total, size_t j, NodeRandom random) {
        node_.start_column(j, nullptr, 0, total);
        return search_groups(groups, random);
    }

private:
    FoundSplit search_groups(const Groups& groups, NodeRandom& random) {
        const size_t j = node_.column();
        node_.set_groups(groups);
        FoundSplit found;
        if (is_random(j) && !node_.by_medians()) {
            random_thresholds_.of_groups(found, random);
            return found;
        }
        const bool is_category = node_.columns().is_category[j];
        found.constant = groups.count + (groups.missing_rows ? 1 : 0) < 2;
        // missing cells are one more category, or go against all known ones
        if (groups.count + (node_.learns_missing() ? 1 : 0) < 2) return found;
        if (node_.by_medians()) prepare_medians(j);
        if (is_random(j))
            random_thresholds_.of_medians(found, random);
        else if (is_category)
            categories_(found, random);
        else if (node_.rules().multi_way)
            intervals_(found);
        else
            thresholds_.of_groups(found);
        return found;
    }

    void prepare_medians(size_t j) {
        if constexpr (std::is_same_v<Instance, NumberRow>) {
            const std::uint32_t* codes = node_.grouping().codes(node_.rows(), node_.n_rows(), j);
            node_.medians().prepare(node_.rows(), node_.n_rows(), codes, node_.columns().missing(j));
        }
    }

    bool is_random(size_t j) const { return node_.rules().random && !node_.columns().is_category[j]; }

    SplitNode<Target> node_;
    CutSearch<Target> cut_search_{node_};
    Thresholds<Target> thresholds_{node_, cut_search_};
    RandomThresholds<Target> random_thresholds_{node_, cut_search_};
    Intervals<Target> intervals_{node_, cut_search_};
    CategorySplits<Target> categories_{node_, cut_search_};
};

}  // namespace lyceum::trees
