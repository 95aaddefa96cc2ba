// Growing a tree: nodes that are open, each with its rows, split until nothing is left to gain.
//
// Continuous columns of many values are sorted once, at the root; every split deals the sorted rows out to the
// children, which so have them in order. Where only some columns are looked at in a node, their rows are sorted there
// instead.
//
// A large node may be searched by several threads, a few columns each; the subtrees of small nodes are grown by one
// thread each, into pieces that are put together at the end. What is grown depends on the data and the seed alone.
#pragma once
#include <memory>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/trees/chi_square.hpp>
#include <lyceum/trees/grow/sorted_rows.hpp>
#include <lyceum/trees/grow/subtree.hpp>
#include <lyceum/trees/split/column_choice.hpp>
#include <lyceum/trees/stopping_rules.hpp>

namespace lyceum::trees {

class AnyGrower {
public:
    virtual ~AnyGrower() = default;
    virtual size_t n_open() const = 0;
    virtual size_t open_rows(size_t open) const = 0;
    virtual void sort(size_t from, size_t to) = 0;  // columns of the root, before anything else
    virtual void prepare(size_t open) = 0;          // before threads search it
    virtual void search(size_t open, size_t from, size_t to, Poll poll) = 0;
    virtual size_t split(size_t open) = 0;  // by what was found; its children are open in its place
    virtual void deal(size_t open, size_t children, size_t from, size_t to) = 0;  // sorted columns to those children
    virtual void finish(size_t open, Poll poll) = 0;
    virtual TreePiece assemble() = 0;
    virtual size_t width() const = 0;  // of a node's value
};

template <class Target>
class TreeGrower : public AnyGrower {
public:
    using Instance = typename Target::Instance;

    TreeGrower(Target target, TreeColumns columns, TreeRules rules, std::vector<Instance> rows)
        : target_(target), columns_(columns), rules_(rules), classes_(std::is_same_v<Instance, Labelled>) {
        top_.nodes.emplace_back();
        top_.value.resize(width());
        Open root{0, 0, mix(rules.seed + 0x9E3779B97F4A7C15u), 0., std::move(rows), {}, {}, {}, {}};
        root.dead.assign(columns.d, 0);
        slot_.assign(columns.d, -1);
        const bool all = !rules.max_features || rules.max_features >= columns.d;
        for (size_t j = 0; j < columns.d && all && !rules.random; ++j)
            if (!columns.is_category[j] && columns.n_codes[j] > 64) slot_[j] = sorted_++;
        root.sorted = SortedRows(sorted_, root.rows.size());
        settle(top_, root);
        root_weight_ = top_.nodes[0].weight;
        root_impurity_ = top_.nodes[0].impurity;
        open_.push_back(std::move(root));
        pieces_.resize(1);
    }

    size_t width() const override { return classes_ ? target_.size() : 1; }
    size_t n_open() const override { return open_.size(); }
    size_t open_rows(size_t i) const override { return may_split(top_, open_[i]) ? open_[i].rows.size() : 0; }

    void sort(size_t from, size_t to) override {
        for (size_t j = from; j < to; ++j)
            if (slot_[j] >= 0) sort_rows(columns_, j, open_[0].rows, open_[0].sorted.column(slot_[j]));
    }

    void prepare(size_t i) override { open_[i].found.resize(columns_.d); }

    void search(size_t i, size_t from, size_t to, Poll poll) override {
        SplitSearch<Target> search(target_, columns_, rules_);
        Open& open = open_[i];
        search.begin(top_.nodes[open.node].impurity);
        for (size_t j = from; j < to; ++j)
            if (!open.dead[j]) look(search, open, j, poll);
    }

    size_t split(size_t i) override {
        parent_ = std::move(open_[i]);
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
        std::vector<Open> children = split(top_, parent_, alive(parent_), dealing_);
        open_.insert(open_.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(children.begin()),
                     std::make_move_iterator(children.end()));
        pieces_.resize(open_.size());
        return children.size();
    }

    void deal(size_t i, size_t children, size_t from, size_t to) override {
        for (size_t j = from; j < to; ++j)
            if (slot_[j] >= 0) deal_column(parent_, open_.data() + i, children, dealing_, j);
    }

    void finish(size_t i, Poll poll) override {
        Open root = std::move(open_[i]);
        TreePiece& piece = pieces_[i];
        const size_t node = root.node, w = width();
        piece.nodes.push_back(top_.nodes[node]);
        piece.value.assign(top_.value.begin() + static_cast<std::ptrdiff_t>(node * w),
                           top_.value.begin() + static_cast<std::ptrdiff_t>((node + 1) * w));
        open_[i].node = node;
        root.node = 0;
        if (rules_.max_leaves)
            best_first(piece, std::move(root), poll);
        else
            depth_first(piece, std::move(root), poll);
    }

