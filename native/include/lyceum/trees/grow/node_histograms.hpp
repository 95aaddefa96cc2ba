// Sums of the target over the bins of every column, for every open node (slot) of a tree.
// Rows are routed from the root by their codes and taken slot by slot, so that the table of one node stays in the
// cache. A missing cell of a split without a side of its own sends the row to all children, its weight divided by their
// shares. Cost: n depth lookups and n d additions of one cell (a class) or of four doubles (a number).
#pragma once
#include <algorithm>
#include <vector>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::trees {

inline constexpr std::int32_t every_child = -2;  // a branch; -1 is none: the row stays where it is

// A tree whose splits are tables of branches over codes, the missing code last.
struct CodedTree {
    const std::int32_t* feature;     // (m,), -1 where there is no split
    const std::int64_t* table;       // (m,), where the branches of a node start
    const std::int32_t* branches;    // the node that a code leads to
    const std::int32_t* child;       // (m,), the first child
    const std::int32_t* n_children;  // (m,)
    const double* share;             // (m,), of a node among its siblings
    const std::int32_t* slot;        // (m,), -1: rows that end there are not counted
};

// Column j has the cells offsets[j] .. offsets[j + 1] of a slot's table, the last one for missing.
struct CodeCells {
    const std::int64_t* offsets;  // (d + 1,)
    size_t d;

    size_t size() const { return static_cast<size_t>(offsets[d]); }
};

struct ClassTarget {
    Codes codes;
    bool counted;  // whether the rows are counted beside the weights, in one more channel

    size_t channels() const { return codes.classes + counted; }
};

struct NumberTarget {  // weight, sum and sum of squares about the slot's center, rows
    const double* y;
    const double* center;  // (slots,)

    static size_t channels() { return 4; }
};

namespace node_histogram {

struct Arrival {
    std::uint32_t row;
    std::int32_t slot;
    double weight;
};

// The slots that a row comes to, and with which weight.
template <class Code>
class Router {
public:
    explicit Router(CodedTree tree) : tree_(tree) {}

    void operator()(const Code* codes, std::uint32_t row, double weight, std::vector<Arrival>& arrivals) {
        std::int32_t node = 0;
        for (;;) {
            node = down(codes, node);
            if (tree_.feature[node] < 0) {
                if (tree_.slot[node] >= 0) arrivals.push_back({row, tree_.slot[node], weight});
            } else if (next(codes, node) == every_child) {
                for (std::int32_t c = tree_.n_children[node] - 1; c >= 0; --c) {
                    const std::int32_t child = tree_.child[node] + c;
                    if (tree_.share[child] > 0) waiting_.push_back({child, weight * tree_.share[child]});
                }
            }
            if (waiting_.empty()) return;
            node = waiting_.back().node;
            weight = waiting_.back().weight;
            waiting_.pop_back();
        }
    }

private:
    struct Part {
        std::int32_t node;
        double weight;
    };

    std::int32_t next(const Code* codes, std::int32_t node) const {
        return tree_.branches[tree_.table[node] + codes[tree_.feature[node]]];
    }

    // The last node that the undivided row reaches.
    std::int32_t down(const Code* codes, std::int32_t node) const {
        while (tree_.feature[node] >= 0) {
            const std::int32_t to = next(codes, node);
            if (to < 0) break;
            node = to;
        }
        return node;
    }

    CodedTree tree_;
    std::vector<Part> waiting_;
};

// Arrivals in the order of their slots, those of a slot as they came.
inline void sort_by_slot(const std::vector<Arrival>& arrivals, size_t slots, std::vector<Arrival>& sorted) {
    std::vector<size_t> at(slots + 1);
    for (const Arrival& arrival : arrivals) ++at[arrival.slot + 1];
    for (size_t s = 0; s < slots; ++s) at[s + 1] += at[s];
    sorted.resize(arrivals.size());
    for (const Arrival& arrival : arrivals) sorted[at[arrival.slot]++] = arrival;
}

template <class Code>
void add(ClassTarget target, const Arrival& arrival, const Code* codes, CodeCells cells, double* table) {
    const size_t C = target.channels(), K = target.codes.classes;
    const std::int32_t k = target.codes(arrival.row);
    if (k < 0) return;
    for (size_t j = 0; j < cells.d; ++j) {
        double* cell = table + (cells.offsets[j] + codes[j]) * C;
        cell[k] += arrival.weight;
        if (target.counted) cell[K] += 1.0;
    }
}

template <class Code>
void add(NumberTarget target, const Arrival& arrival, const Code* codes, CodeCells cells, double* table) {
    const double z = target.y[arrival.row] - target.center[arrival.slot], wz = arrival.weight * z;
    const double sums[] = {arrival.weight, wz, wz * z, 1.0};
    for (size_t j = 0; j < cells.d; ++j) {
        double* cell = table + (cells.offsets[j] + codes[j]) * 4;
#pragma omp simd
        for (size_t c = 0; c < 4; ++c) cell[c] += sums[c];
    }
}

}  // namespace node_histogram

// Adds the rows to out, (slots, cells, channels). Zero-weight rows are ignored.
template <class Code, class Target>
void node_histograms(Matrix<const Code> codes, CodeCells cells, CodedTree tree, Target target, const double* w,
                     size_t slots, double* out, InterruptPoll poll) {
    using namespace node_histogram;
    constexpr size_t enough = size_t{1} << 18;  // arrivals at a time: a row with missing cells has many
    const size_t stride = cells.size() * target.channels();
    Router<Code> route(tree);
    std::vector<Arrival> arrivals, sorted;
    for (size_t i = 0; i < codes.rows;) {
        arrivals.clear();
        for (; i < codes.rows && arrivals.size() < enough; ++i)
            if (const double wi = weight_of(w, i); wi != 0.0)
                route(codes.row(i), static_cast<std::uint32_t>(i), wi, arrivals);
        sort_by_slot(arrivals, slots, sorted);
        for (const Arrival& arrival : sorted) {
            add(target, arrival, codes.row(arrival.row), cells, out + arrival.slot * stride);
            poll(8 * cells.d);
        }
    }
}

// low and high = the smallest and largest value in every cell of every column, over the cells that are not missing.
template <class T, class Code>
void bin_ranges(Matrix<const T> X, const Code* codes, CodeCells cells, double* low, double* high, InterruptPoll poll) {
    for (size_t i = 0; i < X.rows; ++i) {
        for (size_t j = 0; j < cells.d; ++j) {
            const auto at = static_cast<size_t>(cells.offsets[j]) + codes[i * cells.d + j];
            const double x = static_cast<double>(X.row(i)[j]);
            low[at] = x < low[at] ? x : low[at];
            high[at] = x > high[at] ? x : high[at];
        }
        poll(8 * cells.d);
    }
}

}  // namespace lyceum::trees
