// The best split of every open node from its histograms: the same search as for rows, on the sums of bins. Cost:
// slots · d · bins merits.
#pragma once
#include <lyceum/core/interrupt.hpp>
#include <lyceum/trees/split/column_choice.hpp>

namespace lyceum::trees {

// Cells of column j of a slot's table are offsets[j] .. offsets[j + 1], the last for missing.
struct NodeTables {
    const double* data;  // (slots, cells, channels)
    const std::int64_t* offsets;
    size_t slots, channels;
    bool counted;  // the last channel counts rows, else the weights do

    const double* cell(size_t slot, size_t j, size_t code, size_t d) const {
        return data + (slot * static_cast<size_t>(offsets[d]) + static_cast<size_t>(offsets[j]) + code) * channels;
    }
};

// The splits found, one row per slot.
struct NodeSplits {
    std::int32_t *feature, *children, *missing;
    std::uint8_t* kind;
    double *gain, *threshold;
    double* cuts;            // (slots, max_cuts)
    std::int32_t* branches;  // (slots, max_codes): the child of every code of the column, the missing one last
    size_t max_cuts, max_codes;
    double* considered;  // (slots, d, 3): gain, score and threshold of every column; may be null
};

template <class Target>
class HistogramSplits {
public:
    HistogramSplits(Target target, TreeColumns columns, TreeRules rules, NodeTables tables)
        : target_(target), columns_(columns), rules_(rules), tables_(tables), search_(target_, columns_, rules_) {}

    // `total` are the sums of a node's rows, centered on its mean; `constant` marks its columns of one value, and more
    // of them afterwards.
    void operator()(size_t slot, const double* total, double impurity, std::uint64_t seed, std::uint8_t* constant,
                    const NodeSplits& out) {
        const size_t d = columns_.d;
        search_.start_node(impurity);
        found_.assign(d, FoundSplit{});
        std::vector<size_t> varying;
        for (size_t j = 0; j < d; ++j)
            if (!constant[j]) varying.push_back(j);
        const auto searched = search_columns(varying, rules_, d, seed, found_, [&](size_t j) {
            gather(slot, j);
            found_[j] = search_.of_groups(groups_, total, j, column_random(seed, j));
            return !found_[j].constant;
        });
        for (const size_t j : searched) {
            constant[j] |= found_[j].constant;
            if (out.considered && found_[j].valid) {
                double* row = out.considered + (slot * d + j) * 3;
                row[0] = found_[j].gain, row[1] = found_[j].score,
                row[2] = threshold_of(found_[j], columns_, rules_, j);
            }
        }
        size_t column = 0;
        if (const FoundSplit* best = best_column(found_, searched, rules_, column)) write(slot, *best, column, out);
    }

private:
    // The codes of column j that occur, with their sums.
    void gather(size_t slot, size_t j) {
        const size_t size = target_.size(), n_codes = static_cast<size_t>(columns_.n_codes[j]);
        groups_.code.resize(n_codes);
        groups_.rows.resize(n_codes);
        groups_.sums.resize(n_codes * size);
        groups_.missing_sums.assign(size, 0.);
        groups_.count = 0;
        for (size_t c = 0; c < n_codes; ++c) {
            const double* cell = tables_.cell(slot, j, c, columns_.d);
            const std::uint32_t rows = count(cell);
            if (!rows) continue;
            groups_.code[groups_.count] = static_cast<std::uint32_t>(c);
            groups_.rows[groups_.count] = rows;
            std::copy_n(cell, size, groups_.sums.data() + groups_.count++ * size);
        }
        const double* missing = tables_.cell(slot, j, n_codes, columns_.d);
        groups_.missing_rows = count(missing);
        std::copy_n(missing, size, groups_.missing_sums.data());
    }

    std::uint32_t count(const double* cell) const {
        const double rows =
            tables_.counted ? cell[tables_.channels - 1] : std::accumulate(cell, cell + tables_.channels, 0.);
        return static_cast<std::uint32_t>(rows);
    }

    void write(size_t slot, const FoundSplit& found, size_t column, const NodeSplits& out) const {
        out.feature[slot] = static_cast<std::int32_t>(column);
        out.kind[slot] = static_cast<std::uint8_t>(found.kind);
        out.children[slot] = found.children;
        out.missing[slot] = found.missing_child;
        out.gain[slot] = found.gain;
        out.threshold[slot] = threshold_of(found, columns_, rules_, column);
        std::copy(found.cut_values.begin(), found.cut_values.end(), out.cuts + slot * out.max_cuts);
        std::int32_t* branches = out.branches + slot * out.max_codes;
        const std::uint32_t missing = columns_.missing(column);
        if (found.kind == SplitKind::threshold)
            for (std::uint32_t c = 0; c < missing; ++c) branches[c] = c > found.cut;
        else if (found.kind == SplitKind::intervals)
            for (std::uint32_t c = 0; c < missing; ++c)
                branches[c] = static_cast<std::int32_t>(std::lower_bound(found.cuts.begin(), found.cuts.end(), c) -
                                                        found.cuts.begin());
        else
            std::copy(found.branches.begin(), found.branches.end(), branches);
        branches[missing] = found.missing_child;
    }

    const Target target_;
    const TreeColumns columns_;
    const TreeRules rules_;
    const NodeTables tables_;
    SplitSearch<Target> search_;
    Groups groups_;
    std::vector<FoundSplit> found_;
};

}  // namespace lyceum::trees
