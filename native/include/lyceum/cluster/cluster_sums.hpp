// For every row of X and every cluster c of the rows of Y the weighted sum of their distances, sum_{j in c} w_j d(i,
// j). Distances of many pairs are computed in registers (distances/pair_tiles.hpp) and added at once: nothing of the
// size of all pairs is held. Cost: rows * rows * columns.
#pragma once
#include <cmath>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/distances/pair_tiles.hpp>
#include <vector>

namespace lyceum::cluster {

inline Vec<double> root(Vec<double> v) {
    for (int i = 0; i < lanes<double>; ++i) v[i] = std::sqrt(v[i]);
    return v;
}

// The rows of Y in order of their clusters, cluster c at [starts[c], starts[c + 1]).
struct ClusteredRows {
    Matrix<const double> rows;
    const double* w;
    const std::int64_t* starts;
    size_t clusters;
};

// The distance is scale * raw, or scale * sqrt(raw) if `rooted`; out is (rows of X, clusters).
template <class Space>
void cluster_sums(const Space& space, Matrix<const double> X, ClusteredRows Y, bool rooted, double scale, double* out,
                  InterruptPoll poll) {
    using namespace distances;
    constexpr size_t G = side_rows<Space>, R = group_rows<double>, L = lanes<double>;
    const size_t d = X.cols;
    // every cluster is filled up with rows of weight zero to whole groups
    std::vector<size_t> first(Y.clusters + 1);
    for (size_t c = 0; c < Y.clusters; ++c)
        first[c + 1] = first[c] + round_up(static_cast<size_t>(Y.starts[c + 1] - Y.starts[c]), G);
    std::vector<double, AlignedAllocator<double>> side(first.back() * d), weight(first.back());
    for (size_t c = 0; c < Y.clusters; ++c) {
        const auto begin = static_cast<size_t>(Y.starts[c]), count = static_cast<size_t>(Y.starts[c + 1]) - begin;
        if (!count) continue;
        pack_groups(Y.rows, begin, count, G, side.data() + first[c] * d);
        for (size_t i = 0; i < count; ++i) weight[first[c] + i] = weight_of(Y.w, begin + i);
    }
    double* rows = scratch<struct ClusterSumsRows, double>(R * d);
    for (size_t at = 0; at < X.rows; at += R) {
        const size_t count = std::min(R, X.rows - at);
        pack_groups(X, at, count, R, rows);
        for (size_t c = 0; c < Y.clusters; ++c) {
            Vec<double> sum[row_vectors] = {};
            for (size_t i = first[c]; i < first[c + 1]; i += G)
                pair_tile<double>(space, rows, side.data() + i * d, d, [&](int g, int v, Vec<double> raw) {
                    sum[v] += (rooted ? root(raw) : raw) * weight[i + static_cast<size_t>(g)];
                });
            double values[R];
            for (size_t v = 0; v < row_vectors; ++v) store(values + v * L, sum[v]);
            for (size_t r = 0; r < count; ++r) out[(at + r) * Y.clusters + c] = scale * values[r];
        }
        poll(R * first.back() * (d + 8));
    }
}

}  // namespace lyceum::cluster
