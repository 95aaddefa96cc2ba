// A node and one of its columns, shared by the searches for a split, and the score of a split.
#pragma once
#include <lyceum/trees/growth_rules.hpp>
#include <lyceum/trees/split/median_cost.hpp>

namespace lyceum::trees {

using Sums = std::vector<double>;

inline constexpr double no_split =
    -std::numeric_limits<double>::infinity();  // the merit of a split that is not allowed

// `start_node`, then for every column `start_column` and, by what the search needs, `set_groups` or `set_missing`: each
// sets all that follows from its arguments and forgets what was set after it before.
template <class Target>
class SplitNode {
public:
    using Instance = typename Target::Instance;

    SplitNode(const Target& target, const TreeColumns& columns, const TreeRules& rules)
        : target_(target), columns_(columns), rules_(rules), grouping_(target, columns) {}
    SplitNode(const SplitNode&) = delete;

    // `bounds` are those of the values of children, as the target is centered.
    void start_node(double impurity, Bounds bounds = {}) {
        impurity_ = impurity;
        bounds_ = bounds;
        has_merit_ = false;
    }

    // `rows` is null where only sums by code are known; `total` are the sums of all rows.
    void start_column(size_t column, const Instance* rows, size_t n_rows, const double* total) {
        column_ = column;
        rows_ = rows;
        n_rows_ = n_rows;
        total_ = total;
        weight_ = target_.weight(total);
        groups_ = nullptr;
    }

    void set_groups(const Groups& groups) {
        groups_ = &groups;
        set_missing(groups.missing_sums);
    }

    // The sums of the rows whose cell is missing.
    void set_missing(const Sums& sums) {
        known_.resize(size());
        for (size_t s = 0; s < size(); ++s) known_[s] = total_[s] - sums[s];
    }

    const Target& target() const { return target_; }
    const TreeColumns& columns() const { return columns_; }
    const TreeRules& rules() const { return rules_; }
    size_t column() const { return column_; }
    const Instance* rows() const { return rows_; }
    size_t n_rows() const { return n_rows_; }
    double weight() const { return weight_; }
    const Groups& groups() const { return *groups_; }  // the rows by code
    const Sums& known() const { return known_; }       // the sums of the rows whose cell is not missing
    Grouping<Target>& grouping() { return grouping_; }
    MedianCost& medians() { return medians_; }
    const MedianCost& medians() const { return medians_; }

    size_t size() const { return target_.size(); }
    bool is_monotonic() const { return rules_.monotonic && rules_.monotonic[column_]; }
    bool by_medians() const { return rules_.criterion == Criterion::absolute; }
    bool learns_missing() const { return !rules_.fractions && groups_->missing_rows > 0; }

    // Merits that differ by rounding are equal.
    double tolerance(double merit) const {
        const double share = rules_.criterion == Criterion::deviation ? 1e-7 : 1e-12;  // of the root of rounding
        return share * (std::abs(merit) + weight_ * impurity_);
    }
    bool is_better(double merit, double best) const {
        return merit > best + (best == no_split ? 0. : tolerance(merit));
    }

    // Whether two parts of a monotone column are in order, and within the bounds of the node: as in scikit-learn the
    // parts of other columns may be outside, and their values are clipped.
    auto keeps_order(Doubles left, Doubles right) const {
        const double direction = rules_.monotonic[column_];
        return ((right - left) * direction >= 0.) & (left >= bounds_.lower) & (left <= bounds_.upper) &
               (right >= bounds_.lower) & (right <= bounds_.upper);
    }

    bool keeps_order(double left, double right) const { return keeps_order(splat(left), splat(right))[0] != 0; }

    // Adds the sums of the groups [from, to).
    void add_groups(Sums& into, size_t from, size_t to) const {
        for (size_t g = from; g < to; ++g)
            for (size_t s = 0; s < size(); ++s) into[s] += groups_->sums[g * size() + s];
    }

    // The merit of the groups [from, to), whose sums are given, with or without the rows whose cell is missing.
    double part_merit(size_t from, size_t to, const Sums& sums, bool with_missing) {
        if (by_medians()) {
            medians_.clear();
            for (size_t g = from; g < to; ++g) medians_.add_group(g);
            if (with_missing) medians_.add_missing();
            return -medians_.cost();
        }
        Sums all = sums;
        if (with_missing)
            for (size_t s = 0; s < size(); ++s) all[s] += groups_->missing_sums[s];
        return merit_of(target_, all.data());
    }

    // Gain and score of a split of the groups into parts of these sums.
    void score_split(FoundSplit& found, double merit, std::vector<Sums>& parts) {
        score_split(found, merit, parts, 0., groups_->missing_rows ? &groups_->missing_sums : nullptr);
    }

    // `missing_sums` are those of rows whose cell is missing and which are not in `parts`. With fractions they neither
    // gain nor lose.
    void score_split(FoundSplit& found, double merit, std::vector<Sums>& parts, double penalty,
                     const Sums* missing_sums) {
        const bool apart = rules_.fractions && missing_sums;
        if (missing_sums && !apart)
            for (size_t s = 0; s < size(); ++s)
                parts[static_cast<size_t>(found.missing_child)][s] += (*missing_sums)[s];
        const double base = by_medians() ? part_merit(0, groups_->count, {}, missing_sums && !apart)
                            : apart      ? merit_of(target_, known_.data())
                                         : node_merit();
        found.valid = true;
        found.gain = (merit - base - penalty) / weight_;
        if (std::abs(found.gain) <= 1e-13 * (std::abs(merit) / weight_ + impurity_)) found.gain = 0.;
        found.score = found.gain;
        if (!rules_.fractions && found.missing_child < 0) found.missing_child = heaviest(parts);
        if (rules_.criterion == Criterion::gain_ratio) found.score = gain_ratio(found.gain, parts);
        if (rules_.costs) found.score = found.score * std::abs(found.score) / rules_.costs[column_];
    }

private:
    double node_merit() {
        if (!has_merit_) merit_ = merit_of(target_, total_);
        has_merit_ = true;
        return merit_;
    }

    // Where no cell is missing in training, missing cells will go to the heaviest child.
    std::int32_t heaviest(const std::vector<Sums>& parts) const {
        std::int32_t child = -1;
        double most = no_split;
        for (size_t p = 0; p < parts.size(); ++p) {
            const double w = target_.weight(parts[p].data());
            if (!(w <= most * (1 + 1e-12))) most = w, child = static_cast<std::int32_t>(p);
        }
        return child;
    }

    // The gain divided by the entropy of the branches, missing cells one more.
    double gain_ratio(double gain, const std::vector<Sums>& parts) const {
        double information = 0., rest = weight_;
        for (const Sums& part : parts) {
            const double w = target_.weight(part.data());
            rest -= w;
            if (w > 0.) information -= w / weight_ * std::log2(w / weight_);
        }
        if (rules_.fractions && rest > 1e-12 * weight_) information -= rest / weight_ * std::log2(rest / weight_);
        return information > 0. ? gain / information : 0.;
    }

    const Target& target_;
    const TreeColumns& columns_;
    const TreeRules& rules_;
    Bounds bounds_;
    double impurity_ = 1.;  // of the node: gains below its rounding error are zero
    double merit_ = 0.;     // of all rows of the node, once it is known
    bool has_merit_ = false;

    size_t column_ = 0;
    const Instance* rows_ = nullptr;
    size_t n_rows_ = 0;
    const double* total_ = nullptr;
    double weight_ = 0.;
    const Groups* groups_ = nullptr;
    Sums known_;

    Grouping<Target> grouping_;
    MedianCost medians_;
};

}  // namespace lyceum::trees
