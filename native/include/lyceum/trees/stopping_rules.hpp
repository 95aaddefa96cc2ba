// When a node stays a leaf: too few rows, too deep, or an impurity that is rounding error.
#pragma once
#include <lyceum/trees/growth_rules.hpp>

namespace lyceum::trees {

// Impurities up to this are rounding error: of shares, of squares about a mean, of deviations from it.
inline double negligible_impurity(Criterion criterion, double mean, double root_impurity) {
    switch (criterion) {
        case Criterion::variance:
            return 1e-28 * mean * mean + 1e-30 * root_impurity;
        case Criterion::deviation:
        case Criterion::absolute:
            return 1e-14 * std::abs(mean) + 1e-15 * root_impurity;
        default:
            return 1e-14;
    }
}

// Whether the rules let a node be split, if a split is found. `mean` is that of a target of numbers.
inline bool may_split(const TreeRules& rules, size_t rows, size_t depth, double impurity, double mean,
                      double root_impurity) {
    return rows >= std::max<size_t>(2, rules.min_split) && rows >= 2 * rules.min_leaf && depth < rules.max_depth &&
           impurity > std::max(rules.floor, negligible_impurity(rules.criterion, mean, root_impurity));
}

}  // namespace lyceum::trees
