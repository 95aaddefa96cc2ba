// Rows in leaves of 32 that lie close together: an order by halving the widest axis, and the packed leaves.
#pragma once
#include <algorithm>
#include <vector>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::density {

inline constexpr size_t leaf_rows = 32;

// Reorders `order[begin, end)` so that every `leaf` consecutive rows form one leaf. Cost: n log(n) d.
inline void leaf_order(Matrix<const double> Z, std::int64_t* order, size_t begin, size_t end, size_t leaf,
                       InterruptPoll& poll) {
    while (end - begin > leaf) {
        size_t axis = 0;
        double widest = -1;
        for (size_t j = 0; j < Z.cols; ++j) {
            double low = std::numeric_limits<double>::infinity(), high = -low;
            for (size_t i = begin; i < end; ++i) {
                const double z = Z.row(static_cast<size_t>(order[i]))[j];
                low = std::min(low, z), high = std::max(high, z);
            }
            if (high - low > widest) widest = high - low, axis = j;
        }
        const size_t leaves = (end - begin + leaf - 1) / leaf, middle = begin + leaf * ((leaves + 1) / 2);
        const auto before = [&](std::int64_t a, std::int64_t b) {
            const double x = Z.row(static_cast<size_t>(a))[axis], y = Z.row(static_cast<size_t>(b))[axis];
            return x < y || (x == y && a < b);
        };
        std::nth_element(order + begin, order + middle, order + end, before);
        poll((end - begin) * (Z.cols + 8) * 4);
        leaf_order(Z, order, begin, middle, leaf, poll);
        begin = middle;
    }
}

// Leaf l holds rows [32 l, 32 l + 32), as [leaf][axis][row]; rows beyond the last have weight 0.
struct Leaves {
    size_t rows, axes, count, padded;  // `padded`: count, rounded up to whole vectors
    std::vector<double, AlignedAllocator<double>> cells, w, low, high, weight;  // low, high: [axis][leaf]

    Leaves(Matrix<const double> Z, const double* weights)
        : rows(Z.rows),
          axes(Z.cols),
          count((Z.rows + leaf_rows - 1) / leaf_rows),
          padded(round_up(count, lanes<double>)),
          cells(count * leaf_rows * axes),
          w(count * leaf_rows),
          low(axes * padded),
          high(axes * padded),
          weight(padded) {
        for (size_t l = 0; l < count; ++l) pack(Z, weights, l);
    }

    const double* leaf(size_t l) const { return cells.data() + l * leaf_rows * axes; }

private:
    void pack(Matrix<const double> Z, const double* weights, size_t l) {
        const size_t begin = l * leaf_rows, n_rows = std::min(leaf_rows, Z.rows - begin);
        for (size_t r = 0; r < n_rows; ++r) weight[l] += w[begin + r] = weight_of(weights, begin + r);
        for (size_t j = 0; j < axes; ++j) {
            double* out = cells.data() + (l * axes + j) * leaf_rows;
            for (size_t r = 0; r < leaf_rows; ++r) out[r] = Z.row(begin + std::min(r, n_rows - 1))[j];
            low[j * padded + l] = *std::min_element(out, out + leaf_rows);
            high[j * padded + l] = *std::max_element(out, out + leaf_rows);
        }
    }
};

}  // namespace lyceum::density
