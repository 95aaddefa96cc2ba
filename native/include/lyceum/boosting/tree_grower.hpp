// A regression tree on binned columns, leaf by leaf: the leaf whose split gains most is split next, until there are
// max_leaves of them. Of two new leaves the smaller one's histograms are summed from its rows, the other's are those of
// their parent less these. The rows of a node are a range of one list of row numbers, in the order of the table.
#pragma once
#include <utility>
#include <vector>

#include <lyceum/boosting/row_partition.hpp>
#include <lyceum/boosting/split_finder.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/large_pages.hpp>
#include <lyceum/core/scratch.hpp>

namespace lyceum::boosting {

struct Table {
    const std::uint8_t* rows;         // [n][step]: a row's bins
    const std::uint8_t* columns;      // [d][n]: the same, column by column
    const std::int32_t* n_bins;       // [d], without that of missing cells
    const std::uint8_t* is_category;  // [d]
    size_t n, d, step;
};

struct Growth {
    size_t max_leaves, max_depth;
    SplitRule rule;
    const std::int8_t* directions = nullptr;  // [d]: 1 rising, -1 falling, 0 free; null: all free
    const std::uint8_t* sets = nullptr;       // [n_sets][d]: the columns that may be on one path; null: all
    size_t n_sets = 0;
};

// The sets that hold all columns on the path to a node, and the columns that are in one of them.
struct PathSets {
    std::vector<size_t> sets;
    std::vector<std::uint8_t> allowed;
};

struct Node {
    size_t begin = 0, end = 0, depth = 0;  // its range of the list
    Totals total;
    std::int32_t child = -1;  // the first of two
    int histogram = -1;
    Split split;
    Bounds bounds;    // of its value
    size_t path = 0;  // its sets of columns
};

using Histogram = std::vector<Sum, AlignedAllocator<Sum>>;

// Buffers that the trees of one fit share.
struct GrowBuffers {
    LargeVector<std::uint32_t> numbers, spare;
    std::vector<Histogram> histograms, partial;
};

class Grower {
public:
    // The first `count` of the buffered row numbers are the rows to grow on, unless `listed` is false: then rows 0 to
    // count - 1 are.
    Grower(const Table& table, const Growth& growth, const Gradients& gradients, const std::uint8_t* in_use,
           size_t count, bool listed, GrowBuffers& buffers, ThreadTeam& team, InterruptPoll poll)
        : table_(table),
          growth_(growth),
          gradients_(gradients),
          count_(count),
          listed_(listed),
          buffers_(buffers),
          histograms_(buffers.histograms),
          partial_(buffers.partial),
          team_(team),
          poll_(poll) {
        buffers.numbers.resize(std::max(buffers.numbers.size(), count + ahead));
        buffers.spare.resize(std::max(buffers.spare.size(), spare_size(count)));
        numbers_ = buffers.numbers.data();
        const size_t groups = round_up((table.d + widest - 1) / widest, table.d < 4 * team.size() ? 1 : team.size());
        for (size_t k = 0; k < groups; ++k) {
            const size_t first = table.d * k / groups, last = table.d * (k + 1) / groups;
            Part part{{table.rows + first, table.step, first, last - first}, {}, {}, {}, size_, size_};
            for (size_t j = first; j < last; ++j) {
                if (!in_use[j]) continue;
                part.columns.push_back(static_cast<std::uint8_t>(j - first));
                part.bins.push_back(static_cast<size_t>(table.n_bins[j]) + 1);
                part.offsets.push_back(size_);
                size_ += gradients.fields() * part.bins.back();
            }
            part.end = size_;
            if (!part.columns.empty()) parts_.push_back(std::move(part));
        }
        if (growth.sets) add_path(nullptr, 0);
        sums_.resize(std::max(team.size(), parts_.size()) * widest * slots);
        found_.resize(parts_.size() * 2);
    }

