// The best Gini gain of a threshold on every column, for rows whose order in every column is known: what boosted stumps
// ask again and again while only the weights change.
//
// The columns are in groups of four, side by side: order[i * 4 + c] is the number of the row that is i-th in column c,
// with `tied` added if the next row has the same value, so that no threshold goes between them. Rows in random order
// are what takes time: one weight is read for each, from a cache that holds them all. They are read one by one: there
// are processors whose gathers are slower.
#pragma once
#include <algorithm>
#include <vector>

#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::trees {

inline constexpr std::uint32_t tied = std::uint32_t{1} << 31;
inline constexpr size_t stump_lanes = 4;
inline constexpr double even_gains = 1e-12;  // gains that differ by less are equal: the first of them counts

// The order of the rows in one column, by its codes, every stump_lanes-th cell of `order` from the first.
template <class Code>
void stump_order(const Code* codes, size_t n, std::uint32_t* order) {
    const size_t count = n ? size_t{*std::max_element(codes, codes + n)} + 1 : 0;
    std::vector<std::uint32_t> start(count + 1, 0);
    for (size_t i = 0; i < n; ++i) ++start[codes[i] + size_t{1}];
    for (size_t c = 0; c < count; ++c) start[c + 1] += start[c];
    std::vector<std::uint32_t> next(start.begin(), start.end());
    for (size_t i = 0; i < n; ++i) {
        const std::uint32_t at = next[codes[i]]++;
        const bool last = at + 1 == start[codes[i] + size_t{1}];
        order[at * stump_lanes] = static_cast<std::uint32_t>(i) | (last ? 0 : tied);
    }
}

// gains[c] = the largest 2 q² / (W² L R) for two classes, of weights T0 and T1, whose rows have weights below and above
// zero, and ends[c] = the place in the order of the last row on the left. L and R = W − L are the weights on both sides
// and q = A T0 − B T1, A and B being the weights of the classes 1 and 0 on the left: the fall of the Gini impurity, as
// A/L − (T1 − A)/R = q / (L R). Cost: n steps for all groups.
template <size_t Groups>
void stump_gains_of_two(const std::uint32_t* order, size_t n, const double* weights, double T0, double T1,
                        double* gains, std::int64_t* ends) {
    constexpr size_t lanes = vector_bytes < 32 ? 2 : 4, count = Groups * stump_lanes / lanes;
    using V = typename VectorOf<double, lanes>::type;
    using Mask = typename VectorOf<std::int64_t, lanes>::type;
    const double W = T0 + T1, even = even_gains * W * W / 2.;
    const V zero{};
    V left[count] = {}, q[count] = {}, best[count] = {}, bar[count] = {}, under[count] = {};
    Mask end[count] = {};
    for (auto& u : under) u += 1.;
    for (size_t i = 0; i + 1 < n; ++i)
#pragma GCC unroll 8
        for (size_t v = 0; v < count; ++v) {
            const size_t first = v * lanes;
            const std::uint32_t* rows = order + (first / stump_lanes * n + i) * stump_lanes + first % stump_lanes;
            V w;
            Mask last;
            for (size_t c = 0; c < lanes; ++c) {
                w[c] = weights[rows[c] & ~tied];
                last[c] = -std::int64_t{rows[c] < tied};
            }
            left[v] += w > zero ? w : -w;
            q[v] += w * (w > zero ? zero + T0 : zero + T1);
            const V over = q[v] * q[v], sides = left[v] * (W - left[v]);
            const Mask better = (over * under[v] > bar[v] * sides) & (sides > zero) & last;
            best[v] = better ? over : best[v];
            bar[v] = better ? over + even * sides : bar[v];
            under[v] = better ? sides : under[v];
            end[v] = better ? Mask{} + static_cast<std::int64_t>(i) : end[v];
        }
    for (size_t c = 0; c < Groups * stump_lanes; ++c) {
        gains[c] = 2. * best[c / lanes][c % lanes] / (under[c / lanes][c % lanes] * W * W);
        ends[c] = end[c / lanes][c % lanes];
    }
}

struct WeightOfClass {
    double weight;
    std::int64_t k;
};

