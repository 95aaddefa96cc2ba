// Centroid linkage of points, without the distances of all pairs: always the two clusters whose means are closest are
// merged. Every cluster keeps the nearest among those in later places, or a lower bound of that distance, which is
// looked into only when it is the smallest of all (Muellner 2011). A merged cluster takes the place of its second part,
// and one scan of the means finds its own nearest and tells those before it. Memory: the means. Cost: about 3 n^2 d / 2
// multiply-adds, a third of them by several threads.
#pragma once
#include <bit>
#include <lyceum/cluster/linkage_matrix.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/simd.hpp>

namespace lyceum::cluster {

class CentroidPoints {
public:
    CentroidPoints(Matrix<const double> X, const double* sizes, size_t threads, InterruptPoll poll)
        : n_(X.rows), d_(X.cols), wide_(round_up(X.rows, block)), team_(threads), poll_(poll) {
        mean_.resize(wide_ * d_), size_.assign(wide_, 1), gone_.assign(wide_, never), bound_.assign(wide_, never);
        near_.assign(wide_, stale), row_.resize(wide_);
        for (size_t i = 0; i < n_; ++i) {
            for (size_t j = 0; j < d_; ++j) mean_[j * wide_ + i] = X.row(i)[j];
            size_[i] = sizes ? sizes[i] : 1, gone_[i] = 0, row_[i] = static_cast<std::int64_t>(i);
        }
    }

    void operator()(Merges out) {
        constexpr size_t step = 64;
        team_((n_ + step - 1) / step, [&](size_t task) {
            for (size_t i = task * step; i < std::min(n_, (task + 1) * step); ++i) look(i);
        });
        for (size_t live = n_, done = 0; live > 1; --live, ++done) {
            const size_t a = closest(), b = static_cast<size_t>(near_[a]);
            out.a[done] = row_[a], out.b[done] = row_[b], out.height[done] = distance(a, b);
            merge(a, b);
            poll_(wide_ * d_);
            if (wide_ > 4 * block && 4 * live < 3 * wide_) compact();
        }
    }

private:
    static constexpr size_t L = lanes<double>, vectors = 4, block = L * vectors;
    static constexpr double never = std::numeric_limits<double>::infinity();
    static constexpr std::int64_t stale = -1;

    double distance(size_t a, size_t b) const {
        double sum = 0;
        for (size_t j = 0; j < d_; ++j) {
            const double t = mean_[j * wide_ + b] - mean_[j * wide_ + a];
            sum += t * t;
        }
        return sum;
    }

