// The best split of a node on one column, from its histogram.
//
// With G and H the sums of gradients and hessians of a side, the second-order objective falls by
//     1/2 [G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda)],
// the missing cells on whichever side is better. Categories are put in the order of G / (H + smoothing) and cut in two
// like numbers (for squared error the best of all groupings: Fisher 1958), with lambda + smoothing for lambda. Those of
// fewer rows than half of what a leaf needs are taken together as one.
#pragma once
#include <limits>

#include <lyceum/boosting/gradient_histogram.hpp>

namespace lyceum::boosting {

inline constexpr double equal = 1e-12;  // of two gains, in proportion

struct Totals {
    Sum g = 0, n = 0, h = 0;  // in units

    Totals operator-(const Totals& o) const { return {g - o.g, n - o.n, h - o.h}; }
};

struct Split {
    double gain = 0;
    std::int32_t column = -1, bin = 0;  // bins up to `bin` go left; for categories see `sides`
    bool missing_left = false, is_category = false;
    Totals left;
    std::uint8_t sides[slots];  // of categories: 0 left, 1 right, 2 does not occur
};

// Where the value of a node must lie for a tree to be monotone.
struct Bounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

struct SplitRule {
    double l2, smoothing, min_hessian;
    Sum min_rows;
};

class SplitFinder {
public:
    SplitFinder(const SplitRule& rule, const Gradients& gradients) : rule_(rule), units_(gradients) {}

    // From now on the values of children lie within the bounds, and on columns with a direction rise or fall.
    void bound(const Bounds& bounds) {
        bounds_ = bounds;
        bounded_ = true;
    }
    void set_direction(int direction) { direction_ = direction; }

    // Replaces `best` by the best split on this column if that is better.
    void find(const Sum* histogram, size_t n_bins, std::int32_t column, bool is_category, const Totals& total,
              Split& best) {
        const size_t bins = n_bins + 1;
        missing_ = at(histogram, bins, n_bins);
        total_ = total;
        if (total.n == missing_.n) return;
        if (is_category)
            find_groups(histogram, n_bins, column, best);
        else
            find_threshold(histogram, n_bins, column, best);
    }

    // The Newton step of some rows, within bounds.
    double value(const Totals& t, const Bounds& bounds) const {
        return std::clamp(-g_of(t.g) / (h_of(t) + rule_.l2), bounds.lower, bounds.upper);
    }
    double g_of(Sum g) const { return static_cast<double>(g) * units_.g_unit; }
    double h_of(const Totals& t) const {
        return units_.has_hessian ? static_cast<double>(t.h) * units_.h_unit : static_cast<double>(t.n);
    }

private:
    Totals at(const Sum* histogram, size_t bins, size_t b) const {
        return {histogram[b], histogram[bins + b], units_.has_hessian ? histogram[2 * bins + b] : 0};
    }

    void find_threshold(const Sum* histogram, size_t n_bins, std::int32_t column, Split& best) {
        const size_t bins = n_bins + 1;
        for (size_t b = 0; b < n_bins; ++b) g_[b] = histogram[b];
        for (size_t b = 0; b < n_bins; ++b) n_[b] = histogram[bins + b];
        if (units_.has_hessian)
            for (size_t b = 0; b < n_bins; ++b) h_[b] = histogram[2 * bins + b];
        const int place = cut(n_bins, column, rule_.l2, best);
        if (place >= 0) {
            best.bin = place;
            best.is_category = false;
        }
    }

    void find_groups(const Sum* histogram, size_t n_bins, std::int32_t column, Split& best) {
        const size_t bins = n_bins + 1;
        std::uint8_t order[slots];
        double key[slots];
        size_t count = 0;
        int rare = -1;  // the first of the rare categories, which stands for all of them
        Totals together;
        for (size_t b = 0; b < n_bins; ++b) {
            const Totals t = at(histogram, bins, b);
            if (!t.n) continue;
            if (2 * t.n < rule_.min_rows) {
                together = {together.g + t.g, together.n + t.n, together.h + t.h};
                if (rare >= 0) continue;
                rare = static_cast<int>(b);
            } else {
                key[b] = g_of(t.g) / (h_of(t) + rule_.smoothing);
            }
            order[count++] = static_cast<std::uint8_t>(b);
        }
        if (rare >= 0) key[rare] = g_of(together.g) / (h_of(together) + rule_.smoothing);
        std::sort(order, order + count,
                  [&](std::uint8_t a, std::uint8_t b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });
        for (size_t i = 0; i < count; ++i) {
            const Totals t = order[i] == rare ? together : at(histogram, bins, order[i]);
            g_[i] = t.g, n_[i] = t.n, h_[i] = t.h;
        }
        const int place = cut(count, column, rule_.l2 + rule_.smoothing, best);
        if (place < 0) return;
        best.is_category = true;
        std::fill_n(best.sides, slots, std::uint8_t{2});
        for (size_t i = 0; i < count; ++i) best.sides[order[i]] = static_cast<int>(i) > place;
        if (rare < 0) return;
        for (size_t b = 0; b < n_bins; ++b) {
            const Sum n = histogram[bins + b];
            if (n && 2 * n < rule_.min_rows) best.sides[b] = best.sides[rare];
        }
    }