    const std::vector<Node>& grow() {
        nodes_.reserve(2 * growth_.max_leaves);
        nodes_.push_back({0, count_, 0, {}, -1, -1, {}, {}});
        if (parts_.empty()) return nodes_;
        nodes_[0].histogram = acquire_histogram();
        find_splits(0, -1);
        for (size_t leaves = 1; leaves < growth_.max_leaves; ++leaves) {
            const int best = next();
            if (best < 0) break;
            divide(static_cast<size_t>(best), leaves + 1 < growth_.max_leaves);
        }
        return nodes_;
    }

    bool is_listed() const { return listed_; }  // whether the ranges of nodes are of the buffered row numbers

private:
    int next() const {
        int best = -1;
        for (size_t i = 0; i < nodes_.size(); ++i)
            if (nodes_[i].child < 0 && nodes_[i].split.column >= 0 &&
                (best < 0 || nodes_[i].split.gain > nodes_[static_cast<size_t>(best)].split.gain * (1 + 1e3 * equal)))
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
        const size_t middle =
            begin + partition(rows(nodes_[at]), side_of(split), numbers_, buffers_.spare.data(), team_);
        listed_ = true;
        const auto child = static_cast<std::int32_t>(nodes_.size());
        nodes_[at].child = child;
        const Bounds bounds = nodes_[at].bounds;
        const size_t path = growth_.sets ? add_path(&paths_[nodes_[at].path], split.column) : 0;
        nodes_.push_back({begin, middle, depth, split.left, -1, -1, {}, bounds, path});
        nodes_.push_back({middle, end, depth, nodes_[at].total - split.left, -1, -1, {}, bounds, path});
        const auto left = static_cast<size_t>(child), right = left + 1;
        if (growth_.directions) bound_children(nodes_[left], nodes_[right], growth_.directions[split.column]);
        const bool left_smaller = split.left.n <= nodes_[right].total.n;
        const size_t small = left_smaller ? left : right, large = left_smaller ? right : left;
        const int parent = nodes_[at].histogram;
        nodes_[at].histogram = -1;
        if (go_on && (can_split(nodes_[small]) || can_split(nodes_[large]))) {
            nodes_[large].histogram = parent;
            nodes_[small].histogram = acquire_histogram();
            find_splits(small, static_cast<int>(large));
            for (size_t node : {small, large})
                if (nodes_[node].split.column < 0) release_histogram(std::exchange(nodes_[node].histogram, -1));
        } else {
            release_histogram(parent);
        }
        poll_((end - begin) * table_.d);
    }

    // Values below a split on a monotone column stay on their side of the middle of the two values.
    void bound_children(Node& left, Node& right, int direction) const {
        if (!direction) return;
        const SplitFinder finder(growth_.rule, gradients_);
        const double middle = (finder.value(left.total, left.bounds) + finder.value(right.total, right.bounds)) / 2;
        (direction > 0 ? left : right).bounds.upper = middle;
        (direction > 0 ? right : left).bounds.lower = middle;
    }

    // The sets below a split on a column; those of the root without a parent. Returns their number.
    size_t add_path(const PathSets* parent, std::int32_t column) {
        PathSets path{{}, std::vector<std::uint8_t>(table_.d, 0)};
        for (size_t s = 0; s < (parent ? parent->sets.size() : growth_.n_sets); ++s) {
            const size_t number = parent ? parent->sets[s] : s;
            const std::uint8_t* set = growth_.sets + number * table_.d;
            if (parent && !set[column]) continue;
            path.sets.push_back(number);
            for (size_t j = 0; j < table_.d; ++j) path.allowed[j] |= set[j];
        }
        paths_.push_back(std::move(path));
        return paths_.size() - 1;
    }

    SideOf side_of(const Split& split) const {
        const auto column = static_cast<size_t>(split.column);
        const int missing = table_.n_bins[column];
        SideOf side{table_.columns + column * table_.n, {},      table_.n,
                    split.is_category ? -1 : split.bin, missing, split.missing_left};
        for (int b = 0; b < static_cast<int>(slots); ++b)
            side.left[b] = split.is_category ? split.sides[b] == 0 : b <= split.bin;
        side.left[missing] = split.missing_left;
        return side;
    }