    TreePiece assemble() override {
        for (size_t i = 0; i < open_.size(); ++i) attach(top_, open_[i].node, pieces_[i], width());
        return numbered_by_level(std::move(top_), width());
    }

private:
    struct Open {
        size_t node, depth;
        std::uint64_t seed;
        double mean;  // of the target, which is centred on it
        std::vector<Instance> rows;
        std::vector<double> total;
        std::vector<std::uint8_t> dead;  // columns of one value
        std::vector<Found> found;
        SortedRows sorted;
    };

    // -- a node ----------------------------------------------------------------------------------------------------

    // Sums, value, weight and impurity of a node from its rows.
    void settle(TreePiece& piece, Open& open) {
        TreeNode& node = piece.nodes[open.node];
        double* value = piece.value.data() + open.node * width();
        node.n_rows = static_cast<std::int64_t>(open.rows.size());
        open.total.assign(target_.size(), 0.);
        if constexpr (std::is_same_v<Instance, Labelled>) {
            for (const auto& row : open.rows) target_.add(open.total.data(), row);
            node.weight = target_.weight(open.total.data());
            node.impurity = target_.impurity(open.total.data(), merit_of(target_, open.total.data()));
            std::copy_n(open.total.data(), target_.size(), value);
        } else {
            double weight = 0., sum = 0., squares = 0.;
            for (const auto& row : open.rows) weight += row.w, sum += row.w * row.y;
            const double shift = weight > 0. ? sum / weight : 0.;
            for (auto& row : open.rows) {
                row.y -= shift;
                squares += row.w * row.y * row.y;
                target_.add(open.total.data(), row);
            }
            open.mean += shift;
            node.weight = weight;
            node.impurity = spread(target_.criterion, weight, 0., squares);
            *value = open.mean;
            if (target_.criterion == Criterion::absolute) about_median(node, open, value);
        }
    }

    void about_median(TreeNode& node, const Open& open, double* value) const {
        if constexpr (std::is_same_v<Instance, Measured>) {
            std::vector<std::pair<double, double>> cells;
            for (const auto& row : open.rows) cells.emplace_back(row.y, row.w);
            std::sort(cells.begin(), cells.end());
            double below = 0., median = 0., cost = 0.;
            for (size_t i = 0; i < cells.size(); ++i) {
                below += cells[i].second;
                if (below < node.weight / 2 * (1 - 1e-12)) continue;
                // where the weight so far is just half, midway to the next: any point between has the same cost
                const bool half = i + 1 < cells.size() && below <= node.weight / 2 * (1 + 1e-12);
                median = half ? cells[i].first / 2 + cells[i + 1].first / 2 : cells[i].first;
                break;
            }
            for (const auto& [y, w] : cells) cost += w * std::abs(y - median);
            node.impurity = node.weight > 0. ? cost / node.weight : 0.;
            *value = open.mean + median;
        }
    }

    bool may_split(const TreePiece& piece, const Open& open) const {
        return trees::may_split(rules_, open.rows.size(), open.depth, piece.nodes[open.node].impurity, open.mean,
                                root_impurity_);
    }

    // -- the choice of a column ------------------------------------------------------------------------------------

    bool look(SplitSearch<Target>& search, Open& open, size_t j, Poll& poll) {
        if (open.found.empty()) return false;
        const std::uint64_t* sorted = slot_[j] >= 0 ? open.sorted.column(slot_[j]) : nullptr;
        open.found[j] =
            search(open.rows.data(), open.rows.size(), open.total.data(), j, sorted, column_random(open.seed, j));
        poll(open.rows.size() * 8);
        return !open.found[j].constant;
    }

    std::vector<size_t> alive(const Open& open) const {
        std::vector<size_t> columns;
        for (size_t j = 0; j < columns_.d; ++j)
            if (!open.dead[j]) columns.push_back(j);
        return columns;
    }

    // Looks at the columns, or at some of them drawn; returns those looked at, in the order of the table.
    std::vector<size_t> search_all(SplitSearch<Target>& search, TreePiece& piece, Open& open, Poll& poll) {
        search.begin(piece.nodes[open.node].impurity);
        open.found.resize(columns_.d);
        return look_at(alive(open), rules_, columns_.d, open.seed, open.found,
                       [&](size_t j) { return look(search, open, j, poll); });
    }

    // -- the split -------------------------------------------------------------------------------------------------

