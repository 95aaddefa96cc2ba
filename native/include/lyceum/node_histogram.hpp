// Sums of a target over the bins of every column, for every node of a frontier that has a slot.
// Rows are routed from the root by their codes and taken slot by slot, so that the table of one node stays in the cache.
// A missing cell of a split without a side of its own sends the row to all children, its weight divided by their shares.
// Cost: n depth lookups and n d additions of one cell (a class) or of four doubles (a number).
#pragma once
#include <algorithm>
#include <vector>

#include "interrupt.hpp"
#include "views.hpp"

namespace lyceum {

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

struct NumberTarget {  // weight, sum and sum of squares about the centre, rows
    const double* y;
    double centre;

    static size_t channels() { return 4; }
};

namespace node_histogram {

struct Visit {
    std::uint32_t row;
    std::int32_t slot;
    double weight;
};

// The slots that a row comes to, and with which weight.
template <class Code>
class Router {
public:
    explicit Router(CodedTree tree) : tree_(tree) {}

    void operator()(const Code* codes, std::uint32_t row, double weight, std::vector<Visit>& visits) {
        std::int32_t node = 0;
        for (;;) {
            node = down(codes, node);
            if (tree_.feature[node] < 0) {
                if (tree_.slot[node] >= 0) visits.push_back({row, tree_.slot[node], weight});
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

    // The last node that the row reaches whole.
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

// Visits in the order of their slots, those of a slot as they came.
inline void sort_by_slot(const std::vector<Visit>& visits, size_t slots, std::vector<Visit>& sorted) {
    std::vector<size_t> at(slots + 1);
    for (const Visit& visit : visits) ++at[visit.slot + 1];
    for (size_t s = 0; s < slots; ++s) at[s + 1] += at[s];
    sorted.resize(visits.size());
    for (const Visit& visit : visits) sorted[at[visit.slot]++] = visit;
}

template <class Code>
void add(ClassTarget target, const Visit& visit, const Code* codes, CodeCells cells, double* table) {
    const size_t C = target.channels(), K = target.codes.classes;
    const std::int32_t k = target.codes(visit.row);
    if (k < 0) return;
    for (size_t j = 0; j < cells.d; ++j) {
        double* cell = table + (cells.offsets[j] + codes[j]) * C;
        cell[k] += visit.weight;
        if (target.counted) cell[K] += 1.0;
    }
}

template <class Code>
void add(NumberTarget target, const Visit& visit, const Code* codes, CodeCells cells, double* table) {
    const double z = target.y[visit.row] - target.centre, wz = visit.weight * z;
    const double sums[] = {visit.weight, wz, wz * z, 1.0};
    for (size_t j = 0; j < cells.d; ++j) {
        double* cell = table + (cells.offsets[j] + codes[j]) * 4;
#pragma omp simd
        for (size_t c = 0; c < 4; ++c) cell[c] += sums[c];
    }
}

}  // namespace node_histogram

// Adds the rows to out, (slots, cells, channels). Rows of weight zero are no rows.
template <class Code, class Target>
void node_histograms(Matrix<const Code> codes, CodeCells cells, CodedTree tree, Target target, const double* w,
                     size_t slots, double* out, Poll poll) {
    using namespace node_histogram;
    constexpr size_t step = size_t{1} << 18;
    const size_t stride = cells.size() * target.channels();
    Router<Code> route(tree);
    std::vector<Visit> visits, sorted;
    for (size_t begin = 0; begin < codes.rows; begin += step) {
        const size_t end = std::min(codes.rows, begin + step);
        visits.clear();
        for (size_t i = begin; i < end; ++i)
            if (const double wi = weight_of(w, i); wi != 0.0)
                route(codes.row(i), static_cast<std::uint32_t>(i), wi, visits);
        sort_by_slot(visits, slots, sorted);
        for (const Visit& visit : sorted) {
            add(target, visit, codes.row(visit.row), cells, out + visit.slot * stride);
            poll(8 * cells.d);
        }
    }
}

}  // namespace lyceum
