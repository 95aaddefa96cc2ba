// The best threshold of a continuous column: from rows that are sorted, from rows in bins, or from groups of rows.
#pragma once
#include <bit>

#include <lyceum/trees/split/group_cuts.hpp>

namespace lyceum::trees {

template <class Target>
class Thresholds {
public:
    using Instance = typename Target::Instance;
    static constexpr std::uint32_t most_bins = 1023;

    Thresholds(SplitNode<Target>& node, Cutting<Target>& cutting) : node_(node), cutting_(cutting) {}

    void of_groups(Found& found) {
        const Groups& groups = *node_.groups;
        const Cut best =
            best_cut(node_, cutting_, {nullptr, 0, groups.count, node_.known, node_.learns_absent(), least_weight()});
        if (best.merit == never) return;
        if (node_.by_medians()) {
            cutting_.left.assign(node_.size(), 0.);
            node_.collect(cutting_.left, 0, best.at + 1);
        }
        settle(found, best, groups.absent_rows ? &groups.absent : nullptr);
    }

    // From the rows in order, code << 32 | number, without sums by value.
    void of_sorted(Found& found, const std::uint64_t* sorted) {
        const auto missing = node_.columns.missing(node_.j);
        const size_t m = node_.m;
        size_t known = m;
        Sums& absent = node_.absent;
        absent.assign(node_.size(), 0.);
        while (known && sorted[known - 1] >> 32 == missing) node_.target.add(absent.data(), row(sorted[--known]));
        const bool gaps = known < m;
        found.constant = known == 0 || (!gaps && sorted[0] >> 32 == sorted[known - 1] >> 32);
        if (found.constant || sorted[0] >> 32 == sorted[known - 1] >> 32) return;
        node_.know(absent.data());
        Cut best;
        const Whole whole{node_.known.data(), static_cast<double>(known),
                          gaps && !node_.rules.fractions ? absent.data() : nullptr, static_cast<double>(m - known),
                          least_weight()};
        if constexpr (Target::fixed == 2 && std::is_same_v<Instance, Labelled>)
            scan_two(sorted, known, whole, best);
        else
            scan(sorted, known, whole, best);
        settle(found, best, gaps ? &absent : nullptr);
    }

    // Where there are few codes: sums by code, of which only those that are there are looked at again.
    void of_bins(Found& found) {
        const auto missing = node_.columns.missing(node_.j);
        const size_t size = node_.size();
        if (bin_sums_.size() < (missing + 1) * size) bin_sums_.assign((most_bins + 1) * size, 0.);
        std::uint64_t there[most_bins / 64 + 1] = {};
        const bool counted = node_.rules.min_leaf > 1;
        if (counted && bin_rows_.empty()) bin_rows_.assign(most_bins + 1, 0);
        fill_bins(there, counted);
        const std::uint64_t absent_bit = std::uint64_t{1} << (missing % 64);
        const bool gaps = there[missing / 64] & absent_bit;
        Sums& absent = node_.absent;
        absent.assign(size, 0.);
        double absent_rows = 0.;
        if (gaps) {
            there[missing / 64] &= ~absent_bit;
            std::swap_ranges(absent.begin(), absent.end(),
                             bin_sums_.begin() + static_cast<std::ptrdiff_t>(missing * size));
            if (counted) absent_rows = std::exchange(bin_rows_[missing], 0u);
        }
        size_t values = 0;
        for (size_t word = 0; word <= missing / 64; ++word) values += static_cast<size_t>(std::popcount(there[word]));
        found.constant = values + gaps < 2;
        node_.know(absent.data());
        Cut best;
        const Whole whole{node_.known.data(), static_cast<double>(node_.m) - absent_rows,
                          gaps && !node_.rules.fractions ? absent.data() : nullptr, absent_rows, least_weight()};
        scan_bins(there, missing / 64 + 1, values, counted, whole, best);
        settle(found, best, gaps ? &absent : nullptr);
    }

private:
    const Instance& row(std::uint64_t key) const { return node_.rows[static_cast<std::uint32_t>(key)]; }

    // C4.5 wants a tenth of the average class in either part of a continuous column, at most 25.
    double least_weight() const {
        if (!node_.rules.release8) return node_.rules.min_weight;
        const double tenth = 0.1 * node_.target.weight(node_.known.data()) / static_cast<double>(node_.size());
        return tenth <= node_.rules.min_weight ? node_.rules.min_weight : std::min(tenth, 25.);
    }

