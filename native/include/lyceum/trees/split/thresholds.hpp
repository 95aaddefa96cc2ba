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

    Thresholds(SplitNode<Target>& node, CutSearch<Target>& cut_search) : node_(node), cut_search_(cut_search) {}

    void of_groups(FoundSplit& found) {
        const Groups& groups = node_.groups();
        Cut best = best_cut(node_, cut_search_,
                            {nullptr, 0, groups.count, node_.known(), node_.learns_missing(), least_weight()});
        if (groups.count && node_.learns_missing() && !node_.by_medians()) {
            size_t known_rows = 0;
            for (size_t g = 0; g < groups.count; ++g) known_rows += groups.rows[g];
            cut_search_.evaluate_missing(
                {node_.known().data(), static_cast<double>(known_rows), groups.missing_sums.data(),
                 static_cast<double>(groups.missing_rows), least_weight()},
                node_.columns().missing(node_.column()), best);
        }
        if (best.merit == no_split) return;
        if (node_.by_medians()) {
            cut_search_.left.assign(node_.size(), 0.);
            node_.add_groups(cut_search_.left, 0, best.at + 1);
        }
        score_split(found, best, groups.missing_rows ? &groups.missing_sums : nullptr);
    }

    // From the rows in order, code << 32 | number, without sums by value.
    void of_sorted(FoundSplit& found, const std::uint64_t* sorted) {
        const auto missing = node_.columns().missing(node_.column());
        const size_t m = node_.n_rows();
        size_t known = m;
        Sums& missing_sums = missing_sums_;
        missing_sums.assign(node_.size(), 0.);
        while (known && sorted[known - 1] >> 32 == missing)
            node_.target().add(missing_sums.data(), row(sorted[--known]));
        const bool has_missing = known < m;
        found.constant = known == 0 || (!has_missing && sorted[0] >> 32 == sorted[known - 1] >> 32);
        if (found.constant) return;
        node_.set_missing(missing_sums);
        Cut best;
        const CutLimits limits{node_.known().data(), static_cast<double>(known),
                               has_missing && !node_.rules().fractions ? missing_sums.data() : nullptr,
                               static_cast<double>(m - known), least_weight()};
        if constexpr (Target::fixed == 2 && std::is_same_v<Instance, ClassRow>)
            scan_two(sorted, known, limits, best);
        else
            scan(sorted, known, limits, best);
        cut_search_.evaluate_missing(limits, missing, best);
        score_split(found, best, has_missing ? &missing_sums : nullptr);
    }

    // Where present are few codes: sums by code, of which only those that are present are looked at again.
    void of_bins(FoundSplit& found) {
        const auto missing = node_.columns().missing(node_.column());
        const size_t size = node_.size();
        if (bin_sums_.size() < (missing + 1) * size) bin_sums_.assign((most_bins + 1) * size, 0.);
        std::uint64_t present[most_bins / 64 + 1] = {};
        const bool counted = node_.rules().min_leaf > 1;
        if (counted && bin_rows_.empty()) bin_rows_.assign(most_bins + 1, 0);
        fill_bins(present, counted);
        const std::uint64_t missing_bit = std::uint64_t{1} << (missing % 64);
        const bool has_missing = present[missing / 64] & missing_bit;
        Sums& missing_sums = missing_sums_;
        missing_sums.assign(size, 0.);
        double missing_rows = 0.;
        if (has_missing) {
            present[missing / 64] &= ~missing_bit;
            std::swap_ranges(missing_sums.begin(), missing_sums.end(),
                             bin_sums_.begin() + static_cast<std::ptrdiff_t>(missing * size));
            if (counted) missing_rows = std::exchange(bin_rows_[missing], 0u);
        }
        size_t values = 0;
        for (size_t word = 0; word <= missing / 64; ++word) values += static_cast<size_t>(std::popcount(present[word]));
        found.constant = values + has_missing < 2;
        node_.set_missing(missing_sums);
        Cut best;
        const CutLimits limits{node_.known().data(), static_cast<double>(node_.n_rows()) - missing_rows,
                               has_missing && !node_.rules().fractions ? missing_sums.data() : nullptr, missing_rows,
                               least_weight()};
        scan_bins(present, missing / 64 + 1, values, counted, limits, best);
        if (values) cut_search_.evaluate_missing(limits, missing, best);
        score_split(found, best, has_missing ? &missing_sums : nullptr);
    }

