// One Lloyd pass: every row goes to its nearest center, argmax_k x.c_k - |c_k|^2 / 2, the lowest k of a tie.
// Rows and centers are first shifted by the mean of the centers, so that an offset of the data cancels nothing, and
// the distance to the winner is then taken directly, sum (x - c)^2 in double. The scores of three vectors of rows and
// eight centers stay in registers and are compared there. Cost: n d k multiply-adds.
#pragma once
#include <lyceum/core/dots.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>

namespace lyceum::cluster {

// The sums that a pass adds to, and the outputs that it sets; `labels` and `distances` (squared) may be null.
struct LloydOutput {
    double *sums, *weights;  // (k, d), (k,)
    std::int32_t* labels;    // (n,)
    double* distances;       // (n,)
};

// Shifted centers packed for `dot_group`, with -|c|^2 / 2; the padding never wins.
template <class T>
struct PackedCenters {
    const T *packed, *bias, *shift;
    size_t k, d;

    explicit PackedCenters(Matrix<const T> centers) : k(centers.rows), d(centers.cols) {
        T* origin = zeroed<struct LloydShift, T>(padded<T>(d));
        T* shifted = scratch<struct LloydCenters, T>(k * d);
        T* groups = scratch<struct LloydPacked, T>(packed_outputs(k) * d);
        T* start = scratch<struct LloydBias, T>(packed_outputs(k));
        for (size_t j = 0; j < d; ++j) {
            double mean = 0;
            for (size_t c = 0; c < k; ++c) mean += static_cast<double>(centers.row(c)[j]) / static_cast<double>(k);
            origin[j] = static_cast<T>(mean);
        }
        std::fill_n(start, packed_outputs(k), -std::numeric_limits<T>::infinity());
        for (size_t c = 0; c < k; ++c) {
            double norm = 0;
            for (size_t j = 0; j < d; ++j) {
                const T t = shifted[c * d + j] = centers.row(c)[j] - origin[j];
                norm += static_cast<double>(t) * static_cast<double>(t);
            }
            start[c] = static_cast<T>(-norm / 2);
        }
        pack_outputs(shifted, k, d, d, groups);
        packed = groups, bias = start, shift = origin;
    }
};

// The nearest centers of three vectors of rows.
template <class T>
void nearest(const PackedCenters<T>& centers, const T* rows, size_t step, std::int32_t* labels, Prefetch& ahead) {
    constexpr size_t lines = 12;  // a burst that the processor can have under way at once
    using Index = Vec<Int<T>>;
    Vec<T> best[row_vectors];
    Index label[row_vectors] = {};
    for (auto& value : best) value = splat(-std::numeric_limits<T>::infinity());
    for (size_t k = 0; k < centers.k; k += group_outputs) {
        ahead.fetch(lines);
        dot_group<T>(rows, step, 0, centers.d, centers.packed + k * centers.d, centers.bias, k,
                     [&](size_t c, int v, Vec<T> score) {
                         const auto better = score > best[v];
                         best[v] = better ? score : best[v];
                         label[v] = better ? Index{} + static_cast<Int<T>>(c) : label[v];
                     });
    }
    for (int v = 0; v < row_vectors; ++v)
        for (int i = 0; i < lanes<T>; ++i) labels[v * lanes<T> + i] = static_cast<std::int32_t>(label[v][i]);
}

// Adds w x to `sum`, and returns sum (x - c)^2.
template <class T>
double add_to_center(const T* __restrict x, const T* __restrict c, size_t d, double w, double* __restrict sum) {
    double distance = 0;
#pragma omp simd reduction(+ : distance)
    for (size_t j = 0; j < d; ++j) {
        const double value = static_cast<double>(x[j]), t = value - static_cast<double>(c[j]);
        distance += t * t;
        sum[j] += w * value;
    }
    return distance;
}

template <class T>
double lloyd(Matrix<const T> X, Matrix<const T> centers, const double* w, LloydOutput out, InterruptPoll poll) {
    constexpr size_t L = lanes<T>, group = row_vectors * L;
    const size_t d = X.cols, wide = padded<T>(d);
    const PackedCenters<T> packed(centers);
    T* panels = scratch<struct LloydPanels, T>(tile_size<T>(d));
    T* rows = scratch<struct LloydRows, T>(tile_size<T>(d));
    std::int32_t labels[tile_rows];
    double inertia = 0;
    for (size_t begin = 0; begin < X.rows; begin += tile_rows) {
        const size_t count = std::min(tile_rows, X.rows - begin);
        for (size_t r = 0; r < count; ++r) pack_row<T>(X.row(begin + r), X.end(), d, packed.shift, T{1}, panels, r);
        clear_rows(panels, d, count);
        transpose_tile(panels, d, rows);
        Prefetch ahead = Prefetch::of(X, begin + count);
        for (size_t r = 0; r < count; r += group) nearest(packed, rows + r * wide, wide * L, labels + r, ahead);
        for (size_t r = 0; r < count; ++r) {
            const auto k = static_cast<size_t>(labels[r]);
            const double wi = weight_of(w, begin + r);
            const double distance = add_to_center(X.row(begin + r), centers.row(k), d, wi, out.sums + k * d);
            out.weights[k] += wi;
            inertia += wi * distance;
            if (out.distances) out.distances[begin + r] = distance;
        }
        if (out.labels) std::copy_n(labels, count, out.labels + begin);
        poll(count * d * (centers.rows + 8));
    }
    return inertia;
}

}  // namespace lyceum::cluster
