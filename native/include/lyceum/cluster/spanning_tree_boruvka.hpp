// The minimum spanning tree of rows of few columns, by Boruvka's algorithm over a tree of boxes: in every round every
// component looks for the nearest row outside of it. Boxes within one component, and boxes farther away than the
// component's best edge so far, are passed over; a row whose last neighbor is still outside need not look again. With
// `core` values an edge is max(value, core_i, core_j). Memory: the rows. Cost: about n log(n) where columns are few.
#pragma once
#include <lyceum/cluster/linkage_matrix.hpp>
#include <lyceum/density/row_leaves.hpp>
#include <lyceum/distances/spaces.hpp>
#include <numeric>

namespace lyceum::cluster {

template <class Space>
class BoruvkaTree {
public:
    // Z is in leaf order (density::leaf_order); `numbers[i]` is the row number of row i of Z, `core` is by row number.
    BoruvkaTree(const Space& space, Matrix<const double> Z, const std::int64_t* numbers, const double* core,
                size_t threads, InterruptPoll poll)
        : space_(space), Z_(Z), numbers_(numbers), leaves_(Z, nullptr), team_(threads), poll_(poll), n_(Z.rows) {
        core_.resize(n_);
        for (size_t i = 0; i < n_; ++i) core_[i] = core ? core[static_cast<size_t>(numbers[i])] : 0;
        if (leaves_.count) build(0, leaves_.count);
        same_.resize(nodes_.size());
        component_.resize(n_), parent_.resize(n_), near_.assign(n_, n_), value_.assign(n_, 0);
        std::iota(parent_.begin(), parent_.end(), size_t{0});
    }

    void operator()(Merges out) {
        size_t done = 0;
        for (bool first = true; done + 1 < n_; first = false) {
            label();
            if (first) look_all();
            std::vector<Edge> best(n_);
            for (size_t i = 0; i < n_; ++i)
                if (near_[i] < n_ && component_[near_[i]] != component_[i]) offer(best, i);
            for (size_t i = 0; i < n_; ++i) {
                const Edge& edge = best[component_[i]];
                const bool known = near_[i] < n_ && component_[near_[i]] != component_[i];
                if (known || !(value_[i] < edge.value || edge.from == none)) continue;
                look(i, edge.from == none ? never : edge.value, edge.from == none);
                if (near_[i] < n_) offer(best, i);
                poll_(4096);
            }
            const size_t before = done;
            for (size_t c = 0; c < n_; ++c) {
                if (best[c].from == none) continue;
                const size_t i = best[c].from, j = best[c].to, one = find(i), two = find(j);
                if (one == two) continue;
                parent_[std::max(one, two)] = std::min(one, two);
                out.a[done] = numbers_[i], out.b[done] = numbers_[j], out.height[done] = best[c].value;
                ++done;
            }
            if (done == before) throw std::invalid_argument("rows hold NaN");
        }
    }

private:
    static constexpr size_t leaf = density::leaf_rows, L = lanes<double>, none = static_cast<size_t>(-1);
    static constexpr double never = std::numeric_limits<double>::infinity();
    struct Node {
        size_t first, count, right;  // leaves; the left child is the next node
    };
    struct Edge {
        double value = never;
        size_t from = none, to = none;
    };
    struct Pending {
        double bound;
        size_t node;
    };

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

    size_t find(size_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }

    // The component of every row, and of every node that lies in one (`none` for the others).
    void label() {
        for (size_t i = 0; i < n_; ++i) component_[i] = find(i);
        for (size_t node = nodes_.size(); node-- > 0;) {
            const Node& one = nodes_[node];
            if (one.count > 1) {
                same_[node] = same_[node + 1] == same_[one.right] ? same_[node + 1] : none;
                continue;
            }
            const size_t begin = one.first * leaf, end = std::min(n_, begin + leaf);
            same_[node] = component_[begin];
            for (size_t i = begin; i < end; ++i)
                if (component_[i] != same_[node]) same_[node] = none;
        }
    }

    // The nearest neighbors of all rows, for the first round.
    void look_all() {
        const size_t step = 1024;
        team_((n_ + step - 1) / step, [&](size_t task) {
            for (size_t i = task * step; i < std::min(n_, (task + 1) * step); ++i) look(i, never, true);
        });
    }

    void offer(std::vector<Edge>& best, size_t i) const {
        Edge& edge = best[component_[i]];
        if (edge.from == none || value_[i] < edge.value) edge = {value_[i], i, near_[i]};
    }

    double bound(const double* x, size_t node) const {
        const size_t d = leaves_.axes;
        const double *low = boxes_.data() + node * 2 * d, *high = low + d;
        typename Space::template State<double> state;
        for (size_t j = 0; j < d; ++j) space_.add(state, std::max(std::max(low[j] - x[j], x[j] - high[j]), 0.), 0., j);
        return space_.value(state) * Space::slack;
    }

    // The nearest row outside of the component of row i, if its value is below `limit`; or any, if `always`.
    void look(size_t i, double limit, bool always) {
        const double *x = Z_.row(i), own = core_[i];
        near_[i] = n_, value_[i] = limit;
        Pending stack[64];
        size_t size = 0;
        stack[size++] = {std::max(own, bound(x, 0)), 0};
        while (size) {
            const Pending top = stack[--size];
            if (same_[top.node] == component_[i] || (!(top.bound < value_[i]) && !(always && near_[i] == n_))) continue;
            const Node& node = nodes_[top.node];
            if (node.count == 1) {
                scan(i, x, own, node.first, always);
                continue;
            }
            const Pending left{std::max(own, bound(x, top.node + 1)), top.node + 1},
                right{std::max(own, bound(x, node.right)), node.right};
            const bool left_first = left.bound <= right.bound;
            stack[size++] = left_first ? right : left;
            stack[size++] = left_first ? left : right;
        }
    }

    void scan(size_t i, const double* x, double own, size_t l, bool always) {
        typename Space::template State<Vec<double>> state[leaf / L];
        const double* cells = leaves_.leaf(l);
        for (size_t j = 0; j < leaves_.axes; ++j, cells += leaf) {
            const Vec<double> at = Vec<double>{} + x[j];
#pragma GCC unroll 16
            for (size_t r = 0; r < leaf / L; ++r) space_.add(state[r], at, load(cells + r * L), j);
        }
        const size_t begin = l * leaf, there = std::min(leaf, n_ - begin);
        double values[leaf];
        for (size_t r = 0; r < leaf / L; ++r) store(values + r * L, space_.value(state[r]));
        for (size_t r = 0; r < there; ++r) {
            if (component_[begin + r] == component_[i]) continue;
            const double value = std::max(std::max(values[r], own), core_[begin + r]);
            if (value < value_[i] || (always && near_[i] == n_)) value_[i] = value, near_[i] = begin + r;
        }
    }

    const Space& space_;
    Matrix<const double> Z_;
    const std::int64_t* numbers_;
    density::Leaves leaves_;
    ThreadTeam team_;
    InterruptPoll poll_;
    size_t n_;
    std::vector<Node> nodes_;
    std::vector<double> boxes_, core_;               // boxes: [node][low, high][column]
    std::vector<size_t> same_;                       // by node
    std::vector<size_t> component_, parent_, near_;  // by row
    std::vector<double> value_;                      // of the edge to near_, or a lower bound of the nearest outside
};

}  // namespace lyceum::cluster