    std::vector<Open> split(TreePiece& piece, Open& open, const std::vector<size_t>& columns, Dealing& dealing) {
        size_t column = 0;
        const Found* best = open.found.empty() ? nullptr : best_of(open.found, columns, rules_, column);
        if (rules_.record && !open.found.empty()) note(piece, open, columns);
        const double share = piece.nodes[open.node].weight / root_weight_;
        if (!best || share * best->gain < rules_.min_decrease * (1 - 1e-12)) return {};
        std::vector<Open> children = parted(open, *best, column, dealing);
        for (const size_t j : columns)
            if (open.found[j].constant)
                for (auto& child : children) child.dead[j] = 1;
        const size_t first = piece.nodes.size();
        piece.nodes.resize(first + children.size());
        piece.value.resize(piece.nodes.size() * width());
        for (size_t c = 0; c < children.size(); ++c) {
            children[c].node = first + c;
            settle(piece, children[c]);
        }
        if (rules_.max_p < 1. && !depends(children)) {
            piece.nodes.resize(first);
            piece.value.resize(first * width());
            return {};
        }
        write(piece, piece.nodes[open.node], *best, column, first);
        return children;
    }

    void note(TreePiece& piece, const Open& open, const std::vector<size_t>& columns) const {
        for (const size_t j : columns)
            if (open.found[j].valid)
                piece.record.push_back({static_cast<std::int32_t>(open.node), static_cast<std::int32_t>(j),
                                        open.found[j].gain, open.found[j].score,
                                        threshold_of(open.found[j], columns_, rules_, j)});
    }

    void write(TreePiece& piece, TreeNode& node, const Found& found, size_t column, size_t first) const {
        node.feature = static_cast<std::int32_t>(column);
        node.kind = found.kind;
        node.child = static_cast<std::int32_t>(first);
        node.n_children = found.children;
        node.threshold = threshold_of(found, columns_, rules_, column);
        node.missing = found.absent;
        node.gain = found.gain;
        if (found.kind == SplitKind::intervals) {
            node.table = static_cast<std::int32_t>(piece.cuts.size());
            piece.cuts.insert(piece.cuts.end(), found.cut_values.begin(), found.cut_values.end());
        } else if (found.kind != SplitKind::threshold) {
            node.table = static_cast<std::int32_t>(piece.branches.size());
            node.n_codes = static_cast<std::int32_t>(found.branches.size());
            piece.branches.insert(piece.branches.end(), found.branches.begin(), found.branches.end());
        }
    }

    // The rows of every child; with fractions, rows without a value go to all with their shares.
    std::vector<Open> parted(const Open& open, const Found& found, size_t column, Dealing& dealing) {
        const size_t m = open.rows.size(), children = static_cast<size_t>(found.children);
        dealing.side.resize(m);
        dealing.place.resize(sorted_ ? m : 0);
        const std::int32_t* side = dealing.side.data();
        branch(open, found, column, dealing.side.data());
        std::vector<size_t>& counts = dealing.counts;
        counts.assign(children + 1, 0);
        for (size_t i = 0; i < m; ++i) {
            const size_t place = counts[side[i] < 0 ? children : static_cast<size_t>(side[i])]++;
            if (sorted_) dealing.place[i] = static_cast<std::uint32_t>(place);
        }
        dealing.apart = counts[children] > 0;
        std::vector<Open> out(children);
        std::vector<Instance*> at(children);
        for (size_t c = 0; c < children; ++c) {
            out[c] = {
                0, open.depth + 1, mix(open.seed + (c + 1) * 0x9E3779B97F4A7C15u), open.mean, {}, {}, open.dead, {},
                {}};
            out[c].rows.reserve(counts[c] + counts[children]);
            out[c].rows.resize(counts[c]);
            at[c] = out[c].rows.data();
        }
        if (!dealing.apart) {
            for (size_t i = 0; i < m; ++i) *at[static_cast<size_t>(side[i])]++ = open.rows[i];
        } else {
            deal_fractions(open, side, at, out);
        }
        size_t from = open.sorted.from;
        for (size_t c = 0; c < children && sorted_; ++c) {
            if (dealing.apart) {
                out[c].sorted = SortedRows(sorted_, out[c].rows.size());
            } else {
                out[c].sorted = open.sorted;
                out[c].sorted.from = from;
                from += counts[c];
            }
        }
        return out;
    }

    void deal_fractions(const Open& open, const std::int32_t* side, std::vector<Instance*>& at,
                        std::vector<Open>& out) const {
        std::vector<double> weights(out.size(), 0.);
        for (size_t i = 0; i < open.rows.size(); ++i)
            if (side[i] >= 0) {
                const auto c = static_cast<size_t>(side[i]);
                *at[c]++ = open.rows[i];
                weights[c] += open.rows[i].w;
            }
        const double known = std::accumulate(weights.begin(), weights.end(), 0.);
        for (size_t i = 0; i < open.rows.size(); ++i)
            if (side[i] < 0)
                for (size_t c = 0; c < out.size(); ++c) {
                    out[c].rows.push_back(open.rows[i]);
                    out[c].rows.back().w *= weights[c] / known;
                }
    }

