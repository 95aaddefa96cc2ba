// An exact index: rows in leaves (density/row_leaves.hpp) under a tree of boxes, eight to a node, whose distances are
// found together. A box is passed over when the raw value of the gaps between it and the query is above the limit.
// Rounding is monotone, so that the value of the gaps, summed in the order of the columns, is never above that of a row
// in the box: the answer is that of nearest.hpp, bit for bit. Queries that lie close together follow one another, so
// that what they read is in the cache. Cost per query: about log(n) boxes and a few leaves where columns are few, all
// leaves at worst.
#pragma once
#include <bit>
#include <lyceum/density/row_leaves.hpp>
#include <lyceum/distances/nearest.hpp>
#include <lyceum/distances/sorted_nearest.hpp>

namespace lyceum::distances {

class LeafTree {
public:
    // Z is in leaf order; `numbers[i]` is the row number of row i of Z.
    LeafTree(Matrix<const double> Z, const std::int64_t* numbers)
        : leaves_(Z, nullptr), numbers_(numbers, numbers + Z.rows) {
        if (leaves_.count) build(0, leaves_.count);
    }

    size_t rows() const { return leaves_.rows; }
    size_t columns() const { return leaves_.axes; }

    // The k nearest rows of every query; `skip` is null, or a row for every query that it leaves out.
    template <class Space>
    void nearest(const Space& space, Matrix<const double> X, NearestQuery asked, NearestOutput out,
                 InterruptPoll poll) const {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> order(X.rows);  // the leaf where a search begins, query
        for (size_t q = 0; q < X.rows; ++q) {
            order[q] = {static_cast<std::uint32_t>(first_leaf(space, X.row(q))), static_cast<std::uint32_t>(q)};
            poll(256);
        }
        std::sort(order.begin(), order.end());
        std::vector<Neighbor> storage(asked.k > 32 ? asked.k : 0);
        for (const auto& [begin, q] : order) {
            const auto find = [&, begin = begin, q = q](auto&& list) {
                search(space, X.row(q), begin, asked.skip ? asked.skip[q] : -1, list);
                list.write(out.raw + q * asked.k, out.rows + q * asked.k);
            };
            if (asked.k <= 8)
                find(SortedNearest<8>(asked.k));
            else if (asked.k <= 16)
                find(SortedNearest<16>(asked.k));
            else if (asked.k <= 32)
                find(SortedNearest<32>(asked.k));
            else
                find(NearestHeap(storage.data(), asked.k));
            poll(4096);
        }
    }

    // `found(raw, row)` for every row of a raw value of at most `limit`.
    template <class Space, class Found>
    void within(const Space& space, const double* x, double limit, Found&& found) const {
        const auto each = [&](const double* raw, const std::int64_t* rows, std::uint32_t passing) {
            for_each_bit(passing, [&](size_t i) { found(raw[i], rows[i]); });
        };
        visit(space, x, none, [&] { return limit; }, each);
    }

private:
    static constexpr size_t leaf = density::leaf_rows, L = lanes<double>, wide = 8, none = size_t(-1);
    struct Node {
        std::int64_t child[wide];  // a node, or ~leaf
        size_t count;
    };
    struct Pending {
        double bound;
        std::int64_t child;
    };

    template <class Use>
    static void for_each_bit(std::uint32_t bits, Use&& use) {
        for (; bits; bits &= bits - 1) use(static_cast<size_t>(std::countr_zero(bits)));
    }

    // Halves thrice as leaf_order does, so that every child holds rows that lie close together.
    size_t build(size_t first, size_t count) {
        const size_t node = nodes_.size(), d = leaves_.axes;
        size_t begin[wide + 1] = {first}, parts = 1;
        begin[1] = first + count;
        for (size_t step = wide; step > 1; step /= 2) {
            size_t halves[wide + 1] = {first}, found = 0;
            for (size_t i = 0; i < parts; ++i) {
                const size_t size = begin[i + 1] - begin[i];
                if (size > 1) halves[++found] = begin[i] + (size + 1) / 2;
                halves[++found] = begin[i + 1];
            }
            std::copy(halves, halves + found + 1, begin);
            parts = found;
        }
        nodes_.push_back({{}, parts});
        boxes_.resize(nodes_.size() * 2 * d * wide, std::numeric_limits<double>::infinity());
        for (size_t i = 0; i < parts; ++i) {
            const bool one = begin[i + 1] - begin[i] == 1;
            const auto child = one ? ~static_cast<std::int64_t>(begin[i])
                                   : static_cast<std::int64_t>(build(begin[i], begin[i + 1] - begin[i]));
            nodes_[node].child[i] = child;
            for (size_t j = 0; j < d; ++j) {
                const double *low = leaves_.low.data() + j * leaves_.padded,
                             *high = leaves_.high.data() + j * leaves_.padded;
                box(node, j)[i] = *std::min_element(low + begin[i], low + begin[i + 1]);
                box(node, j)[wide + i] = *std::max_element(high + begin[i], high + begin[i + 1]);
            }
        }
        return node;
    }

