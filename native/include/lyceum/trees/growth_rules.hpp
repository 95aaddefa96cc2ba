// The rules of growth, and the best split of a node by one column.
#pragma once
#include <algorithm>
#include <limits>

#include <lyceum/core/hash_uniform.hpp>
#include <lyceum/core/midpoint.hpp>
#include <lyceum/trees/ranked_columns.hpp>
#include <lyceum/trees/split_kind.hpp>
#include <lyceum/trees/target_sums.hpp>

namespace lyceum::trees {

enum class Categorical { groups, multiway, one_vs_rest };

struct TreeRules {
    Criterion criterion = Criterion::gini;
    Categorical categorical = Categorical::groups;
    bool multi_way = false;  // continuous columns in up to `max_branches` intervals
    size_t max_branches = 4;
    bool fractions = false;  // missing cells go to every child by its share, else where the split is best
    bool observed = false;   // thresholds are values of the column, else midway between two
    size_t max_depth = std::numeric_limits<size_t>::max();
    size_t min_split = 2, min_leaf = 1, max_leaves = 0;
    double min_weight = 0.;    // of a branch
    double min_decrease = 0.;  // of the impurity, times the share of the rows
    double max_p = 1.;         // of the chi-square test of branches against classes
    double floor = 0.;         // nodes of at most this impurity are not split
    size_t max_features = 0;   // random columns per node, 0: all
    bool random = false;       // thresholds are random
    bool needs_gain = false;   // a split that gains nothing is not made
    bool release8 = false;     // C4.5's penalty and minimum for continuous columns
    bool record = false;
    std::uint64_t seed = 0;
    const double* costs = nullptr;
    const std::int8_t* monotonic = nullptr;  // of every column: 1 rising, -1 falling, 0 as it is; null: all free
};

// Where the value of a node must lie for a tree to be monotone.
struct Bounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

struct FoundSplit {
    bool valid = false;
    bool constant = false;  // at most one value, here and in all nodes below
    SplitKind kind = SplitKind::leaf;
    double gain = 0., score = 0.;
    double random_threshold = std::numeric_limits<double>::quiet_NaN();  // of a random split
    std::uint32_t cut = 0, next = 0;  // threshold: the last code on the left and the first on the right
    std::int32_t missing_child = -1;  // the child of missing cells, if they have one
    std::int32_t children = 2;
    std::vector<std::uint32_t> cuts;  // intervals: the last codes of all but the last
    std::vector<double> cut_values;
    std::vector<std::int32_t> branches;  // categories and groups: the child of every code, -1 for none
};

// A threshold of column j between two codes: midway, or the largest value of the column that is not above; infinite
// where the right one is that of missing cells.
inline double threshold_between(const TreeColumns& columns, const TreeRules& rules, size_t j, std::uint32_t left,
                                std::uint32_t right) {
    if (right >= columns.missing(j)) return std::numeric_limits<double>::infinity();  // known against missing cells
    const double *low = columns.smallest(j), *high = columns.largest(j);
    const double a = high[left], b = low[right];
    const double middle = midpoint(a, b);
    if (!rules.observed) return middle;
    return high[std::upper_bound(high, high + columns.n_codes[j], middle) - high - 1];
}

// The threshold of a split by column j, NaN for other kinds of splits. Computed only for the column that is chosen:
// fetching the values of all columns at all nodes would miss the cache.
inline double threshold_of(const FoundSplit& found, const TreeColumns& columns, const TreeRules& rules, size_t j) {
    const bool is_random = found.random_threshold == found.random_threshold;
    if (found.kind != SplitKind::threshold || is_random) return found.random_threshold;
    return threshold_between(columns, rules, j, found.cut, found.next);
}

// A few random numbers that depend on the seed of a node alone.
struct NodeRandom {
    std::uint64_t state;
    std::uint64_t next() { return mix(state += 0x9E3779B97F4A7C15u); }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    size_t below(size_t n) { return static_cast<size_t>((static_cast<unsigned __int128>(next()) * n) >> 64); }
};

}  // namespace lyceum::trees