    void deal_column(const Open& open, const Open* children, size_t count, const Dealing& dealing, size_t j) const {
        struct To;
        std::uint64_t** to = scratch<To, std::uint64_t*>(count);
        for (size_t c = 0; c < count; ++c) to[c] = children[c].sorted.column(slot_[j]);
        deal_rows(open.sorted.column(slot_[j]), open.rows.size(), dealing, to, count);
    }

    void deal_all(const Open& open, std::vector<Open>& children, const Dealing& dealing) const {
        if (children.empty()) return;
        for (size_t j = 0; j < columns_.d; ++j)
            if (slot_[j] >= 0 && !children[0].dead[j]) deal_column(open, children.data(), children.size(), dealing, j);
    }

    // The child of every row, -1 for all of them.
    void branch(const Open& open, const Found& found, size_t column, std::int32_t* side) const {
        const auto missing = columns_.missing(column);
        columns_.with_codes(column, [&](const auto* codes) {
            const size_t m = open.rows.size();
            if (found.kind == SplitKind::threshold) {
                for (size_t i = 0; i < m; ++i) {
                    const auto c = codes[open.rows[i].row];
                    side[i] = c == missing ? found.absent : c > found.cut;
                }
            } else {
                std::vector<std::int32_t> table(found.branches);
                if (found.kind == SplitKind::intervals) {
                    table.resize(missing);
                    for (std::uint32_t c = 0, p = 0; c < missing; ++c) {
                        while (p < found.cuts.size() && c > found.cuts[p]) ++p;
                        table[c] = static_cast<std::int32_t>(p);
                    }
                }
                table.push_back(found.absent);
                for (size_t i = 0; i < m; ++i) side[i] = table[codes[open.rows[i].row]];
            }
        });
    }

    bool depends(const std::vector<Open>& children) const {
        std::vector<const double*> branches;
        for (const auto& child : children) branches.push_back(child.total.data());
        return independence(branches, target_.size()) <= rules_.max_p;
    }

    // -- the order of growth ---------------------------------------------------------------------------------------

    void depth_first(TreePiece& piece, Open root, Poll& poll) {
        SplitSearch<Target> search(target_, columns_, rules_);
        Dealing dealing;
        std::vector<Found> found;
        std::vector<Open> stack;
        stack.push_back(std::move(root));
        while (!stack.empty()) {
            Open open = std::move(stack.back());
            stack.pop_back();
            if (!may_split(piece, open)) continue;
            open.found.swap(found);  // room that is used again
            const auto columns = search_all(search, piece, open, poll);
            auto children = split(piece, open, columns, dealing);
            deal_all(open, children, dealing);
            found.swap(open.found);
            for (size_t c = children.size(); c-- > 0;) stack.push_back(std::move(children[c]));
        }
    }

    // The node whose split gains most, weighted by its rows, first.
    void best_first(TreePiece& piece, Open root, Poll& poll) {
        struct Waiting {
            double worth;
            Open open;
            std::vector<size_t> columns;
        };
        SplitSearch<Target> search(target_, columns_, rules_);
        Dealing dealing;
        std::vector<Waiting> waiting;
        auto admit = [&](Open open) {
            if (!may_split(piece, open)) return;
            auto columns = search_all(search, piece, open, poll);
            size_t column = 0;
            const Found* best = best_of(open.found, columns, rules_, column);
            if (best)
                waiting.push_back({piece.nodes[open.node].weight * best->gain, std::move(open), std::move(columns)});
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
            const Found* found = best_of(next.open.found, next.columns, rules_, column);
            if (leaves + static_cast<size_t>(found->children) - 1 > rules_.max_leaves) continue;
            auto children = split(piece, next.open, next.columns, dealing);
            deal_all(next.open, children, dealing);
            if (children.empty()) continue;
            leaves += children.size() - 1;
            for (auto& child : children) admit(std::move(child));
        }
    }

    const Target target_;
    const TreeColumns columns_;
    const TreeRules rules_;
    const bool classes_;
    double root_weight_ = 0., root_impurity_ = 0.;
    std::vector<std::int32_t> slot_;  // of every column among the sorted ones, -1 if it is not
    std::int32_t sorted_ = 0;
    Open parent_;  // the node split last, and where its rows went
    Dealing dealing_;
    TreePiece top_;
    std::vector<Open> open_;
    std::vector<TreePiece> pieces_;
};

}  // namespace lyceum::trees
