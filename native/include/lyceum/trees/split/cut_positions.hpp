// Places where the rows of a node may be cut in two, judged many at a time.
#pragma once
#include <lyceum/trees/split/split_node.hpp>

namespace lyceum::trees {

// Places side by side: the sums and the number of the rows before each.
struct Places {
    static constexpr size_t most = 256;
    Sums sums;  // (size, most)
    double rows[most], merits[most];
    std::uint32_t left[most], right[most];  // the codes on either side

    explicit Places(size_t size) : sums(size * most) {}
};

// The best place so far.
struct Cut {
    double merit = never;
    size_t at = 0;    // the last place on the left
    int absent = -1;  // the side of missing cells
    size_t tried = 0;
    std::uint32_t left = 0, right = 0;  // the codes on either side
};

// What a cut has to heed: the rows on both sides together, missing cells, and how little a side may have.
struct Whole {
    const double* sums;
    double rows;
    const double* absent;  // null if they take no side
    double absent_rows, least_weight;
};

template <class Target>
class Cutting {
public:
    explicit Cutting(SplitNode<Target>& node) : places(node.size()), node_(node) {}

    Places places;  // filled by those who look for a cut
    Sums left;      // the sums before the best place

    // The merits of cuts at the first `count` places; keeps the best, the first of equals.
    void weigh(size_t count, size_t start, const Whole& whole, Cut& best) {
        const size_t full = round_up(count, lanes<double>), size = node_.size();
        for (size_t c = count; c < full; ++c) {
            places.rows[c] = places.rows[count - 1];
            for (size_t k = 0; k < size; ++k)
                places.sums[k * Places::most + c] = places.sums[k * Places::most + count - 1];
        }
        const bool free = node_.rules.min_leaf <= 1 && whole.least_weight <= 0.;
        for (int side = whole.absent ? 0 : -1; side < (whole.absent ? 2 : 0); ++side) {
            const double top = free ? merits<true>(full, side, whole) : merits<false>(full, side, whole);
            if (side <= 0 && node_.rules.release8)
                for (size_t c = 0; c < count; ++c) best.tried += places.merits[c] > never;
            if (!node_.is_better(top, best.merit)) continue;
            size_t at = 0;
            while (places.merits[at] < top - node_.tolerance(top)) ++at;
            best.merit = top;
            best.at = start + at;
            best.absent = side;
            best.left = places.left[at];
            best.right = places.right[at];
            left.resize(size);
            for (size_t k = 0; k < size; ++k) left[k] = places.sums[k * Places::most + at];
        }
    }

    // A threshold at the best place; `absent` are the sums of rows without a value, null if all have one.
    void settle(Found& found, const Cut& cut, const Sums* absent) {
        found.kind = SplitKind::threshold;
        found.absent = cut.absent;
        parts_.resize(2);
        parts_[0] = left;
        parts_[1].resize(node_.size());
        for (size_t s = 0; s < node_.size(); ++s) parts_[1][s] = node_.known[s] - left[s];
        // C4.5's price of naming one of the places tried
        const double penalty = node_.rules.release8 ? std::log2(std::max(1., static_cast<double>(cut.tried))) : 0.;
        node_.settle(found, cut.merit, parts_, penalty, absent);
    }

private:
    // Fills places.merits and returns the largest; `Free` where any row may stand alone.
    template <bool Free>
    double merits(size_t full, int side, const Whole& whole) {
        const Target& target = node_.target;
        const size_t size = node_.size();
        Doubles stack[2 * 16];
        std::vector<Doubles, AlignedAllocator<Doubles>> heap(size > 16 ? 2 * size : 0);
        Doubles *before = size > 16 ? heap.data() : stack, *after = before + size;
        Doubles highest = splat(never);
        // rows are counted only where some are too few
        const double few = node_.rules.min_leaf > 1 ? static_cast<double>(node_.rules.min_leaf) : 0.;
        const double least = whole.least_weight * (1 - 1e-12);  // the right part is a difference, and rounded
        const double more_left = side == 0 ? whole.absent_rows : 0., more_right = side == 1 ? whole.absent_rows : 0.;
        for (size_t c = 0; c < full; c += lanes<double>) {
            for (size_t k = 0; k < size; ++k) {
                before[k] = load(places.sums.data() + k * Places::most + c);
                after[k] = whole.sums[k] - before[k];
            }
            if (side >= 0)
                for (size_t k = 0; k < size; ++k) (side == 0 ? before : after)[k] += whole.absent[k];
            Doubles merit = target.merit_of_two(before, after);
            if constexpr (!Free) {
                const Doubles l = load(places.rows + c) + more_left, r = whole.rows + more_left + more_right - l;
                merit = (l >= few) & (r >= few) & (target.weight(before) >= least) & (target.weight(after) >= least)
                            ? merit
                            : splat(never);
            }
            store(places.merits + c, merit);
            highest = vmax<double>(highest, merit);
        }
        double top = never;
        for (int i = 0; i < lanes<double>; ++i) top = std::max(top, highest[i]);
        return top;
    }

    SplitNode<Target>& node_;
    std::vector<Sums> parts_;
};

}  // namespace lyceum::trees
