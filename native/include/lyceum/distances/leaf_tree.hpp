// An exact index: rows in leaves (density/row_leaves.hpp) under a tree of boxes. A box is passed over when the raw
// value of the gaps between it and the query is above the limit. Rounding is monotone, so that the value of the gaps,
// summed in the order of the columns, is never above that of a row in the box: the answer is that of nearest.hpp, bit
// for bit. Cost per query: about log(n) boxes and a few leaves where columns are few, all leaves at worst.
#pragma once
#include <lyceum/density/row_leaves.hpp>
#include <lyceum/distances/nearest.hpp>

namespace lyceum::distances {

class LeafTree {
public:
    // Z is in leaf order; `numbers[i]` is the row number of row i of Z.
    LeafTree(Matrix<const double> Z, const std::int64_t* numbers)
        : leaves_(Z, nullptr), numbers_(numbers, numbers + Z.rows) {
        nodes_.reserve(2 * leaves_.count);
        if (leaves_.count) build(0, leaves_.count);
    }

    size_t rows() const { return leaves_.rows; }
    size_t columns() const { return leaves_.axes; }

    template <class Space>
    void nearest(const Space& space, const double* x, std::int64_t skip, NearestHeap& heap) const {
        visit(
            space, x, [&] { return heap.limit(); },
            [&](double raw, std::int64_t row) {
                if (row != skip) heap.offer(raw, row);
            });
    }

    // `found(raw, row)` for every row of a raw value of at most `limit`.
    template <class Space, class Found>
    void within(const Space& space, const double* x, double limit, Found&& found) const {
        visit(space, x, [&] { return limit; }, found);
    }

private:
    static constexpr size_t leaf = density::leaf_rows, L = lanes<double>;
    struct Node {
        size_t first, count, right;  // leaves [first, first + count); the left child is the next node
    };
    struct Pending {
        double bound;
        size_t node;
    };

    // Halves as leaf_order does, so that every node holds rows that lie close together.
    size_t build(size_t first, size_t count) {
        const size_t node = nodes_.size(), d = leaves_.axes;
        nodes_.push_back({first, count, 0});
        boxes_.resize((node + 1) * 2 * d);
        if (count == 1) {
            for (size_t j = 0; j < d; ++j) {
                boxes_[node * 2 * d + j] = leaves_.low[j * leaves_.padded + first];
                boxes_[node * 2 * d + d + j] = leaves_.high[j * leaves_.padded + first];
            }
            return node;
        }
        const size_t half = (count + 1) / 2, left = build(first, half), right = build(first + half, count - half);
        nodes_[node].right = right;
        for (size_t j = 0; j < d; ++j) {
            boxes_[node * 2 * d + j] = std::min(boxes_[left * 2 * d + j], boxes_[right * 2 * d + j]);
            boxes_[node * 2 * d + d + j] = std::max(boxes_[left * 2 * d + d + j], boxes_[right * 2 * d + d + j]);
        }
        return node;
    }

    template <class Space>
    double bound(const Space& space, const double* x, size_t node) const {
        const size_t d = leaves_.axes;
        const double *low = boxes_.data() + node * 2 * d, *high = low + d;
        typename Space::template State<double> state;
        for (size_t j = 0; j < d; ++j) space.add(state, std::max(std::max(low[j] - x[j], x[j] - high[j]), 0.), 0., j);
        return space.value(state) * Space::slack;
    }

    template <class Space, class Limit, class Found>
    void visit(const Space& space, const double* x, Limit limit, Found&& found) const {
        if (nodes_.empty()) return;
        Pending stack[64];  // the depth is the logarithm of the number of leaves
        size_t size = 0;
        stack[size++] = {bound(space, x, 0), 0};
        while (size) {
            const Pending top = stack[--size];
            if (top.bound > limit()) continue;
            const Node& node = nodes_[top.node];
            if (node.count == 1) {
                scan(space, x, node.first, limit(), found);
                continue;
            }
            const Pending left{bound(space, x, top.node + 1), top.node + 1},
                right{bound(space, x, node.right), node.right};
            const bool left_first = left.bound <= right.bound;
            stack[size++] = left_first ? right : left;
            stack[size++] = left_first ? left : right;
        }
    }

    template <class Space, class Found>
    void scan(const Space& space, const double* x, size_t l, double limit, Found&& found) const {
        typename Space::template State<Vec<double>> state[leaf / L];
        const double* cells = leaves_.leaf(l);
        for (size_t j = 0; j < leaves_.axes; ++j, cells += leaf) {
            const Vec<double> at = Vec<double>{} + x[j];
#pragma GCC unroll 16
            for (size_t r = 0; r < leaf / L; ++r) space.add(state[r], at, load(cells + r * L), j);
        }
        const size_t begin = l * leaf, there = std::min(leaf, leaves_.rows - begin);
        double values[leaf];
        for (size_t r = 0; r < leaf / L; ++r) store(values + r * L, space.value(state[r]));
        for (size_t r = 0; r < there; ++r)
            if (values[r] <= limit) found(values[r], numbers_[begin + r]);
    }

    density::Leaves leaves_;
    std::vector<std::int64_t> numbers_;
    std::vector<Node> nodes_;
    std::vector<double> boxes_;  // [node][low, high][column]
};

}  // namespace lyceum::distances
