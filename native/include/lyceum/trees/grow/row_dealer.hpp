// Deals the rows of a split node out to its children, and its sorted columns after them.
#pragma once
#include <numeric>

#include <lyceum/trees/grow/open_node.hpp>

namespace lyceum::trees {

template <class Instance>
class RowDealer {
public:
    using Open = OpenNode<Instance>;

    // Continuous columns of many values are kept sorted where all columns are searched.
    RowDealer(const TreeColumns& columns, const TreeRules& rules) : columns_(columns), slot_(columns.d, -1) {
        const bool all = !rules.max_features || rules.max_features >= columns.d;
        for (size_t j = 0; j < columns.d && all && !rules.random; ++j)
            if (!columns.is_category[j] && columns.n_codes[j] > 64) slot_[j] = n_sorted_++;
    }

    std::int32_t n_sorted() const { return n_sorted_; }
    bool is_sorted(size_t j) const { return slot_[j] >= 0; }

    // The rows of a node in the order of column j, null if it is not kept.
    std::uint64_t* sorted_column(const Open& open, size_t j) const {
        return is_sorted(j) ? open.sorted.column(slot_[j]) : nullptr;
    }

    // The children of a node with their rows; with fractions, rows whose cell is missing go to all with their shares.
    std::vector<Open> deal(const Open& open, const FoundSplit& found, size_t column, Dealing& dealing) const {
        const size_t m = open.rows.size(), n_children = static_cast<size_t>(found.children);
        assign_children(open, found, column, dealing);
        const std::int32_t* child = dealing.child.data();
        std::vector<Open> children;
        children.reserve(n_children);
        std::vector<Instance*> at(n_children);
        for (size_t c = 0; c < n_children; ++c) {
            children.push_back(child_of(open, c));
            children[c].rows.reserve(dealing.counts[c] + dealing.counts[n_children]);
            children[c].rows.resize(dealing.counts[c]);
            at[c] = children[c].rows.data();
        }
        if (!dealing.has_shared)
            for (size_t i = 0; i < m; ++i) *at[static_cast<size_t>(child[i])]++ = open.rows[i];
        else
            deal_fractions(open, child, at, children);
        size_t from = open.sorted.from;
        for (size_t c = 0; c < n_children && n_sorted_; ++c) {
            if (dealing.has_shared) {
                children[c].sorted = SortedRows(n_sorted_, children[c].rows.size());
            } else {
                children[c].sorted = open.sorted;
                children[c].sorted.from = from;
                from += dealing.counts[c];
            }
        }
        return children;
    }

    void deal_column(const Open& open, const Open* children, size_t count, const Dealing& dealing, size_t j) const {
        struct To;
        std::uint64_t** to = scratch<To, std::uint64_t*>(count);
        for (size_t c = 0; c < count; ++c) to[c] = children[c].sorted.column(slot_[j]);
        deal_rows(open.sorted.column(slot_[j]), open.rows.size(), dealing, to, count);
    }

    void deal_columns(const Open& open, std::vector<Open>& children, const Dealing& dealing) const {
        if (children.empty()) return;
        for (size_t j = 0; j < columns_.d; ++j)
            if (is_sorted(j) && !children[0].constant[j])
                deal_column(open, children.data(), children.size(), dealing, j);
    }

private:
    void assign_children(const Open& open, const FoundSplit& found, size_t column, Dealing& dealing) const {
        const size_t m = open.rows.size(), n_children = static_cast<size_t>(found.children);
        dealing.child.resize(m);
        dealing.position.resize(n_sorted_ ? m : 0);
        find_children(open, found, column, dealing.child.data());
        dealing.counts.assign(n_children + 1, 0);
        for (size_t i = 0; i < m; ++i) {
            const std::int32_t child = dealing.child[i];
            const size_t position = dealing.counts[child < 0 ? n_children : static_cast<size_t>(child)]++;
            if (n_sorted_) dealing.position[i] = static_cast<std::uint32_t>(position);
        }
        dealing.has_shared = dealing.counts[n_children] > 0;
    }

    // The child of every row, -1 for all of them.
    void find_children(const Open& open, const FoundSplit& found, size_t column, std::int32_t* child) const {
        const auto missing = columns_.missing(column);
        columns_.with_codes(column, [&](const auto* codes) {
            const size_t m = open.rows.size();
            if (found.kind == SplitKind::threshold) {
                for (size_t i = 0; i < m; ++i) {
                    const auto c = codes[open.rows[i].row];
                    child[i] = c == missing ? found.missing_child : c > found.cut;
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
                table.push_back(found.missing_child);
                for (size_t i = 0; i < m; ++i) child[i] = table[codes[open.rows[i].row]];
            }
        });
    }

    void deal_fractions(const Open& open, const std::int32_t* child, std::vector<Instance*>& at,
                        std::vector<Open>& children) const {
        std::vector<double> weights(children.size(), 0.);
        for (size_t i = 0; i < open.rows.size(); ++i)
            if (child[i] >= 0) {
                const auto c = static_cast<size_t>(child[i]);
                *at[c]++ = open.rows[i];
                weights[c] += open.rows[i].w;
            }
        const double known = std::accumulate(weights.begin(), weights.end(), 0.);
        for (size_t i = 0; i < open.rows.size(); ++i)
            if (child[i] < 0)
                for (size_t c = 0; c < children.size(); ++c) {
                    children[c].rows.push_back(open.rows[i]);
                    children[c].rows.back().w *= weights[c] / known;
                }
    }

    const TreeColumns& columns_;
    std::vector<std::int32_t> slot_;  // of every column among the sorted ones, -1 if it is not sorted
    std::int32_t n_sorted_ = 0;
};

}  // namespace lyceum::trees
