// A forest packed for prediction: many trees, built once, walked or scanned, whichever is estimated to be quicker.
#pragma once
#include <lyceum/core/interrupt.hpp>
#include <lyceum/trees/route/forest_scan.hpp>
#include <lyceum/trees/route/tree_walk.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace lyceum::trees {

// What a tree adds to the rows that end at its nodes: (nodes, K) values to the columns from `column` on.
struct TreeValues {
    Matrix<const double> values;
    size_t column;
};

enum class Engine { quickest, walk, scan };

template <class T>
class Forest {
public:
    Forest(const std::vector<TreeView>& trees, const std::vector<TreeValues>& values, size_t columns,
           Engine engine = Engine::quickest)
        : columns_(columns) {
        for (const auto& tree : trees) tree.check(columns);
        choose(trees, engine);
        if (!scans()) append_walks(trees);
        if (!scans()) append_tops(trees, engine);
        value_starts_.push_back(0);
        for (size_t t = 0; t < trees.size(); ++t) append_values(trees[t], values[t], t);
    }

    size_t n_trees() const { return width_.size(); }
    size_t n_columns() const { return columns_; }
    bool scans() const { return scan8_ || scan16_; }
    // Columns of outputs that the trees add to.
    size_t n_outputs() const {
        size_t most = 0;
        for (size_t t = 0; t < n_trees(); ++t) most = std::max(most, column_[t] + width_[t]);
        return most;
    }

    // ends[i, t − first] = the node of tree t where row i ends, for trees from first up to last.
    void leaves(Matrix<const T> X, size_t first, size_t last, std::int32_t* ends, Poll poll) const {
        const size_t stride = last - first;
        each_place(X, first, last, poll, [&](size_t t, size_t row, size_t count, auto place) {
            for (size_t i = 0; i < count; ++i) ends[(row + i) * stride + t - first] = node_of(t, place(i));
        });
    }

    // out[i, :] += the values of the nodes where row i ends in trees from first up to last, tree after tree.
    void add_values(Matrix<const T> X, size_t first, size_t last, Matrix<double> out, Poll poll) const {
        each_place(X, first, last, poll, [&](size_t t, size_t row, size_t count, auto place) {
            const double* values = values_.data() + value_starts_[t];
            const std::int32_t* slot = scans() ? nullptr : slots_.data() + node_starts_[t];
            double* to = out.row(row) + column_[t];
            const size_t K = width_[t];
            const auto where = [&](size_t i) { return slot ? size_t(slot[place(i)]) : size_t(place(i)); };
            if (K == 1 && out.cols == 1)
                for (size_t i = 0; i < count; ++i) to[i] += values[where(i)];
            else if (K == 2)
                for (size_t i = 0; i < count; ++i) {
                    const double* v = values + 2 * where(i);
                    to[i * out.cols] += v[0];
                    to[i * out.cols + 1] += v[1];
                }
            else
                for (size_t i = 0; i < count; ++i) {
                    const double* v = values + K * where(i);
                    for (size_t k = 0; k < K; ++k) to[i * out.cols + k] += v[k];
                }
        });
    }

private:
    using Top = ScanForest<T, std::int16_t>;
    static constexpr int top_levels = vector_bytes == 64 ? 7 : vector_bytes == 32 ? 6 : 5;
    static constexpr size_t block_bytes = size_t{1} << 20;  // cells that stay in the cache while trees pass

    // A rough estimate in nanoseconds a row, from measurements on AVX-512; other widths scale.
    void choose(const std::vector<TreeView>& trees, Engine engine) {
        if (engine == Engine::walk) return;
        using Small = ScanForest<T, std::int8_t>;
        using Large = ScanForest<T, std::int16_t>;
        const bool could =
            std::all_of(trees.begin(), trees.end(), [](auto& tree) { return Small::ends(tree) <= 1024; });
        const bool small = could && Small::fits(trees, columns_);
        if (!small && !(could && Large::fits(trees, columns_))) {
            if (engine == Engine::scan) throw std::invalid_argument("these trees are too large to be scanned");
            return;
        }
        if (engine == Engine::quickest && scan_cost(trees, small ? 1 : 2) >= walk_cost(trees)) return;
        if (small)
            scan8_ = std::make_unique<Small>(trees, columns_);
        else
            scan16_ = std::make_unique<Large>(trees, columns_);
    }

    double scan_cost(const std::vector<TreeView>& trees, double bytes) const {
        std::vector<size_t> thresholds(columns_, 0);
        double cost = 0;
        for (const auto& tree : trees) {
            cost += 0.7;
            for (size_t i = 0; i < tree.nodes; ++i) {
                if (tree.split(i) == Split::leaf) continue;
                cost += 0.02 * bytes * (64.0 / vector_bytes) * (tree.n_children[i] - 1);
                thresholds[tree.feature[i]] += 1;
                if (tree.split(i) > Split::intervals) cost += 0.7;
            }
        }
        for (const size_t count : thresholds)
            if (count) cost += 1.0 + 0.4 * static_cast<double>(std::bit_width(count));
        return cost;
    }

    static double walk_cost(const std::vector<TreeView>& trees) {
        double cost = 0;
        for (const auto& tree : trees) {
            std::vector<double> depth(tree.nodes, 0.0);
            double reach = 0, total = 0;
            for (size_t i = 0; i < tree.nodes; ++i) {
                if (tree.split(i) == Split::leaf) {
                    reach += tree.weight[i] * depth[i];
                    total += tree.weight[i];
                } else {
                    std::fill_n(depth.begin() + tree.child[i], tree.n_children[i], depth[i] + 1);
                }
            }
            cost += 1.0 + (is_two_way(tree) ? 1.0 : 5.0) * (total > 0 ? reach / total : 1.0);
        }
        return cost;
    }

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

