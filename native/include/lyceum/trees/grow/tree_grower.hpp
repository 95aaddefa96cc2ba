// Growing a tree: open nodes, each with its rows, are split until nothing is left to gain.
//
// Continuous columns of many values are sorted once, at the root; every split deals the sorted rows out to the
// children, which so have them in order. Where a node searches only some columns, their rows are sorted there instead.
//
// A large node may be searched by several threads, a few columns each; the subtrees of small nodes are grown by one
// thread each and put together at the end. The tree depends on the data and the seed alone.
#pragma once
#include <memory>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/trees/chi_square.hpp>
#include <lyceum/trees/grow/row_dealer.hpp>
#include <lyceum/trees/split/column_choice.hpp>

namespace lyceum::trees {

class AnyGrower {
public:
    virtual ~AnyGrower() = default;
    virtual size_t n_open() const = 0;
    virtual size_t open_rows(size_t open) const = 0;
    virtual bool is_finished(size_t open) const = 0;
    virtual void sort(size_t from, size_t to) = 0;  // columns of the root, before anything else
    virtual void prepare(size_t open) = 0;          // before threads search it
    virtual void search(size_t open, size_t from, size_t to, InterruptPoll poll) = 0;
    virtual size_t split(size_t open) = 0;  // by what was found; its children are open in its place
    virtual void deal(size_t open, size_t children, size_t from, size_t to) = 0;  // sorted columns to those children
    virtual void finish(size_t open, InterruptPoll poll) = 0;
    virtual Subtree assemble() = 0;
    virtual size_t width() const = 0;  // of a node's value
};

template <class Target>
class TreeGrower : public AnyGrower {
public:
    using Instance = typename Target::Instance;
    using Open = OpenNode<Instance>;

    TreeGrower(Target target, TreeColumns columns, TreeRules rules, std::vector<Instance> rows)
        : target_(target), columns_(columns), rules_(rules), summary_(target_, rules_), dealer_(columns_, rules_) {
        top_.nodes.emplace_back();
        top_.value.resize(width());
        Open root{0, 0, mix(rules.seed + 0x9E3779B97F4A7C15u), 0., {}, std::move(rows), {}, {}, {}, {}};
        root.constant.assign(columns.d, 0);
        root.sorted = SortedRows(dealer_.n_sorted(), root.rows.size());
        summary_.summarize(top_, root);
        root_weight_ = top_.nodes[0].weight;
        root_impurity_ = top_.nodes[0].impurity;
        open_.push_back(std::move(root));
        subtrees_.resize(1);
    }
    TreeGrower(const TreeGrower&) = delete;

    size_t width() const override { return summary_.width(); }
    size_t n_open() const override { return open_.size(); }
    size_t open_rows(size_t i) const override { return may_split(top_, open_[i]) ? open_[i].rows.size() : 0; }

    bool is_finished(size_t i) const override { return open_[i].constant.size() < columns_.d; }  // its rows are gone

    void sort(size_t from, size_t to) override {
        for (size_t j = from; j < to; ++j)
            if (dealer_.is_sorted(j)) sort_rows(columns_, j, open_[0].rows, dealer_.sorted_column(open_[0], j));
    }

    void prepare(size_t i) override { open_[i].found.resize(columns_.d); }

    void search(size_t i, size_t from, size_t to, InterruptPoll poll) override {
        SplitSearch<Target> search(target_, columns_, rules_);
        Open& open = open_[i];
        search.start_node(top_.nodes[open.node].impurity, summary_.centered(open));
        for (size_t j = from; j < to; ++j)
            if (!open.constant[j]) search_column(search, open, j, poll);
    }

    size_t split(size_t i) override {
        parent_ = std::move(open_[i]);
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
        std::vector<Open> children = split(top_, parent_, varying_columns(parent_), dealing_);
        open_.insert(open_.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(children.begin()),
                     std::make_move_iterator(children.end()));
        subtrees_.resize(open_.size());
        return children.size();
    }

    void deal(size_t i, size_t children, size_t from, size_t to) override {
        for (size_t j = from; j < to; ++j)
            if (dealer_.is_sorted(j)) dealer_.deal_column(parent_, open_.data() + i, children, dealing_, j);
    }

