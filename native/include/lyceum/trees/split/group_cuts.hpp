// The best position to cut groups of rows in two, in the order of their codes or in a given order: by sums or medians.
#pragma once
#include <lyceum/trees/split/cut_positions.hpp>

namespace lyceum::trees {

// The groups [from, to), that have the sums given; `with_missing` says whether missing cells take a side.
struct GroupRange {
    const std::uint32_t* order;  // null: as they are
    size_t from, to;
    const Sums& sums;
    bool with_missing;
    double least_weight;
    size_t only = std::numeric_limits<size_t>::max();  // the one position that is tried; none: all

    bool may_cut(size_t at) const { return only > to || at == only; }
    size_t operator[](size_t place) const { return order ? order[place] : place; }
};

// For the absolute error, from the costs of the groups before and after every position.
template <class Target>
Cut best_median_cut(SplitNode<Target>& node, const GroupRange& range) {
    const Groups& groups = node.groups();
    MedianCost& medians = node.medians();
    const size_t from = range.from, to = range.to, count = to - from, few = node.rules().min_leaf;
    Cut best;
    for (int side = range.with_missing ? 0 : -1; side < (range.with_missing ? 2 : 0); ++side) {
        std::vector<double> before(count), weight(count), middle(count);
        std::vector<size_t> rows(count);
        medians.clear();
        size_t n = 0;
        if (side == 0) medians.add_missing(), n += groups.missing_rows;
        for (size_t g = from; g < to; ++g) {
            medians.add_group(range[g]);
            n += groups.rows[range[g]];
            before[g - from] = medians.cost();
            weight[g - from] = medians.weight();
            if (node.is_monotonic()) middle[g - from] = medians.median();
            rows[g - from] = n;
        }
        medians.clear();
        n = 0;
        // whether the rows up to a group and those after it may be the two parts
        const auto fits = [&](size_t last) {
            return n >= few && rows[last - from] >= few && medians.weight() >= range.least_weight &&
                   weight[last - from] >= range.least_weight &&
                   (!node.is_monotonic() || node.keeps_order(middle[last - from], medians.median()));
        };
        if (side == 1) {
            medians.add_missing(), n += groups.missing_rows;
            // known cells against missing ones
            const double merit = -before[count - 1] - medians.cost();
            const auto missing = node.columns().missing(node.column());
            if (fits(to - 1) && node.is_better(merit, best.merit))
                best = {merit, to - 1, 1, best.tried, missing - 1, missing};
        }
        for (size_t g = to - 1; g > from; --g) {
            medians.add_group(range[g]);
            n += groups.rows[range[g]];
            if (!range.may_cut(g - 1) || !fits(g - 1)) continue;
            const double merit = -before[g - 1 - from] - medians.cost();
            best.tried += side <= 0;
            const double slack = best.merit == no_split ? 0. : node.tolerance(merit);
            // from the right: of equal cuts the last that is seen is the first, unless another side had it
            if (best.merit == no_split || merit > best.merit + slack ||
                (merit > best.merit - slack && best.missing_child == side))
                best = {std::max(best.merit, merit), g - 1, side, best.tried, groups.code[range[g - 1]],
                        groups.code[range[g]]};
        }
    }
    return best;
}

// The sums before the position are in `cut_search.left`, unless the cut is by medians.
template <class Target>
Cut best_cut(SplitNode<Target>& node, CutSearch<Target>& cut_search, const GroupRange& range) {
    if (node.by_medians()) return best_median_cut(node, range);
    const Groups& groups = node.groups();
    CutPositions& positions = cut_search.positions;
    const size_t size = node.size();
    Cut best;
    double rows = 0., all_rows = 0.;
    for (size_t g = range.from; g < range.to; ++g) all_rows += groups.rows[range[g]];
    const CutLimits limits{range.sums.data(), all_rows, range.with_missing ? groups.missing_sums.data() : nullptr,
                           static_cast<double>(groups.missing_rows), range.least_weight};
    Sums prefix(size, 0.);
    for (size_t start = range.from; start + 1 < range.to; start += CutPositions::most) {
        const size_t count = std::min(CutPositions::most, range.to - 1 - start);
        for (size_t c = 0; c < count; ++c) {
            const size_t g = range[start + c];
            positions.rows[c] = rows += groups.rows[g];
            positions.left[c] = groups.code[g];
            positions.right[c] = groups.code[range[start + c + 1]];
            const double* s = groups.of(g, size);
            for (size_t k = 0; k < size; ++k) positions.sums[k * CutPositions::most + c] = prefix[k] += s[k];
        }
        cut_search.evaluate(count, start, limits, best);
    }
    return best;
}

}  // namespace lyceum::trees