    void settle(Found& found, const Cut& best, const Sums* absent) {
        if (best.merit == never) return;
        found.cut = best.left;
        found.next = best.right;
        cutting_.settle(found, best, absent);
    }

    void fill_bins(std::uint64_t* there, bool counted) {
        node_.columns.with_codes(node_.j, [&](const auto* codes) {
            const Instance* rows = node_.rows;
            const size_t m = node_.m, size = node_.size();
            double* sums = bin_sums_.data();
            for (size_t i = 0; i < m; ++i) {
                const std::uint32_t code = codes[rows[i].row];
                node_.target.add(sums + code * size, rows[i]);
                there[code / 64] |= std::uint64_t{1} << (code % 64);
                if (counted) ++bin_rows_[code];
            }
        });
    }

    // Leaves the sums by code zero again.
    void scan_bins(const std::uint64_t* there, size_t words, size_t values, bool counted, const Whole& whole,
                   Cut& best) {
        Places& places = cutting_.places;
        const size_t size = node_.size();
        double running[16] = {}, *prefix = running;
        if (size > 16) prefix_.assign(size, 0.), prefix = prefix_.data();
        size_t c = 0, seen = 0;
        double rows = 0.;
        for (size_t word = 0; word < words; ++word)
            for (std::uint64_t bits = there[word]; bits; bits &= bits - 1) {
                const auto code = static_cast<std::uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(bits)));
                if (c) places.right[c - 1] = code;
                if (c == Places::most) cutting_.weigh(c, 0, whole, best), c = 0;
                double* sums = bin_sums_.data() + code * size;
                for (size_t k = 0; k < size; ++k) {
                    places.sums[k * Places::most + c] = prefix[k] += sums[k];
                    sums[k] = 0.;
                }
                if (counted) rows += std::exchange(bin_rows_[code], 0u);
                places.rows[c] = rows;
                places.left[c] = code;
                if (++seen < values) ++c;  // there is nothing right of the last
            }
        if (c && values > 1) cutting_.weigh(c, 0, whole, best);
    }

    void scan(const std::uint64_t* sorted, size_t known, const Whole& whole, Cut& best) {
        Places& places = cutting_.places;
        const size_t size = node_.size();
        prefix_.assign(size, 0.);
        node_.target.add(prefix_.data(), row(sorted[0]));
        size_t c = 0;
        for (size_t i = 1; i < known; ++i) {
            const auto before = static_cast<std::uint32_t>(sorted[i - 1] >> 32),
                       code = static_cast<std::uint32_t>(sorted[i] >> 32);
            for (size_t k = 0; k < size; ++k) places.sums[k * Places::most + c] = prefix_[k];
            places.rows[c] = static_cast<double>(i);
            places.left[c] = before;
            places.right[c] = code;
            c += before != code;
            node_.target.add(prefix_.data(), row(sorted[i]));
            if (c == Places::most) cutting_.weigh(c, 0, whole, best), c = 0;
        }
        if (c) cutting_.weigh(c, 0, whole, best);
    }

    // Two classes: their sums stay in registers.
    void scan_two(const std::uint64_t* sorted, size_t known, const Whole& whole, Cut& best) {
        Places& places = cutting_.places;
        const Instance* rows = node_.rows;
        double *sum0 = places.sums.data(), *sum1 = sum0 + Places::most;
        const Instance& first = rows[static_cast<std::uint32_t>(sorted[0])];
        double all = first.w, ones = first.k ? first.w : 0.;
        auto before = static_cast<std::uint32_t>(sorted[0] >> 32);
        size_t c = 0;
        for (size_t i = 1; i < known; ++i) {
            const auto code = static_cast<std::uint32_t>(sorted[i] >> 32);
            const Instance& one = rows[static_cast<std::uint32_t>(sorted[i])];
            sum0[c] = all - ones;
            sum1[c] = ones;
            places.rows[c] = static_cast<double>(i);
            places.left[c] = before;
            places.right[c] = code;
            c += before != code;
            before = code;
            all += one.w;
            ones += one.k ? one.w : 0.;
            if (c == Places::most) cutting_.weigh(c, 0, whole, best), c = 0;
        }
        if (c) cutting_.weigh(c, 0, whole, best);
    }

    SplitNode<Target>& node_;
    Cutting<Target>& cutting_;
    Sums prefix_;
    Sums bin_sums_;  // zero between searches
    std::vector<std::uint32_t> bin_rows_;
};

}  // namespace lyceum::trees
