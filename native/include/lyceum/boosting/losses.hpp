// Gradients of losses by rows, in blocks of a fixed size whose sums are added in order: threads do not change a bit.
#pragma once
#include <vector>

#include <lyceum/boosting/gradient_histogram.hpp>
#include <lyceum/core/thread_team.hpp>
#include <lyceum/core/vector_math.hpp>

namespace lyceum::boosting {

inline constexpr size_t loss_rows = 4096;  // a block

// Calls work(block, begin, end) for every block of n rows.
template <class Work>
void over_blocks(size_t n, ThreadTeam& team, const Work& work) {
    const size_t blocks = (n + loss_rows - 1) / loss_rows;
    team(blocks, [&](size_t k) { work(k, k * loss_rows, std::min(n, (k + 1) * loss_rows)); });
}

// of(begin, end) summed over blocks in their order.
template <class Of>
double sum_blocks(size_t n, ThreadTeam& team, const Of& of) {
    std::vector<double> sums((n + loss_rows - 1) / loss_rows);
    over_blocks(n, team, [&](size_t k, size_t begin, size_t end) { sums[k] = of(begin, end); });
    double total = 0;
    for (double sum : sums) total += sum;
    return total;
}

// -log P(y | s), P(1 | s) = 1 / (1 + exp(-s)): g = w (P - y), h = w P (1 - P). Returns the summed loss.
inline double logistic(const std::int32_t* y, const double* score, const double* w, size_t n, double* g, double* h,
                       ThreadTeam& team) {
    return sum_blocks(n, team, [&](size_t begin, size_t end) {
        constexpr size_t L = lanes<double>;
        Doubles total{};
        double rest = 0;
        auto one = [&](Doubles s, Doubles label, Doubles weight, Doubles& grad, Doubles& hess) {
            const Doubles size = s < 0. ? -s : s, e = vexp(-size);
            const Doubles away = e / (1. + e), near = 1. / (1. + e);  // of the less and of the more likely class
            grad = ((s < 0. ? away : near) - label) * weight;
            hess = away * near * weight;
            return (vlog1p(e) + (s > 0. ? s : Doubles{}) - label * s) * weight;
        };
        size_t i = begin;
        for (; i + L <= end; i += L) {
            Doubles grad, hess;
            total += one(load(score + i), load_as<double>(y + i), w ? load(w + i) : splat(1.), grad, hess);
            store(g + i, grad);
            store(h + i, hess);
        }
        for (; i < end; ++i) {
            Doubles grad, hess;
            rest += one(splat(score[i]), splat(static_cast<double>(y[i])), splat(w ? w[i] : 1.), grad, hess)[0];
            g[i] = grad[0];
            h[i] = hess[0];
        }
        return sum_lanes<double>(total) + rest;
    });
}

// log Σ_k exp(s_k) of every row; scores are [K][n]. Returns the summed loss Σ w (log Σ_k exp(s_k) - s_y).
inline double log_sums(const std::int32_t* y, const double* score, const double* w, size_t n, size_t K, double* out,
                       ThreadTeam& team) {
    return sum_blocks(n, team, [&](size_t begin, size_t end) {
        double total = 0;
        for (size_t i = begin; i < end; ++i) out[i] = score[i];
        for (size_t k = 1; k < K; ++k)
            for (size_t i = begin; i < end; ++i) out[i] = std::max(out[i], score[k * n + i]);
        double sums[loss_rows] = {};
        constexpr size_t L = lanes<double>;
        for (size_t k = 0; k < K; ++k) {
            size_t i = begin;
            for (; i + L <= end; i += L)
                store(sums + (i - begin), load(sums + (i - begin)) + vexp(load(score + k * n + i) - load(out + i)));
            for (; i < end; ++i) sums[i - begin] += vexp(splat(score[k * n + i] - out[i]))[0];
        }
        for (size_t i = begin; i < end; ++i) {
            out[i] += std::log(sums[i - begin]);
            total += weight_of(w, i) * (out[i] - score[static_cast<size_t>(y[i]) * n + i]);
        }
        return total;
    });
}

// The gradients of class k: P = exp(s_k - log sum), g = w (P - [y = k]), h = w P (1 - P) K / (K - 1).
inline void softmax(const std::int32_t* y, const double* score, const double* sums, const double* w, size_t n, size_t k,
                    size_t K, double* g, double* h, ThreadTeam& team) {
    const double factor = static_cast<double>(K) / static_cast<double>(K - 1);
    over_blocks(n, team, [&](size_t, size_t begin, size_t end) {
        constexpr size_t L = lanes<double>;
        auto one = [&](size_t i, double p) {
            const double weight = weight_of(w, i);
            g[i] = weight * (p - (y[i] == static_cast<std::int32_t>(k)));
            h[i] = weight * p * (1 - p) * factor;
        };
        size_t i = begin;
        for (; i + L <= end; i += L) {
            const Doubles p = vexp(load(score + i) - load(sums + i));
            for (size_t l = 0; l < L; ++l) one(i + l, p[static_cast<int>(l)]);
        }
        for (; i < end; ++i) one(i, vexp(splat(score[i] - sums[i]))[0]);
    });
}

// Losses of the residual r = s - y with w for hessian: 1/2 r^2; that up to delta and delta (|r| - delta / 2) beyond
// (Huber); and q (-r) below zero, (1 - q) r above (quantile). Return the summed loss.
enum class Residual { squared, huber, quantile };

template <Residual Kind>
double residual_loss(const double* y, const double* score, const double* w, size_t n, double alpha, double* g,
                     ThreadTeam& team) {
    return sum_blocks(n, team, [&](size_t begin, size_t end) {
        double total = 0;
        for (size_t i = begin; i < end; ++i) {
            const double r = score[i] - y[i], weight = weight_of(w, i);
            double slope, loss;
            if constexpr (Kind == Residual::squared) {
                slope = r;
                loss = .5 * r * r;
            } else if constexpr (Kind == Residual::huber) {
                slope = std::clamp(r, -alpha, alpha);
                loss = slope * (r - .5 * slope);
            } else {
                slope = r > 0 ? 1 - alpha : r < 0 ? -alpha : 0;
                loss = slope * r;
            }
            g[i] = weight * slope;
            total += weight * loss;
        }
        return total;
    });
}

// Sums of g, h (w if null, 1 if both are) and w over the rows of every node: out[nodes][3]. Rows of no node are left
// out.
inline void node_sums(const std::uint16_t* node, const double* g, const double* h, const double* w, size_t n,
                      size_t nodes, double* out, ThreadTeam& team) {
    const size_t blocks = (n + loss_rows - 1) / loss_rows, wide = 3 * nodes;
    std::vector<double> sums(blocks * wide);
    over_blocks(n, team, [&](size_t block, size_t begin, size_t end) {
        double* at = sums.data() + block * wide;
        for (size_t i = begin; i < end; ++i) {
            if (node[i] >= nodes) continue;
            double* sum = at + 3 * size_t{node[i]};
            const double weight = weight_of(w, i);
            sum[0] += g[i];
            sum[1] += h ? h[i] : weight;
            sum[2] += weight;
        }
    });
    for (size_t block = 0; block < blocks; ++block)
        for (size_t i = 0; i < wide; ++i) out[i] += sums[block * wide + i];
}

inline void add_values(const std::uint16_t* node, const double* value, size_t n, double* score, ThreadTeam& team) {
    over_blocks(n, team, [&](size_t, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) score[i] += value[node[i]];
    });
}

}  // namespace lyceum::boosting
