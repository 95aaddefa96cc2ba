// Which columns a node looks at, and which of their splits it takes.
#pragma once
#include <algorithm>

#include <lyceum/trees/split/split_search.hpp>

namespace lyceum::trees {

// Looks at the columns, or at some of them drawn; returns those looked at, in the order of the table or as drawn: in
// small nodes many columns are equally good, and a forest must not always take the first. `look` fills found[j] and
// says whether the column has more than one value.
template <class Look>
std::vector<size_t> search_columns(std::vector<size_t> columns, const TreeRules& rules, size_t d, std::uint64_t seed,
                                   const std::vector<FoundSplit>& found, Look&& look) {
    if (!rules.max_features || rules.max_features >= d) {
        for (const size_t j : columns) look(j);
        return columns;
    }
    NodeRandom random{mix(seed)};
    size_t looked = 0, useful = 0;
    // on until there is a split, as constant columns and splits that may not be made do not count
    for (bool any = false; looked < columns.size() && (useful < rules.max_features || !any); ++looked) {
        std::swap(columns[looked], columns[looked + random.below(columns.size() - looked)]);
        useful += look(columns[looked]);
        any |= found[columns[looked]].valid;
    }
    columns.resize(looked);
    return columns;
}

// What is random about column j at a node.
inline NodeRandom column_random(std::uint64_t seed, size_t j) { return {mix(seed ^ ((j + 1) * 0xD1B54A32D192ED03u))}; }

// The column of the best score, the first of equals. By gain ratio: of those that gain at least the average.
inline const FoundSplit* best_column(const std::vector<FoundSplit>& found, const std::vector<size_t>& columns,
                                     const TreeRules& rules, size_t& column) {
    double least = -std::numeric_limits<double>::infinity();
    if (rules.criterion == Criterion::gain_ratio) {
        double sum = 0.;
        size_t count = 0;
        for (const size_t j : columns)
            if (found[j].valid && found[j].gain > 0.) sum += found[j].gain, ++count;
        if (count) least = sum / static_cast<double>(count) * (1 - 1e-9);
    }
    // a standard deviation is the root of a difference that may be nothing but rounding
    const double even = rules.criterion == Criterion::deviation ? 1e-6 : 1e-10;
    const FoundSplit* best = nullptr;
    for (const size_t j : columns) {
        const FoundSplit& one = found[j];
        if (!one.valid || one.gain < least || (rules.needs_gain && !(one.gain > 0.)) || one.gain < 0.) continue;
        if (best && !(one.score > best->score + even * std::abs(best->score))) continue;
        best = &one;
        column = j;
    }
    return best;
}

}  // namespace lyceum::trees
