// The best split of a node by one column: every kind of split, every treatment of missing cells.
#pragma once
#include <bit>
#include <limits>

#include "hash_uniform.hpp"
#include "tree_groups.hpp"
#include "tree_median.hpp"

namespace lyceum {

enum class SplitKind : std::uint8_t { leaf, threshold, intervals, categories, groups };
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
    double min_weight = 0.;     // of a branch
    double min_decrease = 0.;   // of the impurity, times the share of the rows
    double max_p = 1.;          // of the chi-square test of branches against classes
    double floor = 0.;          // an impurity that is not split
    size_t max_features = 0;    // columns drawn at a node, 0: all
    bool random = false;        // thresholds are drawn
    bool needs_gain = false;    // a split that gains nothing is not made
    bool release8 = false;      // C4.5's penalty and minimum for continuous columns
    bool record = false;
    std::uint64_t seed = 0;
    const double* costs = nullptr;
};

struct Found {
    bool valid = false;
    bool constant = false;  // there is one value at most, here and in all nodes below
    SplitKind kind = SplitKind::leaf;
    double gain = 0., score = 0.;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    std::uint32_t cut = 0;               // threshold: the last code on the left
    std::int32_t absent = -1;            // the child of missing cells, if they have one
    std::int32_t children = 2;
    std::vector<std::uint32_t> cuts;     // intervals: the last codes of all but the last
    std::vector<double> cut_values;
    std::vector<std::int32_t> branches;  // categories and groups: the child of every code, -1 if there is none
};

// Places where the rows may be cut in two, side by side: the sums and the number of the rows before each.
struct Places {
    static constexpr size_t most = 256;
    std::vector<double> sums;  // (size, most)
    double rows[most], merits[most];
    std::uint32_t left[most], right[most];  // the codes on either side
    size_t count = 0;

    explicit Places(size_t size) : sums(size * most) {}
};

// A few random numbers that depend on the seed of a node alone.
struct NodeRandom {
    std::uint64_t state;
    std::uint64_t next() { return mix(state += 0x9E3779B97F4A7C15u); }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    size_t below(size_t n) { return static_cast<size_t>((static_cast<unsigned __int128>(next()) * n) >> 64); }
};

template <class Target>
class SplitSearch {
public:
    using Instance = typename Target::Instance;

    SplitSearch(const Target& target, const TreeColumns& columns, const TreeRules& rules)
        : target_(target), columns_(columns), rules_(rules), size_(target.size()), grouping_(target, columns), places_(size_) {}

    // `total` are the sums of all rows; `sorted` is the order of the rows, if it is known; the random numbers are used by
    // random splits only.
    Found operator()(const Instance* rows, size_t m, const double* total, size_t j, const std::uint64_t* sorted,
                     NodeRandom random) {
        rows_ = rows;
        m_ = m;
        Found found;
        if (draws(j)) {
            at(total, j);
            drawn(found, random);
        } else if (columns_.is_category[j] || rules_.multi_way || rules_.criterion == Criterion::absolute) {
            return among(grouping_(rows, m, j, sorted), total, j, random);
        } else if (sorted || columns_.missing(j) <= most_bins) {
            at(total, j);
            sorted ? in_order(found, sorted) : in_bins(found);
        } else {
            return among(grouping_(rows, m, j, sorted), total, j, random);
        }
        return found;
    }

    // The same of rows that are summed by code already. The absolute error is no such sum.
    Found among(const Groups& groups, const double* total, size_t j, NodeRandom random) {
        at(total, j);
        Found found;
        groups_ = &groups;
        if (draws(j)) {
            drawn_among(found, random);
            return found;
        }
        found.constant = groups_->count + (groups_->absent_rows ? 1 : 0) < 2;
        if (groups_->count + (separate() ? 1 : 0) < 2) return found;
        know(groups_->absent.data());
        if (rules_.criterion == Criterion::absolute) prepare_medians();
        if (!columns_.is_category[j])
            continuous(found);
        else if (rules_.categorical == Categorical::multiway)
            multiway(found);
        else if (rules_.random)
            random_groups(found, random);
        else if (rules_.categorical == Categorical::one_vs_rest)
            one_vs_rest(found);
        else
            two_groups(found);
        return found;
    }

private:
    bool draws(size_t j) const {
        return rules_.random && rules_.criterion != Criterion::absolute && !columns_.is_category[j];
    }

    void at(const double* total, size_t j) {
        total_ = total;
        weight_ = target_.weight(total);
        j_ = j;
    }

    static constexpr double never = -std::numeric_limits<double>::infinity();
    static constexpr std::uint32_t most_bins = 1023;
    static constexpr size_t exhaustive = 10;  // two groups of so many categories are all tried

    struct Cut {
        double merit = never;
        size_t at = 0;    // the last place on the left
        int absent = -1;  // the side of missing cells
        size_t tried = 0;
        std::uint32_t left = 0, right = 0;  // the codes on either side
    };
    using Sums = std::vector<double>;