    // The squared distances of the mean of cluster a to those of a block of clusters, infinite where one is gone.
    void distances(size_t a, size_t begin, Vec<double> (&sum)[vectors]) const {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) sum[v] = Vec<double>{};
        for (size_t j = 0; j < d_; ++j) {
            const Vec<double> at = splat(mean_[j * wide_ + a]);
            const double* column = mean_.data() + j * wide_ + begin;
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) {
                const Vec<double> t = load(column + v * L) - at;
                sum[v] += t * t;
            }
        }
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) sum[v] += load(gone_.data() + begin + v * L);
    }

    // The nearest of the clusters after i, the first of equally near ones.
    void look(size_t i) {
        double best = never;
        std::int64_t near = stale;
        for (size_t begin = (i + 1) / block * block; begin < wide_; begin += block) {
            Vec<double> sum[vectors];
            distances(i, begin, sum);
            take_least(sum, begin, i, best, near);
        }
        bound_[i] = best, near_[i] = near;
    }

    static void take_least(const Vec<double> (&sum)[vectors], size_t begin, size_t after, double& best,
                           std::int64_t& near) {
        for (size_t v = 0; v < vectors; ++v) {
            unsigned closer = lane_bits(sum[v] < splat(best));
            for (; closer; closer &= closer - 1) {
                const auto lane = static_cast<size_t>(std::countr_zero(closer)), place = begin + v * L + lane;
                if (place > after && sum[v][lane] < best) best = sum[v][lane], near = static_cast<std::int64_t>(place);
            }
        }
    }

    // The cluster of the smallest bound that is a distance.
    size_t closest() {
        while (true) {
            Vec<double> least = splat(never);
            for (size_t i = 0; i < wide_; i += L) {
                const Vec<double> bound = load(bound_.data() + i);
                least = bound < least ? bound : least;
            }
            double best = never;
            for (size_t i = 0; i < L; ++i) best = std::min(best, least[i]);
            if (best == never) return first_pair();
            size_t i = 0;
            while (bound_[i] != best) ++i;
            if (near_[i] != stale) return i;
            look(i);
        }
    }

    // All that are left are infinitely far apart.
    size_t first_pair() {
        size_t a = 0;
        while (gone_[a] != 0) ++a;
        size_t b = a + 1;
        while (gone_[b] != 0) ++b;
        near_[a] = static_cast<std::int64_t>(b);
        return a;
    }

    void merge(size_t a, size_t b) {
        const double share = size_[a] / (size_[a] + size_[b]);
        for (size_t j = 0; j < d_; ++j) mean_[j * wide_ + b] += share * (mean_[j * wide_ + a] - mean_[j * wide_ + b]);
        size_[b] += size_[a], gone_[a] = bound_[a] = never;
        const auto first = splat(static_cast<std::int64_t>(a)), second = splat(static_cast<std::int64_t>(b));
        double best = never;
        std::int64_t near = stale;
        for (size_t begin = 0; begin < wide_; begin += block) {
            Vec<double> sum[vectors];
            distances(b, begin, sum);
            if (begin + block > b + 1) take_least(sum, begin, b, best, near);
            if (begin >= b) continue;
            for (size_t v = 0; v < vectors; ++v) {
                const size_t place = begin + v * L;
                const Vec<std::int64_t> now = load(near_.data() + place);
                unsigned touched = lane_bits((sum[v] < load(bound_.data() + place)) | (now == first) | (now == second));
                for (; touched; touched &= touched - 1) {
                    const auto lane = static_cast<size_t>(std::countr_zero(touched));
                    if (place + lane < b && gone_[place + lane] == 0) tell(place + lane, sum[v][lane], a, b);
                }
            }
        }
        bound_[b] = best, near_[b] = near;
    }

    // Cluster x, which may have had a or b as its nearest, of what is now in place b.
    void tell(size_t x, double value, size_t a, size_t b) {
        const auto was = static_cast<size_t>(near_[x]);
        if (value < bound_[x] || (value == bound_[x] && (was == a || was == b)))
            bound_[x] = value, near_[x] = static_cast<std::int64_t>(b);
        else if (was == a || was == b)
            near_[x] = stale;  // its bound stays: nothing after it is nearer
    }

    void compact() {
        std::vector<size_t> kept;
        std::vector<std::int64_t> place(wide_, stale);
        for (size_t i = 0; i < wide_; ++i)
            if (gone_[i] == 0) place[i] = static_cast<std::int64_t>(kept.size()), kept.push_back(i);
        const size_t wide = round_up(kept.size(), block);
        Aligned mean(wide * d_), size(wide, 1.), gone(wide, never), bound(wide, never);
        std::vector<std::int64_t> row(wide), near(wide, stale);
        for (size_t l = 0; l < kept.size(); ++l) {
            const size_t i = kept[l];
            for (size_t j = 0; j < d_; ++j) mean[j * wide + l] = mean_[j * wide_ + i];
            size[l] = size_[i], gone[l] = 0, row[l] = row_[i], bound[l] = bound_[i];
            near[l] = near_[i] == stale ? stale : place[static_cast<size_t>(near_[i])];
        }
        mean_.swap(mean), size_.swap(size), gone_.swap(gone), bound_.swap(bound), row_.swap(row), near_.swap(near);
        wide_ = wide;
    }

    using Aligned = std::vector<double, AlignedAllocator<double>>;
    size_t n_, d_, wide_;
    ThreadTeam team_;
    InterruptPoll poll_;
    Aligned mean_, size_, gone_, bound_;    // mean: [column][cluster]; gone: 0, or infinite
    std::vector<std::int64_t> near_, row_;  // the nearest after a cluster, and a row of it
};

}  // namespace lyceum::cluster