    // The boxes of the children of a node in one column: their lowest values, then their highest.
    const double* box(size_t node, size_t column) const {
        return boxes_.data() + (node * leaves_.axes + column) * 2 * wide;
    }
    double* box(size_t node, size_t column) { return boxes_.data() + (node * leaves_.axes + column) * 2 * wide; }

    template <class Space>
    void bounds(const Space& space, const double* x, size_t node, Vec<double> (&out)[wide / L]) const {
        typename Space::template State<Vec<double>> state[wide / L];
        const double* at = box(node, 0);
        for (size_t j = 0; j < leaves_.axes; ++j, at += 2 * wide)
#pragma GCC unroll 4
            for (size_t v = 0; v < wide / L; ++v) {
                const Vec<double> z = splat(x[j]), low = load(at + v * L) - z, high = z - load(at + wide + v * L);
                space.add(state[v], vmax<double>(vmax<double>(low, high), Vec<double>{}), Vec<double>{}, j);
            }
#pragma GCC unroll 4
        for (size_t v = 0; v < wide / L; ++v) out[v] = space.value(state[v]) * Space::slack;
    }

    // A leaf near x: the nearest child of the nearest child ...
    template <class Space>
    size_t first_leaf(const Space& space, const double* x) const {
        for (size_t node = 0;;) {
            Vec<double> bound[wide / L];
            bounds(space, x, node, bound);
            size_t best = 0;
            double least = bound[0][0];
            for (size_t i = 1; i < nodes_[node].count; ++i) {
                const double here = bound[i / L][i % L];
                best = here < least ? i : best;
                least = here < least ? here : least;
            }
            const std::int64_t child = nodes_[node].child[best];
            if (child < 0) return static_cast<size_t>(~child);
            node = static_cast<size_t>(child);
        }
    }

    template <class Space, class List>
    void search(const Space& space, const double* x, size_t begin, std::int64_t skip, List& list) const {
        const auto limit = [&] { return list.limit(); };
        const auto offer = [&](const double* raw, const std::int64_t* rows, std::uint32_t passing) {
            if (!passing) return;
            List held = list;  // in registers
            for_each_bit(passing, [&](size_t i) {
                if (rows[i] != skip) held.offer(raw[i], rows[i]);
            });
            list = held;
        };
        scan(space, x, begin, limit(), offer);
        visit(space, x, begin, limit, offer);
    }

    // All leaves but `seen` whose boxes are within the limit, the nearest of a node first.
    template <class Space, class Limit, class Found>
    void visit(const Space& space, const double* x, size_t seen, Limit limit, Found&& found) const {
        if (nodes_.empty()) return;
        Pending stack[24 * wide];  // the depth is the logarithm of the number of leaves
        size_t size = 0;
        stack[size++] = {0, 0};
        while (size) {
            const Pending top = stack[--size];
            if (top.bound > limit()) continue;
            if (top.child < 0) {
                const auto l = static_cast<size_t>(~top.child);
                if (l != seen) scan(space, x, l, limit(), found);
                continue;
            }
            const Node& node = nodes_[static_cast<size_t>(top.child)];
            Vec<double> bound[wide / L];
            bounds(space, x, static_cast<size_t>(top.child), bound);
            unsigned passing = 0;
#pragma GCC unroll 4
            for (size_t v = 0; v < wide / L; ++v) passing |= lane_bits(bound[v] <= splat(limit())) << (v * L);
            const size_t bottom = size;
            for_each_bit(passing & ((1u << node.count) - 1), [&](size_t i) {
                const Pending one{bound[i / L][i % L], node.child[i]};
                size_t at = size++;
                for (; at > bottom && stack[at - 1].bound < one.bound; --at) stack[at] = stack[at - 1];
                stack[at] = one;
            });
        }
    }

    // `found(raw, rows, passing)`: the values and numbers of the rows of a leaf, and one bit for each within the limit.
    template <class Space, class Found>
    void scan(const Space& space, const double* x, size_t l, double limit, Found&& found) const {
        typename Space::template State<Vec<double>> state[leaf / L];
        const double* cells = leaves_.leaf(l);
        for (size_t j = 0; j < leaves_.axes; ++j, cells += leaf) {
            const Vec<double> at = splat(x[j]);
#pragma GCC unroll 16
            for (size_t r = 0; r < leaf / L; ++r) space.add(state[r], at, load(cells + r * L), j);
        }
        double values[leaf];
        std::uint32_t passing = 0;
#pragma GCC unroll 16
        for (size_t r = 0; r < leaf / L; ++r) {
            const Vec<double> value = space.value(state[r]);
            passing |= std::uint32_t{lane_bits(value <= splat(limit))} << (r * L);
            store(values + r * L, value);
        }
        const size_t begin = l * leaf, there = std::min(leaf, leaves_.rows - begin);
        if (there < leaf) passing &= (std::uint32_t{1} << there) - 1;
        found(values, numbers_.data() + begin, passing);
    }

    density::Leaves leaves_;
    std::vector<std::int64_t> numbers_;
    std::vector<Node> nodes_;
    std::vector<double, AlignedAllocator<double>> boxes_;  // [node][column][low, high][child]
};

}  // namespace lyceum::distances