    // What a cut has to heed: the rows on both sides together, missing cells, and how little a side may have.
    struct Whole {
        const double* sums;
        double rows;
        const double* absent;  // null if they take no side
        double absent_rows, least_weight;
    };

    void know(const double* absent) {
        known_.resize(size_);
        for (size_t s = 0; s < size_; ++s) known_[s] = total_[s] - absent[s];
    }

    bool learns_absent() const { return !rules_.fractions && groups_->absent_rows > 0; }
    // Missing cells of a categorical column are one more category.
    bool separate() const { return columns_.is_category[j_] && learns_absent(); }

    // -- continuous ------------------------------------------------------------------------------------------------

    void continuous(Found& found) {
        if (rules_.multi_way) return intervals(found);
        const Cut cut = best_cut(nullptr, 0, groups_->count, known_, learns_absent(), least_weight());
        if (cut.merit == never) return;
        found.cut = cut.left;
        found.threshold = between(cut.left, cut.right);
        if (rules_.criterion == Criterion::absolute) {
            left_.assign(size_, 0.);
            collect(left_, 0, cut.at + 1);
        }
        settle_two(found, cut, groups_->absent_rows ? &groups_->absent : nullptr);
    }

    // The same from the rows in order, without sums by value.
    void in_order(Found& found, const std::uint64_t* sorted) {
        const auto missing = columns_.missing(j_);
        size_t known = m_;
        absent_.assign(size_, 0.);
        while (known && sorted[known - 1] >> 32 == missing) target_.add(absent_.data(), rows_[static_cast<std::uint32_t>(sorted[--known])]);
        const bool absent = known < m_;
        found.constant = known == 0 || (!absent && sorted[0] >> 32 == sorted[known - 1] >> 32);
        if (found.constant || sorted[0] >> 32 == sorted[known - 1] >> 32) return;
        know(absent_.data());
        Cut best;
        const Whole whole{known_.data(), static_cast<double>(known), absent && !rules_.fractions ? absent_.data() : nullptr,
                          static_cast<double>(m_ - known), least_weight()};
        if constexpr (Target::fixed == 2 && std::is_same_v<Instance, Labelled>)
            scan_two(sorted, known, whole, best);
        else
            scan(sorted, known, whole, best);
        if (best.merit == never) return;
        found.cut = best.left;
        found.threshold = between(best.left, best.right);
        settle_two(found, best, absent ? &absent_ : nullptr);
    }

    // The same where there are few codes: sums by code, of which only those that are there are looked at again.
    void in_bins(Found& found) {
        const auto missing = columns_.missing(j_);
        if (bin_sums_.size() < (missing + 1) * size_) bin_sums_.assign((most_bins + 1) * size_, 0.);
        std::uint64_t there[most_bins / 64 + 1] = {};
        const bool counted = rules_.min_leaf > 1;
        if (counted && bin_rows_.empty()) bin_rows_.assign(most_bins + 1, 0);
        columns_.with_codes(j_, [&](const auto* codes) {
            double* sums = bin_sums_.data();
            for (size_t i = 0; i < m_; ++i) {
                const std::uint32_t code = codes[rows_[i].row];
                target_.add(sums + code * size_, rows_[i]);
                there[code / 64] |= std::uint64_t{1} << (code % 64);
                if (counted) ++bin_rows_[code];
            }
        });
        const std::uint64_t absent_bit = std::uint64_t{1} << (missing % 64);
        const bool absent = there[missing / 64] & absent_bit;
        absent_.assign(size_, 0.);
        double absent_rows = 0.;
        if (absent) {
            there[missing / 64] &= ~absent_bit;
            std::swap_ranges(absent_.begin(), absent_.end(), bin_sums_.begin() + static_cast<std::ptrdiff_t>(missing * size_));
            if (counted) absent_rows = std::exchange(bin_rows_[missing], 0u);
        }
        size_t values = 0;
        for (size_t word = 0; word <= missing / 64; ++word) values += static_cast<size_t>(std::popcount(there[word]));
        found.constant = values + absent < 2;
        know(absent_.data());
        Cut best;
        const Whole whole{known_.data(), static_cast<double>(m_) - absent_rows, absent && !rules_.fractions ? absent_.data() : nullptr,
                          absent_rows, least_weight()};
        scan_bins(there, missing / 64 + 1, values, counted, whole, best);
        if (best.merit == never) return;
        found.cut = best.left;
        found.threshold = between(best.left, best.right);
        settle_two(found, best, absent ? &absent_ : nullptr);
    }