    // The last place that goes left in the best cut of g_, n_, h_; -1 if it is not better than `best`.
    int cut(size_t count, std::int32_t column, double l2, Split& best) {
        for (size_t b = 1; b < count; ++b) g_[b] += g_[b - 1];
        for (size_t b = 1; b < count; ++b) n_[b] += n_[b - 1];
        if (units_.has_hessian)
            for (size_t b = 1; b < count; ++b) h_[b] += h_[b - 1];
        // all known cells on the left and all missing ones on the right is a split too
        int place = better(missing_.n ? count : count - 1, {}, column, l2, best);
        if (place >= 0) best.missing_left = !missing_.n && 2 * best.left.n >= total_.n;
        if (!missing_.n) return place;
        const int other = better(count - 1, missing_, column, l2, best);
        if (other < 0) return place;
        best.missing_left = true;
        return other;
    }

    // Twice the fall of the objective by a value for rows with the sums g and h; by the best value it is g^2 / (h +
    // l2).
    static double fall(double g, double h, double value) { return -value * (2 * g + h * value); }

    // Sets gain_, what both sides gain together, for every cut that is allowed; returns what the node gains alone.
    template <bool Bounded>
    double fill_gains(size_t count, const Totals& more, double l2) {
        const double none = -std::numeric_limits<double>::infinity();
        const double G = g_of(total_.g), H = h_of(total_), g_unit = units_.g_unit;
        const double least = rule_.min_hessian;
        const Sum rows = total_.n, few = rule_.min_rows;
        const bool by_hessian = units_.has_hessian;
        for (size_t b = 0; b < count; ++b) {
            const double gl = static_cast<double>(g_[b] + more.g) * g_unit;
            const Sum nl = n_[b] + more.n;
            const double hl =
                by_hessian ? static_cast<double>(h_[b] + more.h) * units_.h_unit : static_cast<double>(nl);
            const double gr = G - gl, hr = H - hl;
            const bool open = (nl >= few) & (rows - nl >= few) & (hl >= least) & (hr >= least);
            if constexpr (Bounded) {
                const double left = std::clamp(-gl / (hl + l2), bounds_.lower, bounds_.upper);
                const double right = std::clamp(-gr / (hr + l2), bounds_.lower, bounds_.upper);
                const double value = fall(gl, hl + l2, left) + fall(gr, hr + l2, right);
                gain_[b] = open && (right - left) * direction_ >= 0. ? value : none;
            } else {
                const double value = gl * gl / (hl + l2) + gr * gr / (hr + l2);
                gain_[b] = open ? value : none;
            }
        }
        if constexpr (Bounded) return fall(G, H + rule_.l2, value(total_, bounds_));
        return G * G / (H + rule_.l2);
    }

    [[gnu::noinline]] double fill_bounded_gains(size_t count, const Totals& more, double l2) {
        return fill_gains<true>(count, more, l2);
    }

    int better(size_t count, const Totals& more, std::int32_t column, double l2, Split& best) {
        const double whole = bounded_ ? fill_bounded_gains(count, more, l2) : fill_gains<false>(count, more, l2);
        double top = -std::numeric_limits<double>::infinity();
        for (size_t b = 0; b < count; ++b) top = gain_[b] > top ? gain_[b] : top;
        const double gain = .5 * (top - whole);
        // Splits that are equal but for rounding are equal: the first column, then the lowest bin.
        if (!(gain > best.gain + equal * std::abs(top))) return -1;
        int place = 0;
        // bounded values may gain less than nothing
        const double least = top * (top < 0 ? 1 + equal : 1 - equal);
        while (gain_[place] < least) ++place;
        best.gain = gain;
        best.column = column;
        best.left = {g_[place] + more.g, n_[place] + more.n, units_.has_hessian ? h_[place] + more.h : 0};
        return place;
    }

    SplitRule rule_;
    Gradients units_;
    Totals missing_, total_;
    Bounds bounds_;
    bool bounded_ = false;
    int direction_ = 0;
    Sum g_[slots], n_[slots], h_[slots];
    double gain_[slots];
};

}  // namespace lyceum::boosting
