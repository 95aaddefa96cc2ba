// Which columns a node searches, and which of their splits it takes.
#pragma once
#include <algorithm>

#include <lyceum/core/any_call.hpp>
#include <lyceum/trees/split/split_search.hpp>

namespace lyceum::trees {

// Searches the columns, or random ones; returns those searched, in the order of the table or at random: in small nodes
// many columns are equally good, and a forest must not always take the first. `search` fills found[j] and returns
// whether the column has more than one value.
[[gnu::noipa]] inline std::vector<size_t> search_columns(std::vector<size_t> columns, const TreeRules& rules, size_t d,
                                                         std::uint64_t seed, const std::vector<FoundSplit>& found,
                                                         AnyCall<bool(size_t)> search) {
    if (!rules.max_features || rules.max_features >= d) {
        for (const size_t j : columns) search(j);
        return columns;
    }
    NodeRandom random{mix(seed)};
    size_t searched = 0, useful = 0;
    // constant columns and splits that are not allowed do not count: go on until there is a split
    for (bool any = false; searched < columns.size() && (useful < rules.max_features || !any); ++searched) {
        std::swap(columns[searched], columns[searched + random.below(columns.size() - searched)]);
        useful += search(columns[searched]);
        any |= found[columns[searched]].valid;
    }
    columns.resize(searched);
    return columns;
}

// The random numbers of column j at a node.
inline NodeRandom column_random(std::uint64_t seed, size_t j) { return {mix(seed ^ ((j + 1) * 0xD1B54A32D192ED03u))}; }

// The column of the best score, the first of equals. By gain ratio: of those that gain at least the average.
[[gnu::noinline]] inline const FoundSplit* best_column(const std::vector<FoundSplit>& found,
                                                       const std::vector<size_t>& columns, const TreeRules& rules,
                                                       size_t& column) {
    double least = -std::numeric_limits<double>::infinity();
    if (rules.criterion == Criterion::gain_ratio) {
        double sum = 0.;
        size_t count = 0;
        for (const size_t j : columns)
            if (found[j].valid && found[j].gain > 0.) sum += found[j].gain, ++count;
        if (count) least = sum / static_cast<double>(count) * (1 - 1e-9);
    }
    // a standard deviation is the root of a difference that may be nothing but rounding
    const double tie = rules.criterion == Criterion::deviation ? 1e-6 : 1e-10;
    const FoundSplit* best = nullptr;
    for (const size_t j : columns) {
        const FoundSplit& one = found[j];
        if (!one.valid || one.gain < least || (rules.needs_gain && !(one.gain > 0.)) || one.gain < 0.) continue;
        if (best && !(one.score > best->score + tie * std::abs(best->score))) continue;
        best = &one;
        column = j;
    }
    return best;
}

}  // namespace lyceum::trees