// The same for K classes and one group: gains[c] = the largest (S_L / L + S_R / R) / W − S / W², S being the sums of
// the squares of the weights of the classes. The weights on the right are sums of what is left of each class, none
// below zero, so that S_R / R is at most R however little is left. Cost: n steps of K cells.
template <size_t K>
void stump_gains_of_few(const std::uint32_t* order, size_t n, const WeightOfClass* weights, const double* totals,
                        double* gains, std::int64_t* ends) {
    constexpr size_t lanes = vector_bytes < 32 ? 2 : 4, count = stump_lanes / lanes;
    using V = typename VectorOf<double, lanes>::type;
    using Mask = typename VectorOf<std::int64_t, lanes>::type;
    double W = 0., S = 0.;
    for (size_t k = 0; k < K; ++k) W += totals[k], S += totals[k] * totals[k];
    const V zero{};
    V near[count][K] = {}, over[count], bar[count], under[count];
    Mask end[count] = {};
    for (size_t v = 0; v < count; ++v)
        over[v] = zero + S, bar[v] = zero + (S + even_gains * W * W), under[v] = zero + W;
    for (size_t i = 0; i + 1 < n; ++i)
#pragma GCC unroll 2
        for (size_t v = 0; v < count; ++v) {
            const std::uint32_t* rows = order + i * stump_lanes + v * lanes;
            V w, L = zero, R = zero, S_L = zero, S_R = zero;
            Mask which, last;
            for (size_t c = 0; c < lanes; ++c) {
                const WeightOfClass& row = weights[rows[c] & ~tied];
                w[c] = row.weight;
                which[c] = row.k;
                last[c] = -std::int64_t{rows[c] < tied};
            }
#pragma GCC unroll 8
            for (size_t k = 0; k < K; ++k) {
                near[v][k] += which == static_cast<std::int64_t>(k) ? w : zero;
                V far = totals[k] - near[v][k];
                far = far > zero ? far : zero;
                L += near[v][k];
                R += far;
                S_L += near[v][k] * near[v][k];
                S_R += far * far;
            }
            const V sides = L * R, squares = S_L * R + S_R * L;
            const Mask better = (squares * under[v] > bar[v] * sides) & (sides > zero) & last;
            over[v] = better ? squares : over[v];
            bar[v] = better ? squares + even_gains * W * sides : bar[v];
            under[v] = better ? sides : under[v];
            end[v] = better ? Mask{} + static_cast<std::int64_t>(i) : end[v];
        }
    for (size_t c = 0; c < stump_lanes; ++c) {
        gains[c] = over[c / lanes][c % lanes] / under[c / lanes][c % lanes] / W - S / (W * W);
        ends[c] = end[c / lanes][c % lanes];
    }
}

// The same for any number of classes.
inline void stump_gains_of_many(const std::uint32_t* order, size_t n, const WeightOfClass* weights,
                                const double* totals, size_t K, double* gains, std::int64_t* ends) {
    double W = 0., S = 0.;
    for (size_t k = 0; k < K; ++k) W += totals[k], S += totals[k] * totals[k];
    std::vector<double> left(stump_lanes * K, 0.);
    double best[stump_lanes];
    std::fill_n(best, stump_lanes, S / W);
    std::fill_n(ends, stump_lanes, 0);
    for (size_t i = 0; i + 1 < n; ++i)
        for (size_t c = 0; c < stump_lanes; ++c) {
            const std::uint32_t at = order[i * stump_lanes + c];
            const WeightOfClass& row = weights[at & ~tied];
            double* near = left.data() + c * K;
            near[row.k] += row.weight;
            if (at >= tied) continue;
            double L = 0., R = 0., S_L = 0., S_R = 0.;
            for (size_t k = 0; k < K; ++k) {
                const double far = std::max(0., totals[k] - near[k]);
                L += near[k];
                R += far;
                S_L += near[k] * near[k];
                S_R += far * far;
            }
            if (L <= 0. || R <= 0.) continue;
            const double merit = S_L / L + S_R / R;
            if (merit > best[c] + even_gains * W) best[c] = merit, ends[c] = static_cast<std::int64_t>(i);
        }
    for (size_t c = 0; c < stump_lanes; ++c) gains[c] = best[c] / W - S / (W * W);
}

inline void stump_gains(const std::uint32_t* order, size_t n, const WeightOfClass* weights, const double* totals,
                        size_t K, double* gains, std::int64_t* ends) {
    switch (K) {
        case 3:
            return stump_gains_of_few<3>(order, n, weights, totals, gains, ends);
        case 4:
            return stump_gains_of_few<4>(order, n, weights, totals, gains, ends);
        case 5:
            return stump_gains_of_few<5>(order, n, weights, totals, gains, ends);
        case 6:
            return stump_gains_of_few<6>(order, n, weights, totals, gains, ends);
        case 7:
            return stump_gains_of_few<7>(order, n, weights, totals, gains, ends);
        case 8:
            return stump_gains_of_few<8>(order, n, weights, totals, gains, ends);
        case 9:
            return stump_gains_of_few<9>(order, n, weights, totals, gains, ends);
        case 10:
            return stump_gains_of_few<10>(order, n, weights, totals, gains, ends);
        default:
            return stump_gains_of_many(order, n, weights, totals, K, gains, ends);
    }
}

}  // namespace lyceum::trees
