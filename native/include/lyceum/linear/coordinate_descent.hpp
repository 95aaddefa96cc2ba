// Coordinate descent for the elastic net,  P(b) = 1/2 |y - X b|^2 + l1 |b|_1 + l2/2 |b|^2,  either on the Gram matrix
// Q = X'X (a step costs the width of Q) or on the columns of X themselves (a step costs the length of a column).
// Both stop by the duality gap. With r = y - X b the point s r, scaled so that s |X'r - l2 b|_inf <= l1, is feasible
// for the dual of the problem with rows sqrt(l2) I below X, whose value is s y.r - s^2/2 (|r|^2 + l2 |b|^2).
#pragma once
#include <algorithm>
#include <cmath>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::linear {

struct Penalty {
    double l1, l2;
};

struct Descent {
    size_t epochs;
    double gap;  // or the largest decrease of the last epoch, when the gap is not computed
};

inline double soft_threshold(double z, double t) { return z > t ? z - t : z < -t ? z + t : 0.0; }

// What the gap needs: |r|^2, y.r, |b|^2, |b|_1 and the largest |x_j.r - l2 b_j|.
struct GapSums {
    double rr = 0, yr = 0, bb = 0, b1 = 0, steepest = 0;

    void add(double gradient, double b, const Penalty& p) {
        bb += b * b, b1 += std::abs(b);
        steepest = std::max(steepest, std::abs(gradient - p.l2 * b));
    }
    double gap(const Penalty& p) const {
        const double below = std::max(rr, 0.0) + p.l2 * bb;
        const double most = steepest > 0 ? p.l1 / steepest : 1.0;
        const double s = below > 0 ? std::clamp(yr / below, -most, most) : 0.0;
        return std::max(0.0, below / 2 + p.l1 * b1 - s * yr + s * s * below / 2);
    }
};

// Q is the leading m x m corner of a symmetric matrix with rows `stride` apart; g = q - Q b is kept up to date.
struct GramProblem {
    const double* Q;
    size_t stride, m;
    const double* q;
    double yy;  // |y|^2, or NaN to stop by the decrease of an epoch instead of the gap
};

inline double gram_gap(const GramProblem& problem, const double* g, const double* b, const Penalty& p) {
    GapSums sums;
    double bq = 0, bg = 0;
    for (size_t j = 0; j < problem.m; ++j) {
        if (!(problem.Q[j * problem.stride + j] > 0)) continue;
        sums.add(g[j], b[j], p);
        bq += b[j] * problem.q[j], bg += b[j] * g[j];
    }
    sums.rr = problem.yy - bq - bg, sums.yr = problem.yy - bq;
    return sums.gap(p);
}

inline Descent gram_descent(const GramProblem& problem, double* __restrict g, double* __restrict b, const Penalty& p,
                            double tolerance, size_t max_epochs, InterruptPoll poll) {
    const bool by_gap = !std::isnan(problem.yy);
    const size_t m = problem.m;
    Descent at{0, by_gap ? gram_gap(problem, g, b, p) : 0.0};
    if (by_gap && at.gap <= tolerance) return at;
    while (at.epochs < max_epochs) {
        double largest = 0;
        size_t moved = 0;
        for (size_t j = 0; j < m; ++j) {
            const double* __restrict row = problem.Q + j * problem.stride;
            const double diagonal = row[j];
            if (!(diagonal > 0)) continue;
            const double next = soft_threshold(g[j] + diagonal * b[j], p.l1) / (diagonal + p.l2), step = next - b[j];
            if (step == 0) continue;
            b[j] = next;
            largest = std::max(largest, step * step * (diagonal + p.l2) / 2);
            ++moved;
#pragma omp simd
            for (size_t k = 0; k < m; ++k) g[k] -= step * row[k];
        }
        ++at.epochs;
        poll(m * (moved + 1));
        at.gap = by_gap ? gram_gap(problem, g, b, p) : largest;
        if (at.gap <= tolerance || moved == 0) break;
    }
    return at;
}

// Columns side by side in memory.
struct DenseColumns {
    const double* data;
    size_t rows, count;