    // Sums the histograms of node `small`, takes them from those of `large` (if any), and finds the splits of both.
    //
    // One thread takes all columns. Several take a part of the columns each, or of the rows if these are many: every
    // row then comes from memory once, which is worth adding up one histogram per thread.
    void find_splits(size_t small, int large) {
        const Rows all = rows(nodes_[small]);
        Sum* const histograms = histogram(nodes_[small].histogram);
        const size_t threads = team_.size();
        if (threads == 1) {
            sum_rows(parts_.data(), parts_.size(), gradients_, all, histograms, buffer(0));
            for (size_t p = 0; p < parts_.size(); ++p) find(p, small, large);
        } else if (all.size() < 4 * chunk * threads || (table_.step > 128 && parts_.size() >= threads)) {
            team_(parts_.size(), [&](size_t p) {
                sum_rows(&parts_[p], 1, gradients_, all, histograms, buffer(p));
                find(p, small, large);
            });
        } else {
            partial_.resize(std::max(partial_.size(), threads));
            for (Histogram& one : partial_) one.resize(std::max(one.size(), size_));
            team_(threads, [&](size_t k) {
                sum_rows(parts_.data(), parts_.size(), gradients_, all.part(k, threads), partial_[k].data(), buffer(k));
            });
            team_(parts_.size(), [&](size_t p) {
                std::copy(&partial_[0][parts_[p].begin], &partial_[0][parts_[p].end], histograms + parts_[p].begin);
                for (size_t k = 1; k < threads; ++k)
                    for (size_t i = parts_[p].begin; i < parts_[p].end; ++i) histograms[i] += partial_[k][i];
                find(p, small, large);
            });
        }
        choose(small, 0);
        if (large >= 0) choose(static_cast<size_t>(large), 1);
    }

    std::uint64_t* buffer(size_t task) { return sums_.data() + task * widest * slots; }

    void find(size_t p, size_t small, int large) {
        const Sum* of_small = histogram(nodes_[small].histogram);
        if (large >= 0) {
            Sum* rest = histogram(nodes_[static_cast<size_t>(large)].histogram);
            for (size_t i = parts_[p].begin; i < parts_[p].end; ++i) rest[i] -= of_small[i];
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
        if (growth_.directions) finder.bound(node.bounds);
        for (size_t k = 0; k < part.columns.size(); ++k) {
            const size_t column = part.group.first + part.columns[k];
            if (growth_.sets && !paths_[node.path].allowed[column]) continue;
            if (growth_.directions) finder.set_direction(growth_.directions[column]);
            finder.find(histograms + part.offsets[k], part.bins[k] - 1, static_cast<std::int32_t>(column),
                        table_.is_category[column], total, best);
        }
    }

    void choose(size_t at, size_t which) {
        if (at == 0) nodes_[0].total = root_;
        for (size_t p = 0; p < parts_.size(); ++p) {
            const Split& split = found_[2 * p + which];
            if (split.column >= 0 && split.gain > nodes_[at].split.gain * (1 + 1e3 * equal)) nodes_[at].split = split;
        }
    }

    Sum* histogram(int slot) { return histograms_[static_cast<size_t>(slot)].data(); }

    int acquire_histogram() {
        if (free_.empty()) {
            if (taken_ == histograms_.size()) histograms_.emplace_back();
            if (histograms_[taken_].size() < size_) histograms_[taken_].resize(size_);
            return static_cast<int>(taken_++);
        }
        const int slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void release_histogram(int slot) { free_.push_back(slot); }

    const Table& table_;
    Growth growth_;
    Gradients gradients_;
    size_t count_;
    bool listed_;
    GrowBuffers& buffers_;
    std::vector<Histogram>&histograms_, &partial_;
    ThreadTeam& team_;
    InterruptPoll poll_;
    std::uint32_t* numbers_;
    std::vector<Part> parts_;
    size_t size_ = 0, taken_ = 0;
    std::vector<std::uint64_t, AlignedAllocator<std::uint64_t>> sums_;
    std::vector<Split> found_;
    std::vector<int> free_;  // histograms
    std::vector<Node> nodes_;
    std::vector<PathSets> paths_;
    Totals root_;
};

}  // namespace lyceum::boosting
