// The minimum spanning tree of all rows under a space (distances/spaces.hpp), by Prim's algorithm: no distance of a
// pair is kept. With `core` values the edge of rows i and j is max(value, core_i, core_j), the mutual reachability of
// density-based clustering. Memory: the rows. Cost: n^2 d / 2.
#pragma once
#include <lyceum/cluster/linkage_matrix.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/distances/spaces.hpp>

namespace lyceum::cluster {

template <class Space>
class PrimTree {
public:
    PrimTree(const Space& space, Matrix<const double> X, const double* core, size_t threads, InterruptPoll poll)
        : space_(space), n_(X.rows), d_(X.cols), wide_(round_up(X.rows, block)), team_(threads), poll_(poll) {
        cells_.resize(wide_ * d_), best_.assign(wide_, never), core_.assign(wide_, 0), from_.resize(wide_);
        row_.resize(wide_), point_.resize(d_);
        for (size_t i = 0; i < n_; ++i) {
            for (size_t j = 0; j < d_; ++j) cells_[j * wide_ + i] = X.row(i)[j];
            if (core) core_[i] = core[i];
            row_[i] = static_cast<std::int64_t>(i);
        }
    }

    void operator()(Merges out) {
        if (!n_) return;
        size_t place = n_ - 1, left = n_;
        for (size_t t = 0; t + 1 < n_; ++t) {
            const std::int64_t row = row_[place];
            const double core = core_[place];
            for (size_t j = 0; j < d_; ++j) point_[j] = cells_[j * wide_ + place];
            remove(place, --left);
            place = step(row, core, left);
            out.a[t] = from_[place], out.b[t] = row_[place], out.height[t] = best_[place];
            poll_(left * d_);
        }
    }

private:
    static constexpr size_t L = lanes<double>, vectors = 4, block = L * vectors;
    static constexpr double never = std::numeric_limits<double>::infinity();

    // The last row takes the place of one that is in the tree now.
    void remove(size_t place, size_t last) {
        for (size_t j = 0; j < d_; ++j) cells_[j * wide_ + place] = cells_[j * wide_ + last];
        best_[place] = best_[last], core_[place] = core_[last], from_[place] = from_[last], row_[place] = row_[last];
        best_[last] = never;
    }

    // Lowers the distances to the tree by those to the row just added, and finds the nearest row.
    size_t step(std::int64_t row, double core, size_t left) {
        const size_t blocks = (left + block - 1) / block,
                     share = std::max<size_t>((size_t{1} << 19) / (std::max<size_t>(d_, 1) * block) + 1,
                                              blocks / team_.size() + 1),
                     tasks = (blocks + share - 1) / share;
        places_.assign(tasks, 0);
        team_(tasks, [&](size_t task) {
            places_[task] = lower(row, core, task * share, std::min(blocks, (task + 1) * share), left);
        });
        size_t place = places_[0];
        for (const size_t one : places_)
            if (best_[one] < best_[place]) place = one;
        return place;
    }

    size_t lower(std::int64_t row, double core, size_t from, size_t to, size_t left) {
        double least = never, values[block];
        size_t place = from * block;
        for (size_t b = from; b < to; ++b) {
            typename Space::template State<Vec<double>> state[vectors];
            for (size_t j = 0; j < d_; ++j) {
                const Vec<double> at = Vec<double>{} + point_[j];
                const double* column = cells_.data() + j * wide_ + b * block;
#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; ++v) space_.add(state[v], at, load(column + v * L), j);
            }
            Vec<double> lowest = Vec<double>{} + never;
            Vec<Int<double>> changed{};
            for (size_t v = 0; v < vectors; ++v) {
                const size_t at = b * block + v * L;
                Vec<double> value = space_.value(state[v]);
                const Vec<double> limit =
                    distances::largest<Vec<double>>(load(core_.data() + at), Vec<double>{} + core);
                value = distances::largest<Vec<double>>(value, limit);
                const Vec<double> old = load(best_.data() + at);
                changed |= value < old;
                store(values + v * L, value);
                const Vec<double> now = value < old ? value : old;
                lowest = now < lowest ? now : lowest;
            }
            bool any = false;
            for (size_t i = 0; i < L; ++i) any = any || changed[i];
            const size_t there = std::min(block, left - b * block);
            if (any)
                for (size_t i = 0; i < there; ++i)
                    if (values[i] < best_[b * block + i]) best_[b * block + i] = values[i], from_[b * block + i] = row;
            double low = never;
            for (size_t i = 0; i < L; ++i) low = std::min(low, lowest[i]);
            if (low < least || place == b * block)
                for (size_t i = 0; i < there; ++i)
                    if (best_[b * block + i] < least) least = best_[b * block + i], place = b * block + i;
        }
        if (least == never)  // infinitely far apart: any edge will do
            for (size_t i = from * block; i < std::min(left, to * block); ++i) from_[i] = row;
        return place;
    }

    using Aligned = std::vector<double, AlignedAllocator<double>>;
    const Space& space_;
    size_t n_, d_, wide_;
    ThreadTeam team_;
    InterruptPoll poll_;
    Aligned cells_, best_, core_;           // [column][row]; the distance of every row to the tree
    std::vector<std::int64_t> from_, row_;  // the nearest row of the tree, and the number of the row
    std::vector<double> point_;
    std::vector<size_t> places_;
};

}  // namespace lyceum::cluster
