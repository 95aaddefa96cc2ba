// One step of expectation-maximization for a mixture of Gaussians or Student-t, over a block of rows:
//   a_ik = c_k - q_ik / 2                        with q_ik = |W_k (x_i - m_k)|^2        (Gaussian, u_ik = 1)
//   a_ik = c_k - (v_k + d)/2 log(1 + q_ik / v_k),  u_ik = (v_k + d) / (v_k + q_ik)      (Student-t, v_k degrees)
//   r_ik = exp(a_ik) / sum_j exp(a_ij)
// and the sums that the M-step needs: sum w r, and with the weights z = w r u their sum, mean and scatter about it.
// Rows are summed about the current means: S = sum z (x-m)(x-m)' - (sum z (x-m))(sum z (x-m))' / sum z. If that would
// cancel four digits, a second pass about the new means follows. Parts below 1e-20 of a row are left out.
// A chunk of rows stays in the cache from its densities to its sums. Cost: n K d^2 multiply-adds for full
// covariances (half for the densities, half for the scatter of the rows that count), 6 n K d flops for diagonal ones.
#pragma once
#include <lyceum/bayes/gaussian_log_joint.hpp>
#include <lyceum/bayes/quadratic_log_density.hpp>
#include <lyceum/core/gram.hpp>
#include <lyceum/mixtures/responsibilities.hpp>

namespace lyceum::mixtures {

inline constexpr size_t chunk_rows = 8 * tile_rows;
inline constexpr double negligible = 1e-20;

struct Components {
    const double *mean, *whiten, *constant, *degrees;  // (K, d), (K, d, d) or (K, d), (K,), (K,) or null: Gaussian
    size_t K, d;
    bool diagonal;
};

struct StepSums {
    double *rows, *weight, *logs;  // (K,): sum w r, sum z, sum w r (log u - u); `logs` may be null without degrees
    double *mean, *scatter;        // (K, d), and (K, d, d), (1, d, d) when pooled, or (K, d) when diagonal
    bool pooled;
};

// The sums about `shift` while rows come in: first moments, and second moments or rows that wait to be multiplied.
struct Pending {
    double *shift, *first, *second;  // (K, wide), (K, wide), and groups of (wide, wide) or (K, wide)
    double *panels, *roots;          // (K,) tiles of sqrt(z) (x - shift), and of sqrt(z)
    size_t* count;
    size_t wide, d;
    bool pooled;

    void flush(size_t k) {
        constexpr size_t L = lanes<double>, step = tile_rows * L;
        if (!count[k]) return;
        double *tile = panels + k * tile_size<double>(d), *root = roots + k * tile_rows, *sum = first + k * wide;
        if (count[k] < tile_rows) {
            clear_rows(tile, d, count[k]);
            std::fill(root + count[k], root + tile_rows, 0.0);
        }
        gram_upper(tile, tile, d, second + (pooled ? 0 : k * wide * wide));
        for (size_t p = 0; p * L < wide; ++p) {
            Vec<double> part[4] = {};
            for (size_t r = 0; r < tile_rows; r += 4)
#pragma GCC unroll 4
                for (size_t i = 0; i < 4; ++i) part[i] += root[r + i] * load(tile + p * step + (r + i) * L);
            store(sum + p * L, load(sum + p * L) + ((part[0] + part[1]) + (part[2] + part[3])));
        }
        count[k] = 0;
    }

    template <class T>
    void add(const T* x, const T* end, size_t k, double root) {
        const size_t row = count[k]++;
        pack_row<double>(x, end, d, shift + k * wide, root, panels + k * tile_size<double>(d), row);
        roots[k * tile_rows + row] = root;
        if (count[k] == tile_rows) flush(k);
    }