    void finish(size_t i, InterruptPoll poll) override {
        Open root = std::move(open_[i]);
        Subtree& tree = subtrees_[i];
        const size_t node = root.node, w = width();
        tree.nodes.push_back(top_.nodes[node]);
        tree.value.assign(top_.value.begin() + static_cast<std::ptrdiff_t>(node * w),
                          top_.value.begin() + static_cast<std::ptrdiff_t>((node + 1) * w));
        open_[i].node = node;
        root.node = 0;
        if (rules_.max_leaves)
            grow_best_first(tree, std::move(root), poll);
        else
            grow_depth_first(tree, std::move(root), poll);
    }

    Subtree assemble() override {
        for (size_t i = 0; i < open_.size(); ++i) attach(top_, open_[i].node, subtrees_[i], width());
        return number_by_level(std::move(top_), width());
    }

private:
    bool may_split(const Subtree& tree, const Open& open) const {
        return summary_.may_split(tree.nodes[open.node], open, root_impurity_);
    }

    // -- the choice of a column ------------------------------------------------------------------------------------

    bool search_column(SplitSearch<Target>& search, Open& open, size_t j, InterruptPoll& poll) {
        if (open.found.empty()) return false;
        open.found[j] = search(open.rows.data(), open.rows.size(), open.total.data(), j, dealer_.sorted_column(open, j),
                               column_random(open.seed, j));
        poll(open.rows.size() * 8);
        return !open.found[j].constant;
    }

    std::vector<size_t> varying_columns(const Open& open) const {
        std::vector<size_t> columns;
        for (size_t j = 0; j < columns_.d; ++j)
            if (!open.constant[j]) columns.push_back(j);
        return columns;
    }

    // Searches the columns, or some of them at random; returns those searched.
    [[gnu::noinline]] std::vector<size_t> search_node(SplitSearch<Target>& search, Subtree& tree, Open& open,
                                                      InterruptPoll& poll) {
        search.start_node(tree.nodes[open.node].impurity, summary_.centered(open));
        open.found.resize(columns_.d);
        return search_columns(varying_columns(open), rules_, columns_.d, open.seed, open.found,
                              [&](size_t j) { return search_column(search, open, j, poll); });
    }

    // -- the split -------------------------------------------------------------------------------------------------

    std::vector<Open> split(Subtree& tree, Open& open, const std::vector<size_t>& columns, Dealing& dealing) {
        size_t column = 0;
        const FoundSplit* best = open.found.empty() ? nullptr : best_column(open.found, columns, rules_, column);
        if (rules_.record && !open.found.empty()) record_columns(tree, open, columns);
        const double share = tree.nodes[open.node].weight / root_weight_;
        if (!best || share * best->gain < rules_.min_decrease * (1 - 1e-12)) return {};
        std::vector<Open> children = dealer_.deal(open, *best, column, dealing);
        for (const size_t j : columns)
            if (open.found[j].constant)
                for (auto& child : children) child.constant[j] = 1;
        const size_t first = tree.nodes.size();
        tree.nodes.resize(first + children.size());
        tree.value.resize(tree.nodes.size() * width());
        for (size_t c = 0; c < children.size(); ++c) {
            children[c].node = first + c;
            summary_.summarize(tree, children[c]);
        }
        if (rules_.max_p < 1. && !depends_on_class(children)) {
            tree.nodes.resize(first);
            tree.value.resize(first * width());
            return {};
        }
        if (rules_.monotonic) bound_children(tree, children, rules_.monotonic[column]);
        write_split(tree, tree.nodes[open.node], *best, column, first);
        return children;
    }

    // Values below a split by a monotone column stay on their side of the middle of the two values.
    void bound_children(Subtree& tree, std::vector<Open>& children, int direction) const {
        const double middle = (summary_.value(tree, children[0]) + summary_.value(tree, children[1])) / 2;
        if (direction) {
            children[direction > 0 ? 0 : 1].bounds.upper = middle;
            children[direction > 0 ? 1 : 0].bounds.lower = middle;
        }
        for (const Open& child : children) summary_.clip(tree, child);
    }

    [[gnu::noinline]] void record_columns(Subtree& tree, const Open& open, const std::vector<size_t>& columns) const {
        for (const size_t j : columns) {
            const FoundSplit& found = open.found[j];
            if (found.valid)
                tree.record.push_back({static_cast<std::int32_t>(open.node), static_cast<std::int32_t>(j), found.gain,
                                       found.score, threshold_of(found, columns_, rules_, j)});
        }
    }