private:
    const Instance& row(std::uint64_t key) const { return node_.rows()[static_cast<std::uint32_t>(key)]; }

    // C4.5 wants a tenth of the average class in either part of a continuous column, at most 25.
    double least_weight() const {
        if (!node_.rules().release8) return node_.rules().min_weight;
        const double tenth = 0.1 * node_.target().weight(node_.known().data()) / static_cast<double>(node_.size());
        return tenth <= node_.rules().min_weight ? node_.rules().min_weight : std::min(tenth, 25.);
    }

    void score_split(FoundSplit& found, const Cut& best, const Sums* missing_sums) {
        if (best.merit == no_split) return;
        found.cut = best.left;
        found.next = best.right;
        cut_search_.score_split(found, best, missing_sums);
    }

    void fill_bins(std::uint64_t* present, bool counted) {
        node_.columns().with_codes(node_.column(), [&](const auto* codes) {
            const Instance* rows = node_.rows();
            const size_t m = node_.n_rows(), size = node_.size();
            double* sums = bin_sums_.data();
            for (size_t i = 0; i < m; ++i) {
                const std::uint32_t code = codes[rows[i].row];
                node_.target().add(sums + code * size, rows[i]);
                present[code / 64] |= std::uint64_t{1} << (code % 64);
                if (counted) ++bin_rows_[code];
            }
        });
    }

    // Leaves the sums by code zero again.
    void scan_bins(const std::uint64_t* present, size_t words, size_t values, bool counted, const CutLimits& limits,
                   Cut& best) {
        CutPositions& positions = cut_search_.positions;
        const size_t size = node_.size();
        double running[16] = {}, *prefix = running;
        if (size > 16) prefix_.assign(size, 0.), prefix = prefix_.data();
        size_t c = 0, seen = 0;
        double rows = 0.;
        for (size_t word = 0; word < words; ++word)
            for (std::uint64_t bits = present[word]; bits; bits &= bits - 1) {
                const auto code = static_cast<std::uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(bits)));
                if (c) positions.right[c - 1] = code;
                if (c == CutPositions::most) cut_search_.evaluate(c, 0, limits, best), c = 0;
                double* sums = bin_sums_.data() + code * size;
                for (size_t k = 0; k < size; ++k) {
                    positions.sums[k * CutPositions::most + c] = prefix[k] += sums[k];
                    sums[k] = 0.;
                }
                if (counted) rows += std::exchange(bin_rows_[code], 0u);
                positions.rows[c] = rows;
                positions.left[c] = code;
                if (++seen < values) ++c;  // present is nothing right of the last
            }
        if (c && values > 1) cut_search_.evaluate(c, 0, limits, best);
    }

    void scan(const std::uint64_t* sorted, size_t known, const CutLimits& limits, Cut& best) {
        CutPositions& positions = cut_search_.positions;
        const size_t size = node_.size();
        prefix_.assign(size, 0.);
        node_.target().add(prefix_.data(), row(sorted[0]));
        size_t c = 0;
        for (size_t i = 1; i < known; ++i) {
            const auto before = static_cast<std::uint32_t>(sorted[i - 1] >> 32),
                       code = static_cast<std::uint32_t>(sorted[i] >> 32);
            for (size_t k = 0; k < size; ++k) positions.sums[k * CutPositions::most + c] = prefix_[k];
            positions.rows[c] = static_cast<double>(i);
            positions.left[c] = before;
            positions.right[c] = code;
            c += before != code;
            node_.target().add(prefix_.data(), row(sorted[i]));
            if (c == CutPositions::most) cut_search_.evaluate(c, 0, limits, best), c = 0;
        }
        if (c) cut_search_.evaluate(c, 0, limits, best);
    }

    // Two classes: their sums stay in registers.
    void scan_two(const std::uint64_t* sorted, size_t known, const CutLimits& limits, Cut& best) {
        CutPositions& positions = cut_search_.positions;
        const Instance* rows = node_.rows();
        double *sum0 = positions.sums.data(), *sum1 = sum0 + CutPositions::most;
        const Instance& first = rows[static_cast<std::uint32_t>(sorted[0])];
        double all = first.w, ones = first.k ? first.w : 0.;
        auto before = static_cast<std::uint32_t>(sorted[0] >> 32);
        size_t c = 0;
        for (size_t i = 1; i < known; ++i) {
            const auto code = static_cast<std::uint32_t>(sorted[i] >> 32);
            const Instance& one = rows[static_cast<std::uint32_t>(sorted[i])];
            sum0[c] = all - ones;
            sum1[c] = ones;
            positions.rows[c] = static_cast<double>(i);
            positions.left[c] = before;
            positions.right[c] = code;
            c += before != code;
            before = code;
            all += one.w;
            ones += one.k ? one.w : 0.;
            if (c == CutPositions::most) cut_search_.evaluate(c, 0, limits, best), c = 0;
        }
        if (c) cut_search_.evaluate(c, 0, limits, best);
    }

    SplitNode<Target>& node_;
    CutSearch<Target>& cut_search_;
    Sums prefix_, missing_sums_;
    Sums bin_sums_;  // zero between searches
    std::vector<std::uint32_t> bin_rows_;
};

}  // namespace lyceum::trees