    template <class T>
    void add_diagonal(const T* x, size_t k, double z) {
        const double* from = shift + k * wide;
        double *sum = first + k * wide, *square = second + k * wide;
        for (size_t j = 0; j < d; ++j) {
            const double t = static_cast<double>(x[j]) - from[j];
            sum[j] += z * t;
            square[j] += z * t * t;
        }
    }
};

// -q/2 to the log density of Student-t, and q itself to u.
inline void student(const Components& model, double* a, double* u, size_t rows) {
    const size_t K = model.K;
    const double d = static_cast<double>(model.d);
    for (size_t i = 0; i < rows; ++i)
        for (size_t k = 0; k < K; ++k) {
            const double q = -2.0 * a[i * K + k], v = model.degrees[k];
            u[i * K + k] = (v + d) / (v + q);
            a[i * K + k] = 1.0 + q / v;
        }
    log_in_place(a, rows * K);
    for (size_t i = 0; i < rows; ++i)
        for (size_t k = 0; k < K; ++k) a[i * K + k] = model.constant[k] - 0.5 * (model.degrees[k] + d) * a[i * K + k];
}

template <class T>
struct DensityOfChunk {
    const Components& model;
    double *mean, *half, *nothing;  // (d, K) tables of the diagonal form
    std::int32_t* columns;

    explicit DensityOfChunk(const Components& components) : model(components) {
        const size_t K = model.K, d = model.d;
        nothing = zeroed<struct MixtureNothing, double>(std::max(K, d * K));
        if (!model.diagonal) return;
        mean = scratch<struct MixtureMeans, double>(d * K);
        half = scratch<struct MixtureHalf, double>(d * K);
        columns = scratch<struct MixtureColumns, std::int32_t>(d);
        for (size_t j = 0; j < d; ++j) {
            columns[j] = static_cast<std::int32_t>(j);
            for (size_t k = 0; k < K; ++k) {
                const double w = model.whiten[k * d + j];
                mean[j * K + k] = model.mean[k * d + j], half[j * K + k] = 0.5 * w * w;
            }
        }
    }

