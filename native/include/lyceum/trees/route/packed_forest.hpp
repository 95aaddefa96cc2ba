// A forest packed for prediction: walked or scanned, whichever is estimated to be faster.
#pragma once
#include <lyceum/core/interrupt.hpp>
#include <lyceum/trees/route/forest_scan.hpp>
#include <lyceum/trees/route/forest_walk.hpp>
#include <lyceum/trees/route/routing_cost.hpp>
#include <memory>
#include <vector>

namespace lyceum::trees {

// What a tree adds to the rows that end at its nodes: (nodes, K) values to the columns from `column` on.
struct TreeValues {
    Matrix<const double> values;
    size_t column;
};

enum class Engine { fastest, walk, scan };

template <class T>
class Forest {
public:
    Forest(const std::vector<TreeView>& trees, const std::vector<TreeValues>& values, size_t columns,
           Engine engine = Engine::fastest)
        : columns_(columns) {
        for (const auto& tree : trees) tree.check(columns);
        choose(trees, engine);
        if (!scans()) walk_ = std::make_unique<WalkForest<T>>(trees, columns, engine != Engine::walk);
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
    void leaves(Matrix<const T> X, size_t first, size_t last, std::int32_t* ends, InterruptPoll poll) const {
        const size_t stride = last - first;
        each_place(X, first, last, poll, [&](size_t t, size_t row, size_t count, auto place) {
            for (size_t i = 0; i < count; ++i) ends[(row + i) * stride + t - first] = node_of(t, place(i));
        });
    }

    // out[i, :] += the values of the nodes where row i ends in trees from first up to last, tree after tree.
    void add_values(Matrix<const T> X, size_t first, size_t last, Matrix<double> out, InterruptPoll poll) const {
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
        if (engine == Engine::fastest && scan_cost(trees, columns_, small ? 1 : 2) >= walk_cost(trees)) return;
        if (small)
            scan8_ = std::make_unique<Small>(trees, columns_);
        else
            scan16_ = std::make_unique<Large>(trees, columns_);
    }

    // When scanned, values are in the order of the ends; when walked, every node has a slot, and pure leaves of one
    // class share theirs.
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
            const bool ends = tree.split(i) == SplitKind::leaf || tree.split(i) > SplitKind::intervals;
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

    std::int32_t node_of(size_t t, std::int32_t place) const {
        if (scan8_) return scan8_->ends_of(t)[place];
        return scan16_ ? scan16_->ends_of(t)[place] : place;
    }

    // use(tree, row, count, place) for tiles of rows; place(i) is the node of row + i, or (scanned) the number of its
    // end.
    template <class Use>
    void each_place(Matrix<const T> X, size_t first, size_t last, InterruptPoll& poll, Use use) const {
        if (scan8_)
            each_scanned(*scan8_, X, first, last, poll, use);
        else if (scan16_)
            each_scanned(*scan16_, X, first, last, poll, use);
        else
            walk_->each_end(X, first, last, poll, use);
    }

    template <class R, class Use>
    void each_scanned(const ScanForest<T, R>& forest, Matrix<const T> X, size_t first, size_t last, InterruptPoll& poll,
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

    size_t columns_;
    std::unique_ptr<ScanForest<T, std::int8_t>> scan8_;
    std::unique_ptr<ScanForest<T, std::int16_t>> scan16_;
    std::unique_ptr<WalkForest<T>> walk_;

    std::vector<size_t> node_starts_, value_starts_, width_, column_;
    std::vector<std::int32_t> slots_;
    std::vector<double> values_;
};

}  // namespace lyceum::trees
