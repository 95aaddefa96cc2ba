// The Lloyd pass of lloyd.hpp, without comparing rows whose nearest center cannot have changed (Hamerly 2010). Every
// row keeps its center and a lower bound l of the distance to all others, which falls by as much as one of those has
// moved. With the distance u to its own center, which the sums need anyway, l^2 - u^2 > 8 v (d + 8) R^2 decides that it
// stays: v is the rounding unit of the cells and R = u + 2 max |c| bounds all lengths about the shift, so that the
// scores of lloyd.hpp, computed with rounding, would say the same. Labels and sums are those of lloyd.hpp, bit for bit.
// Cost: 3 n d, and d k for every row that is compared.
#pragma once
#include <cmath>
#include <lyceum/cluster/lloyd.hpp>

namespace lyceum::cluster {

// What is known of every row: its center (-1: unknown) and the bound; `moves` is how far every center has moved since.
struct LloydBounds {
    std::int32_t* labels;  // (n,)
    double* lower;         // (n,)
    const double* moves;   // (k,)
};

template <class T>
inline double square_to_center(const T* __restrict x, const T* __restrict c, size_t d) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < d; ++j) {
        const double t = static_cast<double>(x[j]) - static_cast<double>(c[j]);
        sum += t * t;
    }
    return sum;
}

// The nearest centers of three vectors of rows as `nearest` finds them, and the scores of the second nearest.
template <class T>
void nearest_two(const PackedCenters<T>& centers, const T* rows, size_t step, std::int32_t* labels, T* second) {
    constexpr int L = lanes<T>;
    using Index = Vec<Int<T>>;
    Vec<T> best[row_vectors], next[row_vectors];
    Index label[row_vectors] = {};
    for (int v = 0; v < row_vectors; ++v) best[v] = next[v] = splat(-std::numeric_limits<T>::infinity());
    for (size_t k = 0; k < centers.k; k += group_outputs)
        dot_group<T>(rows, step, 0, centers.d, centers.packed + k * centers.d, centers.bias, k,
                     [&](size_t c, int v, Vec<T> score) {
                         const auto better = score > best[v];
                         const Vec<T> loser = better ? best[v] : score;
                         next[v] = loser > next[v] ? loser : next[v];
                         best[v] = better ? score : best[v];
                         label[v] = better ? Index{} + static_cast<Int<T>>(c) : label[v];
                     });
    for (int v = 0; v < row_vectors; ++v) {
        store(second + v * L, next[v]);
        for (int i = 0; i < L; ++i) labels[v * L + i] = static_cast<std::int32_t>(label[v][i]);
    }
}

template <class T>
class BoundedLloyd {
public:
    BoundedLloyd(Matrix<const T> centers, LloydBounds bounds) : centers_(centers), packed_(centers), bounds_(bounds) {
        const size_t d = centers.cols;
        for (size_t c = 0; c < centers.rows; ++c) {
            reach_ = std::max(reach_, std::sqrt(square_to_center(centers.row(c), packed_.shift, d)) * (1 + 1e-6));
            if (bounds.moves[c] >= moved_)
                next_moved_ = moved_, moved_ = bounds.moves[c], farthest_ = c;
            else
                next_moved_ = std::max(next_moved_, bounds.moves[c]);
        }
        rounding_ = 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * static_cast<double>(d + 8);
    }

    // Returns the weighted sum of squared distances; `compared` counts the rows whose centers were looked for.
    double operator()(Matrix<const T> X, const double* w, double* sums, double* weights, size_t& compared,
                      InterruptPoll poll) {
        const size_t d = X.cols;
        double inertia = 0;
        compared = 0;
        for (size_t begin = 0; begin < X.rows; begin += tile_rows) {
            const size_t count = std::min(tile_rows, X.rows - begin), found = doubtful(X, begin, count);
            if (found) compare(X, found);
            compared += found;
            for (size_t i = begin; i < begin + count; ++i) {
                const auto k = static_cast<size_t>(bounds_.labels[i]);
                const double wi = weight_of(w, i);
                inertia += wi * add_to_center(X.row(i), centers_.row(k), d, wi, sums + k * d);
                weights[k] += wi;
            }
            poll(d * (found * centers_.rows + count * 8));
        }
        return inertia;
    }

private:
    double error(double from_center) const {
        const double longest = from_center + 2 * reach_;
        return rounding_ * longest * longest;
    }

    // Lowers the bounds of some rows by what the centers have moved, and lists the rows that may change theirs.
    size_t doubtful(Matrix<const T> X, size_t begin, size_t count) {
        size_t found = 0;
        for (size_t i = begin; i < begin + count; ++i) {
            const std::int32_t label = bounds_.labels[i];
            list_[found] = i;
            if (label < 0) {
                ++found;
                continue;
            }
            const auto k = static_cast<size_t>(label);
            const double low = bounds_.lower[i] -= k == farthest_ ? next_moved_ : moved_;
            const double square = square_to_center(X.row(i), centers_.row(k), X.cols);
            found += !(low > 0 && low * low - square > error(std::sqrt(square)));
        }
        return found;
    }

    void compare(Matrix<const T> X, size_t found) {
        constexpr size_t L = lanes<T>, group = row_vectors * L;
        const size_t d = X.cols, wide = padded<T>(d);
        T* panels = scratch<struct BoundsPanels, T>(tile_size<T>(d));
        T* rows = scratch<struct BoundsRows, T>(tile_size<T>(d));
        for (size_t r = 0; r < found; ++r) pack_row<T>(X.row(list_[r]), X.end(), d, packed_.shift, T{1}, panels, r);
        clear_rows(panels, d, found);
        transpose_tile(panels, d, rows);
        std::int32_t labels[tile_rows];
        T second[tile_rows];
        for (size_t r = 0; r < found; r += group)
            nearest_two(packed_, rows + r * wide, wide * L, labels + r, second + r);
        for (size_t r = 0; r < found; ++r) {
            const size_t i = list_[r];
            const double square = square_to_center(X.row(i), packed_.shift, d), length = std::sqrt(square);
            const double low = square - 2 * static_cast<double>(second[r]) - error(length);
            bounds_.labels[i] = labels[r];
            bounds_.lower[i] = low > 0 ? std::sqrt(low) * (1 - 1e-12) : 0;
        }
    }

    Matrix<const T> centers_;
    PackedCenters<T> packed_;
    LloydBounds bounds_;
    double reach_ = 0, moved_ = 0, next_moved_ = 0, rounding_ = 0;
    size_t farthest_ = 0;
    size_t list_[tile_rows];
};

}  // namespace lyceum::cluster
