// Several intervals of a continuous column.
#pragma once
#include <lyceum/trees/split/group_cuts.hpp>

namespace lyceum::trees {

// Cuts the interval that gains most in two, until there are enough intervals or no cut gains.
template <class Target>
class Intervals {
public:
    Intervals(SplitNode<Target>& node, CutSearch<Target>& cut_search) : node_(node), cut_search_(cut_search) {}

    void operator()(FoundSplit& found) {
        if (!cut()) return;
        const Groups& groups = node_.groups();
        found.kind = SplitKind::intervals;
        found.children = static_cast<std::int32_t>(intervals_.size());
        std::vector<Sums> parts(intervals_.size(), Sums(node_.size(), 0.));
        for (size_t p = 0; p < intervals_.size(); ++p) {
            node_.add_groups(parts[p], intervals_[p].from, intervals_[p].to);
            if (p + 1 == intervals_.size()) break;
            const auto last = groups.code[intervals_[p].to - 1];
            found.cuts.push_back(last);
            found.cut_values.push_back(
                threshold_between(node_.columns(), node_.rules(), node_.column(), last, groups.code[intervals_[p].to]));
        }
        const double merit = merit_with_missing(found, parts);
        node_.score_split(found, merit, parts);
    }

private:
    struct Interval {
        size_t from, to;
        Cut cut;
        double gain;
    };

    Interval interval(size_t from, size_t to) {
        Sums sums(node_.size(), 0.);
        node_.add_groups(sums, from, to);
        const Cut best = best_cut(node_, cut_search_, {nullptr, from, to, sums, false, node_.rules().min_weight});
        return {from, to, best,
                best.merit == no_split ? no_split : best.merit - node_.part_merit(from, to, sums, false)};
    }

    bool cut() {
        intervals_.assign(1, interval(0, node_.groups().count));
        const double least = 1e-12 * (std::abs(intervals_[0].cut.merit) + node_.weight());
        while (intervals_.size() < node_.rules().max_branches) {
            auto best = std::max_element(intervals_.begin(), intervals_.end(),
                                         [](const Interval& a, const Interval& b) { return a.gain < b.gain; });
            if (!(best->gain > least) && intervals_.size() > 1) break;
            if (best->gain == no_split) return false;
            const Interval old = *best;
            *best = interval(old.from, old.cut.at + 1);
            intervals_.insert(best + 1, interval(old.cut.at + 1, old.to));
        }
        return true;
    }

    // The merit of all intervals, missing cells in the one where they do best.
    double merit_with_missing(FoundSplit& found, const std::vector<Sums>& parts) {
        std::vector<double> merits;
        for (size_t p = 0; p < intervals_.size(); ++p)
            merits.push_back(node_.part_merit(intervals_[p].from, intervals_[p].to, parts[p], false));
        const double merit = std::accumulate(merits.begin(), merits.end(), 0.);
        if (!node_.learns_missing()) return merit;
        double best = no_split;
        for (size_t p = 0; p < intervals_.size(); ++p) {
            const double with =
                merit - merits[p] + node_.part_merit(intervals_[p].from, intervals_[p].to, parts[p], true);
            if (with > best + 1e-12 * std::abs(with)) best = with, found.missing_child = static_cast<std::int32_t>(p);
        }
        return best;
    }

    SplitNode<Target>& node_;
    CutSearch<Target>& cut_search_;
    std::vector<Interval> intervals_;
};

}  // namespace lyceum::trees