    double dot(size_t j, const double* __restrict r) const {
        const double* __restrict x = data + j * rows;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < rows; ++i) sum += x[i] * r[i];
        return sum;
    }
    void subtract(size_t j, double step, double* __restrict r) const {
        const double* __restrict x = data + j * rows;
#pragma omp simd
        for (size_t i = 0; i < rows; ++i) r[i] -= step * x[i];
    }
    size_t length(size_t) const { return rows; }
};

// Compressed sparse columns.
struct SparseColumns {
    const std::int32_t *start, *index;
    const double* data;
    size_t rows, count;

    double dot(size_t j, const double* __restrict r) const {
        double sum = 0;
        for (auto e = start[j]; e < start[j + 1]; ++e) sum += data[e] * r[index[e]];
        return sum;
    }
    void subtract(size_t j, double step, double* __restrict r) const {
        for (auto e = start[j]; e < start[j + 1]; ++e) r[index[e]] -= step * data[e];
    }
    size_t length(size_t j) const { return static_cast<size_t>(start[j + 1] - start[j]); }
};

// Columns x_j - mean_j s about their means without filling in zeros, where |s| = 1 and x_j.s = mean_j. The residuals
// are u + c s; they and y are orthogonal to s, so that (x_j - mean_j s).(u + c s) = x_j.u + c mean_j.
template <class Columns>
struct ColumnProblem {
    Columns X;
    const double *mean, *norms;  // (d,) means and squared lengths of the centered columns
    const double* y;             // (n,) centered
};

struct Residual {
    double* u;  // (n,)
    double c;
};

template <class Columns>
double column_gap(const ColumnProblem<Columns>& problem, const std::int32_t* chosen, size_t count, const Residual& r,
                  const double* b, const Penalty& p) {
    GapSums sums;
    for (size_t i = 0; i < problem.X.rows; ++i) sums.rr += r.u[i] * r.u[i], sums.yr += problem.y[i] * r.u[i];
    sums.rr -= r.c * r.c;
    for (size_t at = 0; at < count; ++at) {
        const auto j = static_cast<size_t>(chosen[at]);
        sums.add(problem.X.dot(j, r.u) + r.c * problem.mean[j], b[j], p);
    }
    return sums.gap(p);
}

// Over the chosen columns alone; b has all d entries.
template <class Columns>
Descent column_descent(const ColumnProblem<Columns>& problem, const std::int32_t* chosen, size_t count, Residual& r,
                       double* b, const Penalty& p, double tolerance, size_t max_epochs, InterruptPoll poll) {
    constexpr size_t gap_every = 5;  // epochs between two computations of the gap, which cost about an epoch each
    Descent at{0, 0.0};
    while (at.epochs < max_epochs) {
        size_t moved = 0, work = 0;
        for (size_t at_column = 0; at_column < count; ++at_column) {
            const auto j = static_cast<size_t>(chosen[at_column]);
            if (!(problem.norms[j] > 0)) continue;
            work += 2 * problem.X.length(j);
            const double gradient = problem.X.dot(j, r.u) + r.c * problem.mean[j];
            const double next = soft_threshold(gradient + problem.norms[j] * b[j], p.l1) / (problem.norms[j] + p.l2);
            const double step = next - b[j];
            if (step == 0) continue;
            b[j] = next;
            problem.X.subtract(j, step, r.u);
            r.c += step * problem.mean[j];
            ++moved;
        }
        ++at.epochs;
        poll(work);
        if (moved && at.epochs % gap_every && at.epochs < max_epochs) continue;
        at.gap = column_gap(problem, chosen, count, r, b, p);
        if (at.gap <= tolerance || moved == 0) break;
    }
    return at;
}

// out_k = (x_j - mean_j s).(u + c s) for j = chosen_k
template <class Columns>
void column_products(const Columns& X, const double* mean, const std::int32_t* chosen, size_t count, const Residual& r,
                     double* out, InterruptPoll poll) {
    for (size_t k = 0; k < count; ++k) {
        const auto j = static_cast<size_t>(chosen[k]);
        out[k] = X.dot(j, r.u) + r.c * mean[j];
        poll(X.length(j));
    }
}

}  // namespace lyceum::linear
