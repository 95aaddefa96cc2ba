// A regression tree on binned columns, leaf by leaf: the leaf whose split gains most is split next, until there are
// max_leaves of them. Of two new leaves the smaller one's histograms are summed from its rows, the other's are those of
// their parent less these. A node's rows are a stretch of one list of row numbers, each in the order of the table.
#pragma once
#include <utility>
#include <vector>

#include "boost_partition.hpp"
#include "boost_split.hpp"
#include "interrupt.hpp"
#include "scratch.hpp"

namespace lyceum::boost {

struct Table {
    std::vector<Group> groups;
    const std::int32_t* n_bins;      // [d], without that of missing cells
    const std::uint8_t* is_category;  // [d]
    size_t n, d;
};

struct Growth {
    size_t max_leaves, max_depth;
    SplitRule rule;
};

struct Node {
    size_t begin = 0, end = 0, depth = 0;  // its stretch of the list
    Totals total;
    std::int32_t child = -1;  // the first of two
    int histogram = -1;
    Split split;
};

using Histogram = std::vector<Sum, AlignedAllocator<Sum>>;

// What trees of one fit use again.
struct GrowBuffers {
    std::vector<std::uint32_t> numbers, spare;
    std::vector<Histogram> histograms, partial;
};

class Grower {
public:
    // The first `count` of the buffered row numbers are the rows to grow on, unless `listed` is false: then rows 0 to
    // count - 1 are.
    Grower(const Table& table, const Growth& growth, const Gradients& gradients, const std::uint8_t* in_use, size_t count,
           bool listed, GrowBuffers& buffers, Team& team, Poll poll)
        : table_(table), growth_(growth), gradients_(gradients), count_(count), listed_(listed), buffers_(buffers),
          histograms_(buffers.histograms), partial_(buffers.partial), team_(team), poll_(poll) {
        buffers.numbers.resize(std::max(buffers.numbers.size(), count + ahead));
        buffers.spare.resize(std::max(buffers.spare.size(), 2 * count));
        numbers_ = buffers.numbers.data();
        for (const Group& group : table.groups) {
            Part part{group, {}, {}, {}};
            for (size_t j = 0; j < group.width; ++j) {
                if (!in_use[group.first + j]) continue;
                const size_t bins = static_cast<size_t>(table.n_bins[group.first + j]) + 1;
                part.columns.push_back(static_cast<std::uint8_t>(j));
                part.bins.push_back(bins);
                part.offsets.push_back(size_);
                size_ += gradients.fields() * bins;
            }
            if (!part.columns.empty()) parts_.push_back(std::move(part));
        }
        ranges_ = parts_.empty() ? 1 : (team.size() + parts_.size() - 1) / parts_.size();
        sums_.resize(parts_.size() * ranges_ * widest * slots);
        found_.resize(parts_.size() * 2);
        pointers_.resize(parts_.size() * ranges_ * widest);
    }

    const std::vector<Node>& grow() {
        nodes_.reserve(2 * growth_.max_leaves);
        nodes_.push_back({0, count_, 0, {}, -1, -1, {}});
        if (parts_.empty()) return nodes_;
        nodes_[0].histogram = take();
        look(0, -1);
        for (size_t leaves = 1; leaves < growth_.max_leaves; ++leaves) {
            const int best = next();
            if (best < 0) break;
            divide(static_cast<size_t>(best), leaves + 1 < growth_.max_leaves);
        }
        return nodes_;
    }

    bool is_listed() const { return listed_; }  // whether nodes' stretches are of the buffered row numbers

private:
    struct Part {
        Group group;
        std::vector<std::uint8_t> columns;  // in use, within the group
        std::vector<size_t> bins, offsets;  // of their histograms
    };

    int next() const {
        int best = -1;
        for (size_t i = 0; i < nodes_.size(); ++i)
            if (nodes_[i].child < 0 && nodes_[i].split.column >= 0 &&
                (best < 0 || nodes_[i].split.gain > nodes_[static_cast<size_t>(best)].split.gain))
                best = static_cast<int>(i);
        return best;
    }

    Rows rows(const Node& node) const { return {listed_ ? numbers_ : nullptr, node.begin, node.end}; }

    bool can_split(const Node& node) const {
        return node.depth < growth_.max_depth && node.total.n >= 2 * growth_.rule.min_rows;
    }

    void divide(size_t at, bool go_on) {
        const Split split = nodes_[at].split;
        const size_t begin = nodes_[at].begin, end = nodes_[at].end, depth = nodes_[at].depth + 1;
        const size_t middle = begin + partition(rows(nodes_[at]), side_of(split), numbers_, buffers_.spare.data(), team_);
        listed_ = true;
        const auto child = static_cast<std::int32_t>(nodes_.size());
        nodes_[at].child = child;
        nodes_.push_back({begin, middle, depth, split.left, -1, -1, {}});
        nodes_.push_back({middle, end, depth, nodes_[at].total - split.left, -1, -1, {}});
        const auto left = static_cast<size_t>(child), right = left + 1;
        const bool left_smaller = split.left.n <= nodes_[right].total.n;
        const size_t small = left_smaller ? left : right, large = left_smaller ? right : left;
        const int parent = nodes_[at].histogram;
        nodes_[at].histogram = -1;
        if (go_on && (can_split(nodes_[small]) || can_split(nodes_[large]))) {
            nodes_[large].histogram = parent;
            nodes_[small].histogram = take();
            look(small, static_cast<int>(large));
            for (size_t node : {small, large})
                if (nodes_[node].split.column < 0) give(std::exchange(nodes_[node].histogram, -1));
        } else {
            give(parent);
        }
        poll_((end - begin) * table_.d);
    }

