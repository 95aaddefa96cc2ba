// Ward's linkage of points, without the distances of all pairs: the cost of merging two clusters follows from their
// sizes and means, 2 na nb / (na + nb) |ma - mb|^2. Chains of nearest neighbors find the merges, whatever the order in
// which they are made (Murtagh 1983). Memory: the means. Cost: about 2.5 n^2 d / 2.
#pragma once
#include <lyceum/cluster/linkage_matrix.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/simd.hpp>

namespace lyceum::cluster {

class WardPoints {
public:
    WardPoints(Matrix<const double> X, const double* sizes, size_t threads, InterruptPoll poll)
        : n_(X.rows), d_(X.cols), wide_(round_up(X.rows, block)), team_(threads), poll_(poll) {
        mean_.resize(wide_ * d_), size_.assign(wide_, 1), gone_.assign(wide_, never), row_.resize(wide_);
        for (size_t i = 0; i < n_; ++i) {
            for (size_t j = 0; j < d_; ++j) mean_[j * wide_ + i] = X.row(i)[j];
            size_[i] = sizes ? sizes[i] : 1, gone_[i] = 0, row_[i] = static_cast<std::int64_t>(i);
        }
    }

    void operator()(Merges out) {
        size_t live = n_, done = 0;
        std::vector<size_t> chain;
        while (live > 1) {
            if (chain.empty()) {
                size_t first = 0;
                while (gone_[first] != 0) ++first;
                chain.push_back(first);
            }
            const size_t a = chain.back();
            const Found found = nearest(a, chain.size() > 1 ? chain[chain.size() - 2] : wide_);
            if (chain.size() > 1 && found.place == chain[chain.size() - 2]) {
                chain.pop_back(), chain.pop_back();
                out.a[done] = row_[a], out.b[done] = row_[found.place], out.height[done] = found.cost;
                join(a, found.place), ++done, --live;
                if (wide_ > 4 * block && 4 * live < 3 * wide_) compact(live, chain);
            } else {
                chain.push_back(found.place);
            }
            poll_(wide_ * d_);
        }
    }

private:
    static constexpr size_t L = lanes<double>, vectors = 4, block = L * vectors;
    static constexpr double never = std::numeric_limits<double>::infinity();
    struct Found {
        double cost = never;
        size_t place = 0;
    };

    // The cheapest partner of cluster a, the one before in the chain among equals.
    Found nearest(size_t a, size_t before) {
        const size_t blocks = wide_ / block,
                     share = std::max<size_t>((size_t{1} << 19) / (std::max<size_t>(d_, 1) * block) + 1,
                                              blocks / team_.size() + 1),
                     tasks = (blocks + share - 1) / share;
        found_.assign(tasks, {});
        const double own = gone_[a];
        gone_[a] = never;
        team_(tasks, [&](size_t task) { found_[task] = scan(a, task * share, std::min(blocks, (task + 1) * share)); });
        Found best;
        for (const Found& one : found_)
            if (one.cost < best.cost || (best.cost == never && gone_[one.place] == 0)) best = one;
        if (before < wide_) {
            const double cost = cost_of(a, before);
            if (cost <= best.cost) best = {cost, before};
        }
        gone_[a] = own;
        return best;
    }

    Found scan(size_t a, size_t from, size_t to) const {
        Found best;
        best.place = from * block;
        double costs[block];
        for (size_t b = from; b < to; ++b) {
            Vec<double> sum[vectors] = {};
            for (size_t j = 0; j < d_; ++j) {
                const Vec<double> at = Vec<double>{} + mean_[j * wide_ + a];
                const double* column = mean_.data() + j * wide_ + b * block;
#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; ++v) {
                    const Vec<double> t = load(column + v * L) - at;
                    sum[v] += t * t;
                }
            }
            Vec<double> least = Vec<double>{} + never;
            for (size_t v = 0; v < vectors; ++v) {
                const size_t place = b * block + v * L;
                const Vec<double> size = load(size_.data() + place), mine = Vec<double>{} + size_[a];
                sum[v] = 2 * mine * size / (mine + size) * sum[v] + load(gone_.data() + place);
                least = sum[v] < least ? sum[v] : least;
                store(costs + v * L, sum[v]);
            }
            double low = never;
            for (size_t i = 0; i < L; ++i) low = std::min(low, least[i]);
            if (low < best.cost)
                for (size_t i = 0; i < block; ++i)
                    if (costs[i] < best.cost) best = {costs[i], b * block + i};
        }
        return best;
    }

    double cost_of(size_t a, size_t b) const {
        double sum = 0;
        for (size_t j = 0; j < d_; ++j) {
            const double t = mean_[j * wide_ + b] - mean_[j * wide_ + a];
            sum += t * t;
        }
        return 2 * size_[a] * size_[b] / (size_[a] + size_[b]) * sum;
    }

    void join(size_t a, size_t b) {
        const double share = size_[b] / (size_[a] + size_[b]);
        for (size_t j = 0; j < d_; ++j) mean_[j * wide_ + a] += share * (mean_[j * wide_ + b] - mean_[j * wide_ + a]);
        size_[a] += size_[b], gone_[b] = never;
    }

    void compact(size_t live, std::vector<size_t>& chain) {
        const size_t wide = round_up(live, block);
        std::vector<size_t> kept, place(wide_);
        for (size_t i = 0; i < wide_; ++i)
            if (gone_[i] == 0) place[i] = kept.size(), kept.push_back(i);
        Aligned mean(wide * d_), size(wide, 1.), gone(wide, never);
        std::vector<std::int64_t> row(wide);
        for (size_t l = 0; l < kept.size(); ++l) {
            for (size_t j = 0; j < d_; ++j) mean[j * wide + l] = mean_[j * wide_ + kept[l]];
            size[l] = size_[kept[l]], gone[l] = 0, row[l] = row_[kept[l]];
        }
        for (size_t& one : chain) one = place[one];
        mean_.swap(mean), size_.swap(size), gone_.swap(gone), row_.swap(row), wide_ = wide;
    }

    using Aligned = std::vector<double, AlignedAllocator<double>>;
    size_t n_, d_, wide_;
    ThreadTeam team_;
    InterruptPoll poll_;
    Aligned mean_, size_, gone_;     // [column][cluster]; gone: 0, or infinite
    std::vector<std::int64_t> row_;  // a row of every cluster
    std::vector<Found> found_;
};

}  // namespace lyceum::cluster