    [[gnu::noinline]] void write_split(Subtree& tree, TreeNode& node, const FoundSplit& found, size_t column,
                                       size_t first) const {
        node.feature = static_cast<std::int32_t>(column);
        node.kind = found.kind;
        node.child = static_cast<std::int32_t>(first);
        node.n_children = found.children;
        node.threshold = threshold_of(found, columns_, rules_, column);
        node.missing = found.missing_child;
        node.gain = found.gain;
        if (found.kind == SplitKind::intervals) {
            node.table = static_cast<std::int32_t>(tree.cuts.size());
            tree.cuts.insert(tree.cuts.end(), found.cut_values.begin(), found.cut_values.end());
        } else if (found.kind != SplitKind::threshold) {
            node.table = static_cast<std::int32_t>(tree.branches.size());
            node.n_codes = static_cast<std::int32_t>(found.branches.size());
            tree.branches.insert(tree.branches.end(), found.branches.begin(), found.branches.end());
        }
    }

    // The chi-square test of children against classes.
    bool depends_on_class(const std::vector<Open>& children) const {
        std::vector<const double*> branches;
        for (const auto& child : children) branches.push_back(child.total.data());
        return independence(branches, target_.size()) <= rules_.max_p;
    }

    // -- the order of growth ---------------------------------------------------------------------------------------

    void grow_depth_first(Subtree& tree, Open root, InterruptPoll& poll) {
        SplitSearch<Target> search(target_, columns_, rules_);
        Dealing dealing;
        std::vector<FoundSplit> found;
        std::vector<Open> stack;
        stack.push_back(std::move(root));
        while (!stack.empty()) {
            Open open = std::move(stack.back());
            stack.pop_back();
            if (!may_split(tree, open)) continue;
            open.found.swap(found);  // memory that is used again
            const auto columns = search_node(search, tree, open, poll);
            auto children = split(tree, open, columns, dealing);
            dealer_.deal_columns(open, children, dealing);
            found.swap(open.found);
            for (size_t c = children.size(); c-- > 0;) stack.push_back(std::move(children[c]));
        }
    }

    // The node whose split gains most, weighted by its rows, first.
    void grow_best_first(Subtree& tree, Open root, InterruptPoll& poll) {
        struct Waiting {
            double worth;
            Open open;
            std::vector<size_t> columns;
        };
        SplitSearch<Target> search(target_, columns_, rules_);
        Dealing dealing;
        std::vector<Waiting> waiting;
        auto admit = [&](Open open) {
            if (!may_split(tree, open)) return;
            auto columns = search_node(search, tree, open, poll);
            size_t column = 0;
            const FoundSplit* best = best_column(open.found, columns, rules_, column);
            if (best)
                waiting.push_back({tree.nodes[open.node].weight * best->gain, std::move(open), std::move(columns)});
        };
        admit(std::move(root));
        size_t leaves = 1;
        while (!waiting.empty() && leaves < rules_.max_leaves) {
            auto best = std::max_element(waiting.begin(), waiting.end(), [](const Waiting& a, const Waiting& b) {
                return a.worth < b.worth || (a.worth == b.worth && a.open.node > b.open.node);
            });
            Waiting next = std::move(*best);
            waiting.erase(best);
            size_t column = 0;
            const FoundSplit* found = best_column(next.open.found, next.columns, rules_, column);
            if (leaves + static_cast<size_t>(found->children) - 1 > rules_.max_leaves) continue;
            auto children = split(tree, next.open, next.columns, dealing);
            dealer_.deal_columns(next.open, children, dealing);
            if (children.empty()) continue;
            leaves += children.size() - 1;
            for (auto& child : children) admit(std::move(child));
        }
    }

    const Target target_;
    const TreeColumns columns_;
    const TreeRules rules_;
    const NodeSummary<Target> summary_;
    const RowDealer<Instance> dealer_;
    double root_weight_ = 0., root_impurity_ = 0.;
    Open parent_;  // the node split last, and where its rows went
    Dealing dealing_;
    Subtree top_;
    std::vector<Open> open_;
    std::vector<Subtree> subtrees_;
};

}  // namespace lyceum::trees