    // Values in the order of places when scanned; when walked a slot a node, where ends of one class share.
    void append_values(const TreeView& tree, const TreeValues& given, size_t t) {
        const size_t K = given.values.cols;
        width_.push_back(K);
        column_.push_back(given.column);
        if (given.values.rows != tree.nodes)
            throw std::invalid_argument("there must be a row of values for every node");
        if (scans()) {
            const auto* ends = scan8_ ? scan8_->ends_of(t) : scan16_->ends_of(t);
            const size_t count = scan8_ ? scan8_->n_ends(t) : scan16_->n_ends(t);
            for (size_t e = 0; e < count; ++e)
                values_.insert(values_.end(), given.values.row(ends[e]), given.values.row(ends[e]) + K);
        } else {
            append_slots(tree, given.values);
        }
        value_starts_.push_back(values_.size());
    }

    void append_slots(const TreeView& tree, Matrix<const double> values) {
        const size_t K = values.cols, start = values_.size();
        node_starts_.push_back(slots_.size());
        std::vector<std::int32_t> pure(K, -1);
        std::int32_t next = 0;
        for (size_t i = 0; i < tree.nodes; ++i) {
            const double* v = values.row(i);
            const bool ends = tree.split(i) == Split::leaf || tree.split(i) > Split::intervals;
            if (!ends) {
                slots_.push_back(0);
                continue;
            }
            const auto k = static_cast<size_t>(std::max_element(v, v + K) - v);
            const auto zeros = static_cast<size_t>(std::count(v, v + K, 0.0));
            const bool shares = K > 1 && zeros + 1 == K && v[k] == 1.0;
            if (shares && pure[k] >= 0) {
                slots_.push_back(pure[k]);
                continue;
            }
            if (shares) pure[k] = next;
            values_.insert(values_.end(), v, v + K);
            slots_.push_back(next++);
        }
        if (next == 0) values_.resize(start + K);  // never read: a tree has an end
    }

    // The first levels of many deep trees are scanned, and rows walk from there.
    void append_tops(const std::vector<TreeView>& trees, Engine engine) {
        if (engine == Engine::walk || 2 * trees.size() < columns_) return;
        if (!std::all_of(trees.begin(), trees.end(), is_two_way)) return;
        std::vector<std::vector<std::uint8_t>> kinds;
        std::vector<TreeView> tops;
        for (const auto& tree : trees) {
            std::vector<int> depth(tree.nodes, 0);
            kinds.emplace_back(tree.kind, tree.kind + tree.nodes);
            for (size_t i = 0; i < tree.nodes; ++i) {
                if (tree.split(i) == Split::leaf) continue;
                depth[tree.child[i]] = depth[tree.child[i] + 1] = depth[i] + 1;
                if (depth[i] >= top_levels) kinds.back()[i] = 0;
            }
            tops.push_back(tree);
            tops.back().kind = kinds.back().data();
        }
        if (Top::fits(tops, columns_)) top_ = std::make_unique<Top>(tops, columns_);
    }

    std::int32_t node_of(size_t t, std::int32_t place) const {
        if (scan8_) return scan8_->ends_of(t)[place];
        return scan16_ ? scan16_->ends_of(t)[place] : place;
    }

    // use(tree, row, count, place): what the rows of a tile come to; place(i) is a node, or the number of an end.
    template <class Use>
    void each_place(Matrix<const T> X, size_t first, size_t last, Poll& poll, Use use) const {
        if (scan8_)
            each_scanned(*scan8_, X, first, last, poll, use);
        else if (scan16_)
            each_scanned(*scan16_, X, first, last, poll, use);
        else
            each_walked(X, first, last, poll, use);
    }

    template <class R, class Use>
    void each_scanned(const ScanForest<T, R>& forest, Matrix<const T> X, size_t first, size_t last, Poll& poll,
                      Use& use) const {
        using U = std::make_unsigned_t<R>;
        std::vector<R> columns(forest.n_columns() * scan_tile);
        alignas(64) R places[scan_tile];
        const auto place = [&](size_t i) { return static_cast<std::int32_t>(static_cast<U>(places[i])); };
        for (size_t row = 0; row < X.rows; row += scan_tile) {
            const size_t count = std::min(scan_tile, X.rows - row);
            forest.rank(X.row(row), count, X.cols, columns.data());
            for (size_t t = first; t < last; ++t) {
                forest.scan(t, columns.data(), places);
                use(t, row, count, place);
                poll(16 * scan_tile);
            }
        }
    }

    template <class Use>
    void each_walked(Matrix<const T> X, size_t first, size_t last, Poll& poll, Use& use) const {
        std::int32_t ends[walk_rows];
        const auto place = [&](size_t i) { return ends[i]; };
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
                    use(t, row, count, place);
                    poll(64 * walk_rows);
                }
        }
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
    std::unique_ptr<ScanForest<T, std::int8_t>> scan8_;
    std::unique_ptr<ScanForest<T, std::int16_t>> scan16_;

    std::unique_ptr<Top> top_;
    bool small_ = false;
    std::vector<SmallNode> small_nodes_;
    std::vector<WideNode<T>> wide_nodes_;
    std::vector<MixedNode> mixed_nodes_;
    MixedTables tables_;
    std::vector<char> mixed_;
    std::vector<size_t> walk_starts_, node_starts_;
    std::vector<std::int32_t> slots_;

    std::vector<size_t> value_starts_, width_, column_;
    std::vector<double> values_;
};

}  // namespace lyceum::trees
