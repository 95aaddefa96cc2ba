// Every node that a row visits, with the share of the row that reaches it: a missing cell may divide a row among the
// children. For explanations, pruning, and rows that forests cannot route. Cost: the nodes visited.
#pragma once
#include <lyceum/core/interrupt.hpp>
#include <lyceum/trees/route/tree_view.hpp>
#include <vector>

namespace lyceum::trees {

struct Visit {
    std::int32_t node;
    bool ends;  // the row, or this part of it, ends here
    double share;
};

class Visits {
public:
    explicit Visits(const TreeView& tree) : tree_(tree) {}

    // The visits of a row in depth-first order.
    template <class T>
    const std::vector<Visit>& of(const T* cells) {
        found_.clear();
        waiting_.assign(1, {0, false, 1.0});
        while (!waiting_.empty()) {
            const Visit at = waiting_.back();
            waiting_.pop_back();
            const auto i = static_cast<size_t>(at.node);
            const int branch =
                tree_.split(i) == SplitKind::leaf ? stays : tree_.branch(i, double(cells[tree_.feature[i]]));
            found_.push_back({at.node, branch == stays, at.share});
            if (branch >= 0) waiting_.push_back({tree_.child[i] + branch, false, at.share});
            if (branch == shared) {
                for (int b = tree_.n_children[i] - 1; b >= 0; --b)
                    if (const double share = tree_.share(i, b); share > 0)
                        waiting_.push_back({tree_.child[i] + b, false, at.share * share});
            }
        }
        return found_;
    }

private:
    const TreeView& tree_;
    std::vector<Visit> found_, waiting_;
};

// out_i = the node where the largest part of row i ends, the first of equals.
template <class T>
void visit_ends(const TreeView& tree, Matrix<const T> X, std::int32_t* out, size_t stride, InterruptPoll poll) {
    Visits visits(tree);
    for (size_t i = 0; i < X.rows; ++i) {
        double largest = -1;
        const auto& found = visits.of(X.row(i));
        for (const Visit& v : found)
            if (v.ends && v.share > largest) largest = v.share, out[i * stride] = v.node;
        poll(16 * found.size());
    }
}

// out_i += Σ share · values[node] over the nodes where parts of row i end; values is (nodes, K).
template <class T>
void add_visit_values(const TreeView& tree, Matrix<const T> X, Matrix<const double> values, double* out, size_t stride,
                      InterruptPoll poll) {
    Visits visits(tree);
    for (size_t i = 0; i < X.rows; ++i) {
        const auto& found = visits.of(X.row(i));
        for (size_t k = 0; k < values.cols; ++k) {
            double sum = 0;  // one number per tree, however many parts a row has
            for (const Visit& v : found)
                if (v.ends) sum += v.share * values.row(v.node)[k];
            out[i * stride + k] += sum;
        }
        poll(16 * found.size());
    }
}

// out[i, feature of the parent] += share · (value[node] − value[parent]) for every step of row i, of column pick_i of
// the values: what the columns tested add to the value of the root.
template <class T>
void add_contributions(const TreeView& tree, Matrix<const T> X, Matrix<const double> values, const std::int32_t* pick,
                       Matrix<double> out, InterruptPoll poll) {
    std::vector<std::int32_t> parent(tree.nodes, -1);
    for (size_t i = 0; i < tree.nodes; ++i)
        if (tree.split(i) != SplitKind::leaf)
            std::fill_n(parent.begin() + tree.child[i], tree.n_children[i], static_cast<std::int32_t>(i));
    Visits visits(tree);
    for (size_t i = 0; i < X.rows; ++i) {
        const size_t k = pick ? static_cast<size_t>(pick[i]) : 0;
        const auto& found = visits.of(X.row(i));
        for (size_t v = 1; v < found.size(); ++v) {
            const auto from = static_cast<size_t>(parent[found[v].node]);
            out.row(i)[tree.feature[from]] += found[v].share * (values.row(found[v].node)[k] - values.row(from)[k]);
        }
        poll(16 * found.size());
    }
}

// The visits of all rows as a sparse matrix (rows, nodes): where rows start, nodes, shares.
struct SparseVisits {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> node;
    std::vector<double> share;
};

template <class T>
SparseVisits sparse_visits(const TreeView& tree, Matrix<const T> X, InterruptPoll poll) {
    SparseVisits all;
    all.starts.assign(1, 0);
    Visits visits(tree);
    for (size_t i = 0; i < X.rows; ++i) {
        const auto& found = visits.of(X.row(i));
        for (const Visit& v : found) all.node.push_back(v.node), all.share.push_back(v.share);
        all.starts.push_back(static_cast<std::int64_t>(all.node.size()));
        poll(16 * found.size());
    }
    return all;
}

}  // namespace lyceum::trees