    // Leaves the sums by code zero again.
    void scan_bins(const std::uint64_t* there, size_t words, size_t values, bool counted, const Whole& whole, Cut& best) {
        double running[16] = {}, *prefix = running;
        if (size_ > 16) prefix_.assign(size_, 0.), prefix = prefix_.data();
        size_t c = 0, seen = 0;
        double rows = 0.;
        for (size_t word = 0; word < words; ++word)
            for (std::uint64_t bits = there[word]; bits; bits &= bits - 1) {
                const auto code = static_cast<std::uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(bits)));
                if (c) places_.right[c - 1] = code;
                if (c == Places::most) weigh(c, 0, whole, best), c = 0;
                double* sums = bin_sums_.data() + code * size_;
                for (size_t k = 0; k < size_; ++k) {
                    places_.sums[k * Places::most + c] = prefix[k] += sums[k];
                    sums[k] = 0.;
                }
                if (counted) rows += std::exchange(bin_rows_[code], 0u);
                places_.rows[c] = rows;
                places_.left[c] = code;
                if (++seen < values) ++c;  // there is nothing right of the last
            }
        if (c && values > 1) weigh(c, 0, whole, best);
    }

    void scan(const std::uint64_t* sorted, size_t known, const Whole& whole, Cut& best) {
        prefix_.assign(size_, 0.);
        target_.add(prefix_.data(), rows_[static_cast<std::uint32_t>(sorted[0])]);
        size_t c = 0;
        for (size_t i = 1; i < known; ++i) {
            const auto before = static_cast<std::uint32_t>(sorted[i - 1] >> 32), code = static_cast<std::uint32_t>(sorted[i] >> 32);
            for (size_t k = 0; k < size_; ++k) places_.sums[k * Places::most + c] = prefix_[k];
            places_.rows[c] = static_cast<double>(i);
            places_.left[c] = before;
            places_.right[c] = code;
            c += before != code;
            target_.add(prefix_.data(), rows_[static_cast<std::uint32_t>(sorted[i])]);
            if (c == Places::most) weigh(c, 0, whole, best), c = 0;
        }
        if (c) weigh(c, 0, whole, best);
    }

    // Two classes: their sums stay in registers.
    void scan_two(const std::uint64_t* sorted, size_t known, const Whole& whole, Cut& best) {
        const Instance* rows = rows_;
        double *sum0 = places_.sums.data(), *sum1 = sum0 + Places::most;
        const Instance& first = rows[static_cast<std::uint32_t>(sorted[0])];
        double all = first.w, ones = first.k ? first.w : 0.;
        auto before = static_cast<std::uint32_t>(sorted[0] >> 32);
        size_t c = 0;
        for (size_t i = 1; i < known; ++i) {
            const auto code = static_cast<std::uint32_t>(sorted[i] >> 32);
            const Instance& row = rows[static_cast<std::uint32_t>(sorted[i])];
            sum0[c] = all - ones;
            sum1[c] = ones;
            places_.rows[c] = static_cast<double>(i);
            places_.left[c] = before;
            places_.right[c] = code;
            c += before != code;
            before = code;
            all += row.w;
            ones += row.k ? row.w : 0.;
            if (c == Places::most) weigh(c, 0, whole, best), c = 0;
        }
        if (c) weigh(c, 0, whole, best);
    }

    // A threshold or a cut of ordered groups whose left part has the sums `left_`.
    void settle_two(Found& found, const Cut& cut, const Sums* absent) {
        found.kind = SplitKind::threshold;
        found.absent = cut.absent;
        parts_.resize(2);
        parts_[0] = left_;
        parts_[1].resize(size_);
        for (size_t s = 0; s < size_; ++s) parts_[1][s] = known_[s] - left_[s];
        settle(found, cut.merit, parts_, rules_.release8 ? std::log2(std::max(1., static_cast<double>(cut.tried))) : 0., absent);
    }

    // C4.5 wants a tenth of the average class in either part of a continuous column, at most 25.
    double least_weight() const {
        if (!rules_.release8) return rules_.min_weight;
        const double tenth = 0.1 * target_.weight(known_.data()) / static_cast<double>(size_);
        return tenth <= rules_.min_weight ? rules_.min_weight : std::min(tenth, 25.);
    }

    double between(std::uint32_t left, std::uint32_t right) const {
        const double *low = columns_.smallest(j_), *high = columns_.largest(j_);
        const double a = high[left], b = low[right];
        double middle = a + (b - a) / 2;
        if (!(middle < b)) middle = a;  // rounded up to the larger one
        if (!rules_.observed) return middle;
        return high[std::upper_bound(high, high + columns_.n_codes[j_], middle) - high - 1];
    }

    void collect(Sums& into, size_t from, size_t to) const {
        for (size_t g = from; g < to; ++g)
            for (size_t s = 0; s < size_; ++s) into[s] += groups_->sums[g * size_ + s];
    }

    // Cuts one interval after the other where it gains most, until there are enough of them or none gains.
    void intervals(Found& found) {
        struct Piece {
            size_t from, to;
            Cut cut;
            double gain;
        };
        auto piece = [&](size_t from, size_t to) {
            Sums sums(size_, 0.);
            collect(sums, from, to);
            const Cut cut = best_cut(nullptr, from, to, sums, false, rules_.min_weight);
            return Piece{from, to, cut, cut.merit == never ? never : cut.merit - part_merit(from, to, sums, false)};
        };
        std::vector<Piece> pieces{piece(0, groups_->count)};
        const double least = 1e-12 * (std::abs(pieces[0].cut.merit) + weight_);
        while (pieces.size() < rules_.max_branches) {
            auto best = std::max_element(pieces.begin(), pieces.end(),
                                         [](const Piece& a, const Piece& b) { return a.gain < b.gain; });
            if (!(best->gain > least) && pieces.size() > 1) break;
            if (best->gain == never) return;
            const Piece old = *best;
            *best = piece(old.from, old.cut.at + 1);
            pieces.insert(best + 1, piece(old.cut.at + 1, old.to));
        }
        found.kind = SplitKind::intervals;
        found.children = static_cast<std::int32_t>(pieces.size());
        std::vector<Sums> parts(pieces.size(), Sums(size_, 0.));
        for (size_t p = 0; p < pieces.size(); ++p) {
            collect(parts[p], pieces[p].from, pieces[p].to);
            if (p + 1 == pieces.size()) break;
            const auto last = groups_->code[pieces[p].to - 1];
            found.cuts.push_back(last);
            found.cut_values.push_back(between(last, groups_->code[pieces[p].to]));
        }
        double merit = 0.;
        std::vector<double> merits;
        for (size_t p = 0; p < pieces.size(); ++p) merits.push_back(part_merit(pieces[p].from, pieces[p].to, parts[p], false));
        merit = std::accumulate(merits.begin(), merits.end(), 0.);
        if (learns_absent()) {
            double best = never;
            for (size_t p = 0; p < pieces.size(); ++p) {
                const double with = merit - merits[p] + part_merit(pieces[p].from, pieces[p].to, parts[p], true);
                if (with > best + 1e-12 * std::abs(with)) best = with, found.absent = static_cast<std::int32_t>(p);
            }
            merit = best;
        }
        settle(found, merit, parts, 0.);
    }

    // The merit of the groups [from, to), whose sums are given, with or without the rows that have no value.
    double part_merit(size_t from, size_t to, const Sums& sums, bool with_absent) {
        if (rules_.criterion == Criterion::absolute) {
            medians_.clear();
            for (size_t g = from; g < to; ++g) medians_.add_group(g);
            if (with_absent) medians_.add_absent();
            return -medians_.cost();
        }
        Sums all = sums;
        if (with_absent)
            for (size_t s = 0; s < size_; ++s) all[s] += groups_->absent[s];
        return merit_of(target_, all.data());
    }

    // The best place to cut the groups [from, to), in `order` if it is given; the sums before it are in `left_`.
    Cut best_cut(const std::uint32_t* order, size_t from, size_t to, const Sums& sums, bool absent, double least) {
        if (rules_.criterion == Criterion::absolute) return best_median_cut(order, from, to, absent, least);
        Cut best;
        double rows = 0., all_rows = 0.;
        for (size_t g = from; g < to; ++g) all_rows += groups_->rows[order ? order[g] : g];
        const Whole whole{sums.data(), all_rows, absent ? groups_->absent.data() : nullptr,
                          static_cast<double>(groups_->absent_rows), least};
        prefix_.assign(size_, 0.);
        for (size_t start = from; start + 1 < to; start += Places::most) {
            const size_t count = std::min(Places::most, to - 1 - start);
            for (size_t c = 0; c < count; ++c) {
                const size_t g = order ? order[start + c] : start + c;
                places_.rows[c] = rows += groups_->rows[g];
                places_.left[c] = groups_->code[g];
                places_.right[c] = groups_->code[order ? order[start + c + 1] : start + c + 1];
                const double* s = groups_->of(g, size_);
                for (size_t k = 0; k < size_; ++k) places_.sums[k * Places::most + c] = prefix_[k] += s[k];
            }
            weigh(count, start, whole, best);
        }
        return best;
    }

    // The merits of cuts at the first `count` places; keeps the best, the first of equals.
    void weigh(size_t count, size_t start, const Whole& whole, Cut& best) {
        const size_t full = round_up(count, lanes<double>);
        for (size_t c = count; c < full; ++c) {
            places_.rows[c] = places_.rows[count - 1];
            for (size_t k = 0; k < size_; ++k) places_.sums[k * Places::most + c] = places_.sums[k * Places::most + count - 1];
        }
        const bool free = rules_.min_leaf <= 1 && whole.least_weight <= 0.;
        for (int side = whole.absent ? 0 : -1; side < (whole.absent ? 2 : 0); ++side) {
            const double top = free ? merits<true>(full, side, whole) : merits<false>(full, side, whole);
            if (side <= 0 && rules_.release8)
                for (size_t c = 0; c < count; ++c) best.tried += places_.merits[c] > never;
            if (!(top > best.merit + (best.merit == never ? 0. : tolerance(top)))) continue;
            size_t at = 0;
            while (places_.merits[at] < top - tolerance(top)) ++at;
            best.merit = top;
            best.at = start + at;
            best.absent = side;
            best.left = places_.left[at];
            best.right = places_.right[at];
            left_.resize(size_);
            for (size_t k = 0; k < size_; ++k) left_[k] = places_.sums[k * Places::most + at];
        }
    }

    // Fills places_.merits and returns the largest; `Free` where any row may stand alone.
    template <bool Free>
    double merits(size_t full, int side, const Whole& whole) {
        Doubles stack[2 * 16];
        std::vector<Doubles, AlignedAllocator<Doubles>> heap(size_ > 16 ? 2 * size_ : 0);
        Doubles *left = size_ > 16 ? heap.data() : stack, *right = left + size_;
        Doubles highest = splat(never);
        // rows are counted only where some are too few
        const double few = rules_.min_leaf > 1 ? static_cast<double>(rules_.min_leaf) : 0.;
        const double least = whole.least_weight * (1 - 1e-12);  // the right part is a difference, and rounded
        const double more_left = side == 0 ? whole.absent_rows : 0., more_right = side == 1 ? whole.absent_rows : 0.;
        for (size_t c = 0; c < full; c += lanes<double>) {
            for (size_t k = 0; k < size_; ++k) {
                left[k] = load(places_.sums.data() + k * Places::most + c);
                right[k] = whole.sums[k] - left[k];
            }
            if (side >= 0)
                for (size_t k = 0; k < size_; ++k) (side == 0 ? left : right)[k] += whole.absent[k];
            Doubles merit = target_.merit_of_two(left, right);
            if constexpr (!Free) {
                const Doubles l = load(places_.rows + c) + more_left, r = whole.rows + more_left + more_right - l;
                merit = (l >= few) & (r >= few) & (target_.weight(left) >= least) & (target_.weight(right) >= least) ? merit : splat(never);
            }
            store(places_.merits + c, merit);
            highest = vmax<double>(highest, merit);
        }
        double top = never;
        for (int i = 0; i < lanes<double>; ++i) top = std::max(top, highest[i]);
        return top;
    }

    // Merits that differ by rounding are equal.
    double tolerance(double merit) const {
        const double share = rules_.criterion == Criterion::deviation ? 1e-7 : 1e-12;  // of the root of rounding
        return share * (std::abs(merit) + weight_ * scale_);
    }

    // -- categories ------------------------------------------------------------------------------------------------

    // The groups with, where it is learned, one more of the missing cells, whose code is the last.
    void with_separate() {
        if (!separate()) return;
        extended_ = *groups_;
        const size_t g = groups_->count;
        extended_.code.resize(g + 1);
        extended_.rows.resize(g + 1);
        extended_.sums.resize((g + 1) * size_);
        extended_.code[g] = columns_.missing(j_);
        extended_.rows[g] = groups_->absent_rows;
        std::copy_n(groups_->absent.data(), size_, extended_.sums.data() + g * size_);
        for (size_t s = 0; s < size_; ++s) known_[s] += groups_->absent[s];
        extended_.absent_rows = 0;
        extended_.absent.assign(size_, 0.);
        extended_.count = g + 1;
        groups_ = &extended_;
    }

    void multiway(Found& found) {
        with_separate();
        const size_t count = groups_->count;
        double merit = 0.;
        size_t enough = 0;
        std::vector<Sums> parts;
        for (size_t g = 0; g < count; ++g) {
            parts.emplace_back(groups_->of(g, size_), groups_->of(g, size_) + size_);
            merit += part_merit(g, g + 1, parts.back(), false);
            enough += groups_->rows[g] >= rules_.min_leaf && target_.weight(parts.back().data()) >= rules_.min_weight;
        }
        if (enough < 2) return;
        found.kind = SplitKind::categories;
        found.children = static_cast<std::int32_t>(count);
        assign_branches(found, [&](size_t g) { return static_cast<std::int32_t>(g); });
        settle(found, merit, parts, 0.);
    }

    template <class Side>
    void assign_branches(Found& found, Side&& side) {
        found.branches.assign(static_cast<size_t>(columns_.n_codes[j_]), -1);
        for (size_t g = 0; g < groups_->count; ++g) {
            if (groups_->code[g] == columns_.missing(j_))
                found.absent = side(g);
            else
                found.branches[groups_->code[g]] = side(g);
        }
    }

    // `on_left` says of every group whether it is in the first part.
    void settle_groups(Found& found, double merit, const std::vector<std::uint8_t>& on_left) {
        found.kind = SplitKind::groups;
        found.children = 2;
        found.absent = -1;
        assign_branches(found, [&](size_t g) { return on_left[g] ? 0 : 1; });
        std::vector<Sums> parts(2, Sums(size_, 0.));
        for (size_t g = 0; g < groups_->count; ++g)
            for (size_t s = 0; s < size_; ++s) parts[on_left[g] ? 0 : 1][s] += groups_->sums[g * size_ + s];
        settle(found, merit, parts, 0.);
    }

    // The merit of two groups, if either has enough rows.
    double merit_of_groups(const std::vector<std::uint8_t>& on_left) {
        Sums parts[2] = {Sums(size_, 0.), Sums(size_, 0.)};
        size_t rows[2] = {};
        for (size_t g = 0; g < groups_->count; ++g) {
            const int side = on_left[g] ? 0 : 1;
            rows[side] += groups_->rows[g];
            for (size_t s = 0; s < size_; ++s) parts[side][s] += groups_->sums[g * size_ + s];
        }
        for (int side = 0; side < 2; ++side)
            if (rows[side] < std::max<size_t>(rules_.min_leaf, 1) || target_.weight(parts[side].data()) < rules_.min_weight)
                return never;
        if (rules_.criterion != Criterion::absolute)
            return merit_of(target_, parts[0].data()) + merit_of(target_, parts[1].data());
        double merit = 0.;
        for (int side = 0; side < 2; ++side) {
            medians_.clear();
            for (size_t g = 0; g < groups_->count; ++g)
                if ((on_left[g] ? 0 : 1) == side) medians_.add_group(g);
            merit -= medians_.cost();
        }
        return merit;
    }

    void one_vs_rest(Found& found) {
        with_separate();
        double best = never;
        std::vector<std::uint8_t> on_left(groups_->count), kept;
        for (size_t g = 0; g < groups_->count; ++g) {
            std::fill(on_left.begin(), on_left.end(), 0);
            on_left[g] = 1;
            const double merit = merit_of_groups(on_left);
            if (merit > best + (best == never ? 0. : tolerance(merit))) best = merit, kept = on_left;
        }
        if (best != never) settle_groups(found, best, kept);
    }

    // Ordered by the share of a class or by the mean, some cut is the best of all pairs of groups for two classes and
    // for the variance (Breiman et al. 1984, 4.2.2). Else all pairs of groups are tried while there are few categories,
    // and after that the cuts of every class's order.
    void two_groups(Found& found) {
        with_separate();
        const bool ordered = rules_.criterion != Criterion::deviation && rules_.criterion != Criterion::gain_ratio &&
                             rules_.criterion != Criterion::absolute && rules_.criterion != Criterion::loss &&
                             (Target::fixed != 0 || size_ <= 2);
        const size_t count = groups_->count;
        std::vector<std::uint8_t> on_left(count), kept;
        double best = never;
        if (!ordered && count <= exhaustive && rules_.criterion != Criterion::absolute) {
            for (std::uint32_t set = 1; set < (1u << (count - 1)); ++set) {
                for (size_t g = 0; g < count; ++g) on_left[g] = !((set >> g) & 1);
                const double merit = merit_of_groups(on_left);
                if (merit > best + (best == never ? 0. : tolerance(merit))) best = merit, kept = on_left;
            }
        } else {
            std::vector<std::uint32_t> order(count);
            std::vector<double> key(count);
            const size_t orders = std::is_same_v<Instance, Labelled> && size_ > 2 ? size_ : 1;
            for (size_t k = 0; k < orders; ++k) {
                for (size_t g = 0; g < count; ++g) key[g] = order_key(g, k);
                std::iota(order.begin(), order.end(), 0u);
                std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key[a] < key[b]; });
                const Cut cut = best_cut(order.data(), 0, count, known_, false, rules_.min_weight);
                if (cut.merit == never || !(cut.merit > best + (best == never ? 0. : tolerance(best)))) continue;
                best = cut.merit;
                kept.assign(count, 0);
                for (size_t p = 0; p <= cut.at; ++p) kept[order[p]] = 1;
            }
        }
        if (best == never) return;
        if (!kept[0])
            for (auto& side : kept) side = !side;  // the first category that is there is in the first group
        settle_groups(found, best, kept);
    }

    double order_key(size_t g, size_t k) const {
        const double* s = groups_->of(g, size_);
        if (rules_.criterion == Criterion::absolute) return medians_.group_median(g);
        const size_t which = std::is_same_v<Instance, Measured> ? 1 : (size_ > 2 ? k : size_ - 1);
        return s[which] / target_.weight(s);
    }

    // -- random ----------------------------------------------------------------------------------------------------

    // A threshold drawn between the smallest and the largest value.
    void drawn(Found& found, NodeRandom& random) {
        const std::uint32_t* code = grouping_.codes(rows_, m_, j_);
        const auto missing = columns_.missing(j_);
        std::uint32_t least = std::numeric_limits<std::uint32_t>::max(), most = 0;
        size_t absent_rows = 0;
        for (size_t i = 0; i < m_; ++i) {
            const bool absent = code[i] == missing;
            absent_rows += absent;
            least = std::min(least, absent ? least : code[i]);
            most = std::max(most, absent ? most : code[i]);
        }
        found.constant = least >= most && absent_rows == 0;
        if (least >= most) return;
        draw(found, random, least, most);
        left_.assign(size_, 0.);
        absent_.assign(size_, 0.);
        size_t left_rows = 0;
        if constexpr (Target::fixed == 2 && std::is_same_v<Instance, Labelled>) {
            // right or left, class: four rows in turn, so that no sum waits for the one before
            double cells[4][4] = {};
            for (size_t i = 0; i < m_; ++i)
                cells[i % 4][2 * (code[i] <= found.cut) + (rows_[i].k != 0)] += rows_[i].w;
            for (size_t i = 0; i < m_; ++i) left_rows += code[i] <= found.cut;
            for (const auto& some : cells) left_[0] += some[2], left_[1] += some[3];
        } else {
            for (size_t i = 0; i < m_; ++i)
                if (code[i] <= found.cut) target_.add(left_.data(), rows_[i]), ++left_rows;
        }
        for (size_t i = 0; i < m_ && absent_rows; ++i)
            if (code[i] == missing) target_.add(absent_.data(), rows_[i]);
        settle_drawn(found, left_.data(), left_rows, m_ - absent_rows, absent_rows);
    }

    void drawn_among(Found& found, NodeRandom& random) {
        const size_t count = groups_->count;
        found.constant = count + (groups_->absent_rows ? 1 : 0) < 2;
        if (count < 2) return;
        draw(found, random, groups_->code[0], groups_->code[count - 1]);
        Sums left(size_, 0.);
        size_t left_rows = 0, known_rows = 0;
        for (size_t g = 0; g < count; ++g) {
            known_rows += groups_->rows[g];
            if (groups_->code[g] > found.cut) continue;
            for (size_t s = 0; s < size_; ++s) left[s] += groups_->sums[g * size_ + s];
            left_rows += groups_->rows[g];
        }
        absent_ = groups_->absent;
        settle_drawn(found, left.data(), left_rows, known_rows, groups_->absent_rows);
    }

    void draw(Found& found, NodeRandom& random, std::uint32_t least, std::uint32_t most) const {
        const double *low = columns_.smallest(j_), *high = columns_.largest(j_);
        const double drawn = high[least] + random.uniform() * (low[most] - high[least]);
        const auto cut = static_cast<std::uint32_t>(std::upper_bound(high + least, high + most, drawn) - high);
        found.cut = cut > least ? cut - 1 : least;
        found.threshold = drawn >= high[found.cut] && drawn < low[found.cut + 1] ? drawn : high[found.cut];
    }

    // One place, whose left part has the sums given; those of missing cells are in `absent_`.
    void settle_drawn(Found& found, const double* left, size_t left_rows, size_t known_rows, size_t absent_rows) {
        know(absent_.data());
        for (size_t k = 0; k < size_; ++k) places_.sums[k * Places::most] = left[k];
        places_.rows[0] = static_cast<double>(left_rows);
        places_.left[0] = found.cut;
        Cut best;
        const Whole whole{known_.data(), static_cast<double>(known_rows),
                          absent_rows && !rules_.fractions ? absent_.data() : nullptr, static_cast<double>(absent_rows),
                          rules_.min_weight};
        weigh(1, 0, whole, best);
        if (best.merit != never) settle_two(found, best, absent_rows ? &absent_ : nullptr);
    }

    // Every category on a side drawn for it.
    void random_groups(Found& found, NodeRandom& random) {
        with_separate();
        std::vector<std::uint8_t> on_left(groups_->count);
        const size_t forced = random.below(groups_->count);
        for (size_t g = 0; g < groups_->count; ++g) on_left[g] = static_cast<std::uint8_t>(random.next() >> 63);
        const size_t other = (forced + 1 + random.below(groups_->count - 1)) % groups_->count;
        on_left[forced] = 1;
        on_left[other] = 0;
        const double merit = merit_of_groups(on_left);
        if (merit != never) settle_groups(found, merit, on_left);
    }

    // -- absolute error --------------------------------------------------------------------------------------------

    void prepare_medians() {
        if constexpr (std::is_same_v<Instance, Measured>)
            medians_.prepare(rows_, m_, grouping_.codes(rows_, m_, j_), columns_.missing(j_));
    }

    Cut best_median_cut(const std::uint32_t* order, size_t from, size_t to, bool absent, double least) {
        Cut best;
        const size_t count = to - from;
        auto at = [&](size_t g) { return order ? order[g] : static_cast<std::uint32_t>(g); };
        for (int side = absent ? 0 : -1; side < (absent ? 2 : 0); ++side) {
            std::vector<double> before(count), weight(count);
            std::vector<size_t> rows(count);
            medians_.clear();
            size_t n = 0;
            if (side == 0) medians_.add_absent(), n += groups_->absent_rows;
            for (size_t g = from; g < to; ++g) {
                medians_.add_group(at(g));
                n += groups_->rows[at(g)];
                before[g - from] = medians_.cost();
                weight[g - from] = medians_.weight();
                rows[g - from] = n;
            }
            medians_.clear();
            n = 0;
            if (side == 1) medians_.add_absent(), n += groups_->absent_rows;
            for (size_t g = to - 1; g > from; --g) {
                medians_.add_group(at(g));
                n += groups_->rows[at(g)];
                const double merit = -before[g - 1 - from] - medians_.cost();
                const bool fits = n >= rules_.min_leaf && rows[g - 1 - from] >= rules_.min_leaf &&
                                  medians_.weight() >= least && weight[g - 1 - from] >= least;
                best.tried += fits && side <= 0;
                const double slack = best.merit == never ? 0. : tolerance(merit);
                // from the right: of equal cuts the last that is seen is the first, unless another side had it
                if (fits && (best.merit == never || merit > best.merit + slack ||
                             (merit > best.merit - slack && best.absent == side)))
                    best = {std::max(best.merit, merit), g - 1, side, best.tried, groups_->code[at(g - 1)], groups_->code[at(g)]};
            }
        }
        return best;
    }

    // -- the score -------------------------------------------------------------------------------------------------

    void settle(Found& found, double merit, std::vector<Sums>& parts, double penalty) {
        settle(found, merit, parts, penalty, groups_->absent_rows ? &groups_->absent : nullptr);
    }

    // `absent` are the sums of rows that have no value and are not in `parts`. With fractions they neither gain nor lose.
    void settle(Found& found, double merit, std::vector<Sums>& parts, double penalty, const Sums* absent) {
        const bool apart = rules_.fractions && absent;
        if (absent && !apart)
            for (size_t s = 0; s < size_; ++s) parts[static_cast<size_t>(found.absent)][s] += (*absent)[s];
        double base;
        if (rules_.criterion == Criterion::absolute) {
            medians_.clear();
            for (size_t g = 0; g < groups_->count; ++g) medians_.add_group(g);
            if (!apart && absent) medians_.add_absent();
            base = -medians_.cost();
        } else {
            base = merit_of(target_, apart ? known_.data() : total_);
        }
        found.valid = true;
        found.gain = (merit - base - penalty) / weight_;
        if (std::abs(found.gain) <= 1e-13 * (std::abs(merit) / weight_ + scale_)) found.gain = 0.;
        found.score = found.gain;
        if (!rules_.fractions && found.absent < 0) heaviest(found, parts);
        if (rules_.criterion == Criterion::gain_ratio) found.score = ratio(found.gain, parts);
        if (rules_.costs) found.score = found.score * std::abs(found.score) / rules_.costs[j_];
    }

    // Where no cell is missing, missing cells will go to the heaviest child.
    void heaviest(Found& found, const std::vector<Sums>& parts) {
        double most = never;
        for (size_t p = 0; p < parts.size(); ++p) {
            const double w = target_.weight(parts[p].data());
            if (!(w <= most * (1 + 1e-12))) most = w, found.absent = static_cast<std::int32_t>(p);
        }
    }

    // The gain by the entropy of the branches, missing cells one more.
    double ratio(double gain, const std::vector<Sums>& parts) const {
        double information = 0., rest = weight_;
        for (const Sums& part : parts) {
            const double w = target_.weight(part.data());
            rest -= w;
            if (w > 0.) information -= w / weight_ * std::log2(w / weight_);
        }
        if (rules_.fractions && rest > 1e-12 * weight_) information -= rest / weight_ * std::log2(rest / weight_);
        return information > 0. ? gain / information : 0.;
    }

public:
    double scale_ = 1.;  // what an impurity of the node is like: below its rounding, gains are zero

private:
    const Target& target_;
    const TreeColumns& columns_;
    const TreeRules& rules_;
    const size_t size_;
    Grouping<Target> grouping_;
    MedianCost medians_;
    Groups extended_;
    const Groups* groups_ = nullptr;
    const Instance* rows_ = nullptr;
    const double* total_ = nullptr;
    size_t m_ = 0, j_ = 0;
    double weight_ = 0.;
    Sums known_, absent_, prefix_, left_;
    std::vector<Sums> parts_;
    std::vector<double> bin_sums_;          // zero between searches
    std::vector<std::uint32_t> bin_rows_;
    Places places_;
};

}  // namespace lyceum