    void operator()(Matrix<const T> X, double* a, double* u, InterruptPoll& poll) const {
        const size_t K = model.K;
        const double* constant = model.degrees ? nothing : model.constant;
        if (model.diagonal) {
            for (size_t i = 0; i < X.rows; ++i) std::copy_n(constant, K, a + i * K);
            bayes::gaussian_log_joint(X, columns, {mean, half, nothing, model.d, K}, a, poll);
        } else {
            std::fill_n(a, X.rows * K, 0.0);
            bayes::quadratic_log_density(X, model.mean, model.whiten, constant, K, a, poll);
        }
        if (model.degrees) student(model, a, u, X.rows);
    }
};

// Adds the rows of a chunk with their responsibilities; returns sum w log p.
template <class T>
double add_chunk(Matrix<const T> X, const T* end, const double* w, const double* R, const double* u,
                 const double* level, const Components& model, const StepSums& sums, Pending& pending) {
    const size_t K = model.K;
    double total = 0;
    for (size_t i = 0; i < X.rows; ++i)
        if (const double wi = weight_of(w, i); wi > 0) total += wi * level[i];
    auto* order = scratch<struct MixtureOrder, std::int32_t>(X.rows);
    double* z = scratch<struct MixtureWeights, double>(X.rows);
    for (size_t k = 0; k < K; ++k) {
        size_t used = 0;
        double rows = 0, weight = 0, logs = 0;
        for (size_t i = 0; i < X.rows; ++i) {
            const double r = R[i * K + k], v = weight_of(w, i) * r;
            order[used] = static_cast<std::int32_t>(i), z[used] = v;
            used += r > negligible && v > 0;
        }
        for (size_t at = 0; at < used; ++at) rows += z[at];
        if (model.degrees)
            for (size_t at = 0; at < used; ++at) {
                const double scale = u[static_cast<size_t>(order[at]) * K + k];
                logs += z[at] * (std::log(scale) - scale), z[at] *= scale, weight += z[at];
            }
        if (!model.diagonal) {
            for (size_t at = 0; at < used; ++at) z[at] = std::sqrt(z[at]);
            for (size_t at = 0; at < used; ++at) pending.add(X.row(static_cast<size_t>(order[at])), end, k, z[at]);
        } else {
            for (size_t at = 0; at < used; ++at) pending.add_diagonal(X.row(static_cast<size_t>(order[at])), k, z[at]);
        }
        sums.rows[k] += rows, sums.weight[k] += model.degrees ? weight : rows;
        if (sums.logs) sums.logs[k] += logs;
    }
    return total;
}

// Means, and what the scatter about them takes off; true if that cancels too much.
inline bool finish(const Components& model, const StepSums& sums, const Pending& pending) {
    const size_t K = model.K, d = model.d, wide = pending.wide, cells = model.diagonal ? d : d * d;
    std::fill_n(sums.scatter, (sums.pooled ? 1 : K) * cells, 0.0);
    bool cancelled = false;
    for (size_t k = 0; k < K; ++k) {
        const double total = sums.weight[k], *first = pending.first + k * wide;
        for (size_t j = 0; j < d; ++j)
            sums.mean[k * d + j] = pending.shift[k * wide + j] + (total > 0 ? first[j] / total : 0.0);
        if (!(total > 0)) continue;
        const size_t group = sums.pooled ? 0 : k;
        double* S = sums.scatter + group * cells;
        const double* C = pending.second + (model.diagonal ? k * wide : group * wide * wide);
        for (size_t a = 0; a < d; ++a) {
            const double whole = model.diagonal ? C[a] : C[a * wide + a], removed = first[a] * first[a] / total;
            cancelled |= removed > 1e4 * (whole - removed) && removed > 0;
            if (model.diagonal) {
                S[a] = std::max(0.0, whole - removed);
                continue;
            }
            for (size_t b = a; b < d; ++b) S[a * d + b] -= first[a] * first[b] / total;
        }
    }
    if (model.diagonal) return cancelled;
    for (size_t group = 0; group < (sums.pooled ? 1 : K); ++group) {
        double *S = sums.scatter + group * cells, *C = pending.second + group * wide * wide;
        for (size_t a = 0; a < d; ++a)
            for (size_t b = a; b < d; ++b) {
                const double value = C[a * wide + b] + S[a * d + b];
                S[a * d + b] = S[b * d + a] = a == b && value < 0 ? 0.0 : value;
            }
    }
    return cancelled;
}

template <class T>
double pass_about(Matrix<const T> X, const double* w, const Components& model, const double* shift,
                  const StepSums& sums, Pending& pending, InterruptPoll& poll) {
    const size_t K = model.K, d = model.d, wide = padded<double>(d), groups = sums.pooled ? 1 : K;
    pending.d = d, pending.wide = wide, pending.pooled = sums.pooled;
    pending.shift = zeroed<struct MixtureShift, double>(K * wide);
    for (size_t k = 0; k < K; ++k) std::copy_n(shift + k * d, d, pending.shift + k * wide);
    pending.first = zeroed<struct MixtureFirst, double>(K * wide);
    pending.second = zeroed<struct MixtureSecond, double>(model.diagonal ? K * wide : groups * wide * wide);
    pending.count = zeroed<struct MixtureCount, size_t>(K);
    pending.roots = scratch<struct MixtureRoots, double>(K * tile_rows);
    pending.panels = model.diagonal ? nullptr : zeroed<struct MixturePanels, double>(K * tile_size<double>(d));
    std::fill_n(sums.rows, K, 0.0), std::fill_n(sums.weight, K, 0.0);
    if (sums.logs) std::fill_n(sums.logs, K, 0.0);
    double* a = scratch<struct MixtureJoint, double>(chunk_rows * K);
    double* u = model.degrees ? scratch<struct MixtureScales, double>(chunk_rows * K) : nullptr;
    double* level = scratch<struct MixtureLevel, double>(chunk_rows);
    const DensityOfChunk<T> density(model);
    double total = 0;
    for (size_t begin = 0; begin < X.rows; begin += chunk_rows) {
        const Matrix<const T> chunk{X.row(begin), std::min(chunk_rows, X.rows - begin), d};
        density(chunk, a, u, poll);
        responsibilities(a, chunk.rows, K, level);
        total += add_chunk(chunk, X.end(), w ? w + begin : nullptr, a, u, level, model, sums, pending);
        poll(chunk.rows * K * d * d);
    }
    for (size_t k = 0; !model.diagonal && k < K; ++k) pending.flush(k);
    return total;
}

// Sets the sums and returns sum w log p(x).
template <class T>
double mixture_step(Matrix<const T> X, const double* w, const Components& model, const StepSums& sums,
                    InterruptPoll poll) {
    Pending pending{};
    double total = pass_about(X, w, model, model.mean, sums, pending, poll);
    if (finish(model, sums, pending)) {
        double* shift = scratch<struct MixtureNewMeans, double>(model.K * model.d);
        std::copy_n(sums.mean, model.K * model.d, shift);
        total = pass_about(X, w, model, shift, sums, pending, poll);
        finish(model, sums, pending);
    }
    return total;
}

}  // namespace lyceum::mixtures
