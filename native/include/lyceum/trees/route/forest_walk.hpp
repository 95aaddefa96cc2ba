// Rows through trees of any size, one tree after another over blocks of rows that stay in the cache. The first levels
// of many deep trees are scanned, and rows walk from there.
#pragma once
#include <algorithm>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/trees/route/forest_scan.hpp>
#include <lyceum/trees/route/tree_walk.hpp>
#include <memory>
#include <vector>

namespace lyceum::trees {

template <class T>
class WalkForest {
public:
    WalkForest(const std::vector<TreeView>& trees, size_t columns, bool scan_tops) : columns_(columns) {
        append_walks(trees);
        if (scan_tops) append_tops(trees);
    }

    // use(tree, row, count, node): node(i) is where row + i ends in a tree, for trees from first up to last.
    template <class Use>
    void each_end(Matrix<const T> X, size_t first, size_t last, InterruptPoll& poll, Use& use) const {
        std::int32_t ends[walk_rows];
        const auto node = [&](size_t i) { return ends[i]; };
        const size_t ranks = top_ ? top_->n_columns() * scan_tile : 0;  // of a tile
        const size_t row_bytes = sizeof(T) * X.cols + sizeof(std::int16_t) * ranks / scan_tile;
        const size_t rows = std::max(walk_rows, block_bytes / row_bytes / walk_rows * walk_rows);
        std::vector<std::int16_t> columns(ranks * (std::min(rows, X.rows) / walk_rows + 1));
        for (size_t start = 0; start < X.rows; start += rows) {
            const size_t end = std::min(start + rows, X.rows);
            for (size_t row = start; top_ && row < end; row += walk_rows)
                top_->rank(X.row(row), std::min(walk_rows, end - row), X.cols,
                           columns.data() + (row - start) / walk_rows * ranks);
            for (size_t t = first; t < last; ++t)
                for (size_t row = start; row < end; row += walk_rows) {
                    const size_t count = std::min(walk_rows, end - row);
                    start_walk(t, columns.data() + (row - start) / walk_rows * ranks, ends);
                    walk_tree(t, X.row(row), count, X.cols, ends);
                    use(t, row, count, node);
                    poll(64 * walk_rows);
                }
        }
    }

private:
    using Top = ScanForest<T, std::int16_t>;
    static constexpr int top_levels = vector_bytes == 64 ? 7 : vector_bytes == 32 ? 6 : 5;
    static constexpr size_t block_bytes = size_t{1} << 20;  // cells that stay in the cache while trees pass

    void append_walks(const std::vector<TreeView>& trees) {
        small_ = std::is_same_v<T, float> && columns_ <= SmallNode::most_columns &&
                 std::all_of(trees.begin(), trees.end(), [](auto& t) { return t.nodes <= SmallNode::most_nodes; });
        size_t total = 0;
        for (const auto& tree : trees) total += is_two_way(tree) ? tree.nodes : 0;
        small_ ? small_nodes_.reserve(total) : wide_nodes_.reserve(total);
        for (const auto& tree : trees) {
            const bool two_way = is_two_way(tree);
            mixed_.push_back(!two_way);
            walk_starts_.push_back(!two_way ? mixed_nodes_.size() : small_ ? small_nodes_.size() : wide_nodes_.size());
            if (!two_way)
                append_nodes(tree, mixed_nodes_, tables_);
            else if (small_)
                append_nodes(tree, small_nodes_);
            else
                append_nodes(tree, wide_nodes_);
        }
    }

    void append_tops(const std::vector<TreeView>& trees) {
        if (2 * trees.size() < columns_) return;
        if (!std::all_of(trees.begin(), trees.end(), is_two_way)) return;
        std::vector<std::vector<std::uint8_t>> kinds;
        std::vector<TreeView> tops;
        for (const auto& tree : trees) {
            std::vector<int> depth(tree.nodes, 0);
            kinds.emplace_back(tree.kind, tree.kind + tree.nodes);
            for (size_t i = 0; i < tree.nodes; ++i) {
                if (tree.split(i) == SplitKind::leaf) continue;
                depth[tree.child[i]] = depth[tree.child[i] + 1] = depth[i] + 1;
                if (depth[i] >= top_levels) kinds.back()[i] = 0;
            }
            tops.push_back(tree);
            tops.back().kind = kinds.back().data();
        }
        if (Top::fits(tops, columns_)) top_ = std::make_unique<Top>(tops, columns_);
    }

    // ends = where rows walk from: the root, or where the scanned levels end.
    void start_walk(size_t t, std::int16_t* columns, std::int32_t* ends) const {
        static_assert(walk_rows == scan_tile);
        if (!top_) {
            std::fill_n(ends, walk_rows, 0);
            return;
        }
        alignas(64) std::int16_t places[scan_tile];
        top_->scan(t, columns, places);
        const std::int32_t* nodes = top_->ends_of(t);
        for (size_t i = 0; i < walk_rows; ++i) ends[i] = nodes[static_cast<std::uint16_t>(places[i])];
    }

    void walk_tree(size_t t, const T* cells, size_t n, size_t d, std::int32_t* ends) const {
        if (mixed_[t]) {
            const MixedNode* nodes = mixed_nodes_.data() + walk_starts_[t];
            for (size_t i = 0; i < n; ++i) ends[i] = walk_mixed(nodes, tables_, cells + i * d);
            return;
        }
        if constexpr (std::is_same_v<T, float>)
            if (small_) return walk(small_nodes_.data() + walk_starts_[t], cells, n, d, ends);
        walk(wide_nodes_.data() + walk_starts_[t], cells, n, d, ends);
    }

    size_t columns_;
    std::unique_ptr<Top> top_;
    bool small_ = false;
    std::vector<SmallNode> small_nodes_;
    std::vector<WideNode<T>> wide_nodes_;
    std::vector<MixedNode> mixed_nodes_;
    MixedTables tables_;
    std::vector<char> mixed_;
    std::vector<size_t> walk_starts_;
};

}  // namespace lyceum::trees
