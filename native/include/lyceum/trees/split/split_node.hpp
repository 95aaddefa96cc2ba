// A node and one of its columns, as the searches for a split share them, and the score of a split.
#pragma once
#include <lyceum/trees/growth_rules.hpp>
#include <lyceum/trees/split/median_cost.hpp>

namespace lyceum::trees {

using Sums = std::vector<double>;

inline constexpr double never = -std::numeric_limits<double>::infinity();  // the merit of a split that may not be made

template <class Target>
struct SplitNode {
    using Instance = typename Target::Instance;

    const Target& target;
    const TreeColumns& columns;
    const TreeRules& rules;
    double scale = 1.;  // what an impurity of the node is like: below its rounding, gains are zero

    const Instance* rows = nullptr;  // null where only their sums by code are known
    size_t m = 0;
    const double* total = nullptr;  // the sums of all rows
    double weight = 0.;
    size_t j = 0;
    const Groups* groups = nullptr;  // the rows by code, where they are grouped
    Sums known, absent;              // the sums of rows with and without a value; those of groups are in `groups`

    Grouping<Target> grouping;
    MedianCost medians;

    SplitNode(const Target& target_, const TreeColumns& columns_, const TreeRules& rules_)
        : target(target_), columns(columns_), rules(rules_), grouping(target_, columns_) {}
    SplitNode(const SplitNode&) = delete;

    size_t size() const { return target.size(); }
    bool by_medians() const { return rules.criterion == Criterion::absolute; }
    bool learns_absent() const { return !rules.fractions && groups->absent_rows > 0; }

    void at(const double* sums, size_t column) {
        total = sums;
        weight = target.weight(sums);
        j = column;
    }

    // A node of such an impurity is next.
    void begin(double impurity) {
        scale = impurity;
        has_merit_ = false;
    }

    void know(const double* without) {
        known.resize(size());
        for (size_t s = 0; s < size(); ++s) known[s] = total[s] - without[s];
    }

    // Merits that differ by rounding are equal.
    double tolerance(double merit) const {
        const double share = rules.criterion == Criterion::deviation ? 1e-7 : 1e-12;  // of the root of rounding
        return share * (std::abs(merit) + weight * scale);
    }
    bool is_better(double merit, double best) const { return merit > best + (best == never ? 0. : tolerance(merit)); }

    void collect(Sums& into, size_t from, size_t to) const {
        for (size_t g = from; g < to; ++g)
            for (size_t s = 0; s < size(); ++s) into[s] += groups->sums[g * size() + s];
    }

    // The merit of the groups [from, to), whose sums are given, with or without the rows that have no value.
    double part_merit(size_t from, size_t to, const Sums& sums, bool with_absent) {
        if (by_medians()) {
            medians.clear();
            for (size_t g = from; g < to; ++g) medians.add_group(g);
            if (with_absent) medians.add_absent();
            return -medians.cost();
        }
        Sums all = sums;
        if (with_absent)
            for (size_t s = 0; s < size(); ++s) all[s] += groups->absent[s];
        return merit_of(target, all.data());
    }

    // -- the score -------------------------------------------------------------------------------------------------

    // Gain and score of a split into parts of these sums. Of groups: their missing cells.
    void settle(Found& found, double merit, std::vector<Sums>& parts) {
        settle(found, merit, parts, 0., groups->absent_rows ? &groups->absent : nullptr);
    }

    // `missing` are the sums of rows that have no value and are not in `parts`. With fractions they neither gain nor
    // lose.
    void settle(Found& found, double merit, std::vector<Sums>& parts, double penalty, const Sums* missing) {
        const bool apart = rules.fractions && missing;
        if (missing && !apart)
            for (size_t s = 0; s < size(); ++s) parts[static_cast<size_t>(found.absent)][s] += (*missing)[s];
        const double base = by_medians() ? part_merit(0, groups->count, {}, missing && !apart)
                            : apart      ? merit_of(target, known.data())
                                         : whole_merit();
        found.valid = true;
        found.gain = (merit - base - penalty) / weight;
        if (std::abs(found.gain) <= 1e-13 * (std::abs(merit) / weight + scale)) found.gain = 0.;
        found.score = found.gain;
        if (!rules.fractions && found.absent < 0) heaviest(found, parts);
        if (rules.criterion == Criterion::gain_ratio) found.score = ratio(found.gain, parts);
        if (rules.costs) found.score = found.score * std::abs(found.score) / rules.costs[j];
    }

private:
    double merit_ = 0.;  // of all rows of the node, once it is known
    bool has_merit_ = false;

    double whole_merit() {
        if (!has_merit_) merit_ = merit_of(target, total);
        has_merit_ = true;
        return merit_;
    }

    // Where no cell is missing, missing cells will go to the heaviest child.
    void heaviest(Found& found, const std::vector<Sums>& parts) const {
        double most = never;
        for (size_t p = 0; p < parts.size(); ++p) {
            const double w = target.weight(parts[p].data());
            if (!(w <= most * (1 + 1e-12))) most = w, found.absent = static_cast<std::int32_t>(p);
        }
    }

    // The gain by the entropy of the branches, missing cells one more.
    double ratio(double gain, const std::vector<Sums>& parts) const {
        double information = 0., rest = weight;
        for (const Sums& part : parts) {
            const double w = target.weight(part.data());
            rest -= w;
            if (w > 0.) information -= w / weight * std::log2(w / weight);
        }
        if (rules.fractions && rest > 1e-12 * weight) information -= rest / weight * std::log2(rest / weight);
        return information > 0. ? gain / information : 0.;
    }
};

}  // namespace lyceum::trees