    SideOf side_of(const Split& split) const {
        const auto column = static_cast<size_t>(split.column);
        for (const Part& part : parts_)
            if (column >= part.group.first && column < part.group.first + part.group.width) {
                SideOf side{part.group.codes + (column - part.group.first), part.group.width, {}};
                const int missing = table_.n_bins[column];
                for (int b = 0; b < static_cast<int>(slots); ++b)
                    side.left[b] = split.is_category ? split.sides[b] == 0 : b <= split.bin;
                side.left[missing] = split.missing_left;
                return side;
            }
        return {};
    }

    // Sums the histograms of node `small`, takes them from those of `large` (if any), and finds the splits of both.
    void look(size_t small, int large) {
        const Rows all = rows(nodes_[small]);
        const size_t ranges = all.size() < 4 * chunk ? 1 : ranges_;
        if (ranges == 1) {
            team_(parts_.size(), [&](size_t p) {
                sum(p, 0, all, histogram(nodes_[small].histogram));
                find(p, small, large);
            });
        } else {
            while (partial_.size() < ranges) partial_.emplace_back();
            for (Histogram& one : partial_)
                if (one.size() < size_) one.resize(size_);
            team_(parts_.size() * ranges, [&](size_t task) {
                const size_t p = task % parts_.size(), k = task / parts_.size();
                sum(p, k, all.part(k, ranges), partial_[k].data());
            });
            team_(parts_.size(), [&](size_t p) {
                Sum* total = histogram(nodes_[small].histogram);
                const size_t from = parts_[p].offsets.front(), to = end_of(p);
                for (size_t i = from; i < to; ++i) total[i] = partial_[0][i];
                for (size_t k = 1; k < ranges; ++k)
                    for (size_t i = from; i < to; ++i) total[i] += partial_[k][i];
                find(p, small, large);
            });
        }
        choose(small, 0);
        if (large >= 0) choose(static_cast<size_t>(large), 1);
    }

    size_t end_of(size_t p) const { return p + 1 < parts_.size() ? parts_[p + 1].offsets.front() : size_; }

    void sum(size_t p, size_t range, const Rows& rows, Sum* histograms) {
        const Part& part = parts_[p];
        std::fill(histograms + part.offsets.front(), histograms + end_of(p), 0);
        Sum** at = pointers_.data() + (p * ranges_ + range) * widest;
        for (size_t k = 0; k < part.columns.size(); ++k) at[k] = histograms + part.offsets[k];
        add_rows(part.group, gradients_, rows, part.columns.data(), part.columns.size(), part.bins.data(), at,
                 sums_.data() + (p * ranges_ + range) * widest * slots);
    }

    void find(size_t p, size_t small, int large) {
        const Sum* of_small = histogram(nodes_[small].histogram);
        if (large >= 0) {
            Sum* rest = histogram(nodes_[static_cast<size_t>(large)].histogram);
            for (size_t i = parts_[p].offsets.front(); i < end_of(p); ++i) rest[i] -= of_small[i];
            find_in(p, nodes_[static_cast<size_t>(large)], rest, found_[2 * p + 1]);
        }
        find_in(p, nodes_[small], of_small, found_[2 * p]);
    }

    void find_in(size_t p, const Node& node, const Sum* histograms, Split& best) {
        const Part& part = parts_[p];
        best.gain = 0;
        best.column = -1;
        Totals total = node.total;
        if (node.depth == 0) {
            total = {};
            for (size_t b = 0; b < part.bins[0]; ++b) {
                const Sum* at = histograms + part.offsets[0] + b;
                total.g += at[0];
                total.n += at[part.bins[0]];
                if (gradients_.has_hessian) total.h += at[2 * part.bins[0]];
            }
            if (p == 0) root_ = total;
        }
        if (node.depth >= growth_.max_depth || total.n < 2 * growth_.rule.min_rows) return;
        SplitFinder finder(growth_.rule, gradients_);
        for (size_t k = 0; k < part.columns.size(); ++k) {
            const size_t column = part.group.first + part.columns[k];
            finder.find(histograms + part.offsets[k], part.bins[k] - 1, static_cast<std::int32_t>(column),
                        table_.is_category[column], total, best);
        }
    }

    void choose(size_t at, size_t which) {
        if (at == 0) nodes_[0].total = root_;
        for (size_t p = 0; p < parts_.size(); ++p) {
            const Split& split = found_[2 * p + which];
            if (split.column >= 0 && split.gain > nodes_[at].split.gain * (1 + 1e-12)) nodes_[at].split = split;
        }
    }

    Sum* histogram(int slot) { return histograms_[static_cast<size_t>(slot)].data(); }

    int take() {
        if (free_.empty()) {
            if (taken_ == histograms_.size()) histograms_.emplace_back();
            if (histograms_[taken_].size() < size_) histograms_[taken_].resize(size_);
            return static_cast<int>(taken_++);
        }
        const int slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void give(int slot) { free_.push_back(slot); }

    const Table& table_;
    Growth growth_;
    Gradients gradients_;
    size_t count_;
    bool listed_;
    GrowBuffers& buffers_;
    std::vector<Histogram>&histograms_, &partial_;
    Team& team_;
    Poll poll_;
    std::uint32_t* numbers_;
    std::vector<Part> parts_;
    size_t size_ = 0, ranges_ = 1, taken_ = 0;
    std::vector<std::uint64_t, AlignedAllocator<std::uint64_t>> sums_;
    std::vector<Split> found_;
    std::vector<Sum*> pointers_;
    std::vector<int> free_;  // histograms
    std::vector<Node> nodes_;
    Totals root_;
};

}  // namespace lyceum::boost
