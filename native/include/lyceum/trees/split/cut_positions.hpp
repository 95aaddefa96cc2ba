// Positions where the rows of a node may be cut in two, evaluated many at a time.
#pragma once
#include <lyceum/trees/split/split_node.hpp>

namespace lyceum::trees {

// Positions side by side: the sums and the number of the rows before each.
struct CutPositions {
    static constexpr size_t most = 256;
    Sums sums;  // (size, most)
    double rows[most], merits[most];
    std::uint32_t left[most], right[most];  // the codes on either side

    explicit CutPositions(size_t size) : sums(size * most) {}
};

// The best position so far.
struct Cut {
    double merit = no_split;
    size_t at = 0;           // the last position on the left
    int missing_child = -1;  // the side of missing cells
    size_t tried = 0;
    std::uint32_t left = 0, right = 0;  // the codes on either side
};

// The rows on both sides together, missing cells, and the least that a side must have.
struct CutLimits {
    const double* sums;
    double rows;
    const double* missing_sums;  // null if missing cells take no side
    double missing_rows, least_weight;
};

template <class Target>
class CutSearch {
public:
    explicit CutSearch(SplitNode<Target>& node) : positions(node.size()), node_(node) {}

    CutPositions positions;  // filled by the searches
    Sums left;               // the sums before the best position

    // The merits of cuts at the first `count` positions; keeps the best, the first of equals.
    void evaluate(size_t count, size_t start, const CutLimits& limits, Cut& best) {
        const size_t full = round_up(count, lanes<double>), size = node_.size();
        for (size_t c = count; c < full; ++c) {
            positions.rows[c] = positions.rows[count - 1];
            for (size_t k = 0; k < size; ++k)
                positions.sums[k * CutPositions::most + c] = positions.sums[k * CutPositions::most + count - 1];
        }
        const bool free = node_.rules().min_leaf <= 1 && limits.least_weight <= 0.;
        for (int side = limits.missing_sums ? 0 : -1; side < (limits.missing_sums ? 2 : 0); ++side) {
            const double top = node_.is_monotonic() ? monotone_merits(full, side, limits)
                               : free               ? merits<true>(full, side, limits)
                                                    : merits<false>(full, side, limits);
            if (side <= 0 && node_.rules().release8)
                for (size_t c = 0; c < count; ++c) best.tried += positions.merits[c] > no_split;
            if (!node_.is_better(top, best.merit)) continue;
            size_t at = 0;
            while (positions.merits[at] < top - node_.tolerance(top)) ++at;
            best.merit = top;
            best.at = start + at;
            best.missing_child = side;
            best.left = positions.left[at];
            best.right = positions.right[at];
            left.resize(size);
            for (size_t k = 0; k < size; ++k) left[k] = positions.sums[k * CutPositions::most + at];
        }
    }

    // All known cells before the cut, missing ones after it: the threshold is infinite. `missing` is their code.
    void evaluate_missing(const CutLimits& limits, std::uint32_t missing, Cut& best) {
        if (!limits.missing_sums) return;
        const size_t size = node_.size();
        for (int c = 0; c < lanes<double>; ++c) {
            positions.rows[c] = limits.rows;
            for (size_t k = 0; k < size; ++k)
                positions.sums[k * CutPositions::most + static_cast<size_t>(c)] = limits.sums[k];
        }
        const double top =
            node_.is_monotonic() ? monotone_merits(lanes<double>, 1, limits) : merits<false>(lanes<double>, 1, limits);
        if (!node_.is_better(top, best.merit)) return;
        best.merit = top;
        best.missing_child = 1;
        best.left = missing - 1;
        best.right = missing;
        left.assign(limits.sums, limits.sums + size);
    }

    // A threshold at the best position; `missing_sums` are those of rows whose cell is missing, null if there are none.
    void score_split(FoundSplit& found, const Cut& cut, const Sums* missing_sums) {
        found.kind = SplitKind::threshold;
        found.missing_child = cut.missing_child;
        parts_.resize(2);
        parts_[0] = left;
        parts_[1].resize(node_.size());
        for (size_t s = 0; s < node_.size(); ++s) parts_[1][s] = node_.known()[s] - left[s];
        // C4.5's cost of naming one of the positions tried
        const double penalty = node_.rules().release8 ? std::log2(std::max(1., static_cast<double>(cut.tried))) : 0.;
        node_.score_split(found, cut.merit, parts_, penalty, missing_sums);
    }

private:
    // Out of line, so that the loop of columns without a direction stays as small as it is.
    [[gnu::noinline]] double monotone_merits(size_t full, int side, const CutLimits& limits) {
        return merits<false, true>(full, side, limits);
    }

    // Fills positions.merits and returns the largest; `Free` where a part of any size is allowed, `Monotone` where the
    // values of the parts must be in order.
    template <bool Free, bool Monotone = false>
    double merits(size_t full, int side, const CutLimits& limits) {
        const Target& target = node_.target();
        const size_t size = node_.size();
        Doubles stack[2 * 16];
        std::vector<Doubles, AlignedAllocator<Doubles>> heap(size > 16 ? 2 * size : 0);
        Doubles *before = size > 16 ? heap.data() : stack, *after = before + size;
        Doubles highest = splat(no_split);
        // rows are counted only where some are too few
        const double few = node_.rules().min_leaf > 1 ? static_cast<double>(node_.rules().min_leaf) : 0.;
        const double least = limits.least_weight * (1 - 1e-12);  // the right part is a difference, and rounded
        const double more_left = side == 0 ? limits.missing_rows : 0.,
                     more_right = side == 1 ? limits.missing_rows : 0.;
        for (size_t c = 0; c < full; c += lanes<double>) {
            for (size_t k = 0; k < size; ++k) {
                before[k] = load(positions.sums.data() + k * CutPositions::most + c);
                after[k] = limits.sums[k] - before[k];
            }
            if (side >= 0)
                for (size_t k = 0; k < size; ++k) (side == 0 ? before : after)[k] += limits.missing_sums[k];
            Doubles merit = target.merit_of_two(before, after);
            if constexpr (!Free) {
                const Doubles l = load(positions.rows + c) + more_left, r = limits.rows + more_left + more_right - l;
                merit = (l >= few) & (r >= few) & (target.weight(before) >= least) & (target.weight(after) >= least)
                            ? merit
                            : splat(no_split);
                if constexpr (Monotone)
                    merit = node_.keeps_order(target.value(before), target.value(after)) ? merit : splat(no_split);
            }
            store(positions.merits + c, merit);
            highest = vmax<double>(highest, merit);
        }
        double top = no_split;
        for (int i = 0; i < lanes<double>; ++i) top = std::max(top, highest[i]);
        return top;
    }

    SplitNode<Target>& node_;
    std::vector<Sums> parts_;
};

}  // namespace lyceum::trees
