// Weighted least squares one row at a time: weights theta with the inverse P of their Hessian, both updated by every
// row.
//   squares   s = x~' P x~,  g = w / (1 + w s):          theta += g (y - theta.x~) P x~,   P -= g P x~ x~' P
//   softmax   theta becomes the minimum of the row's loss plus the parabola of the rows before it, and the loss joins
//   that
//             by its curvature there. With U = P (I (x) x~), S = (I (x) x~)' U, p the posteriors of the row at the
//             scores z = z_0 + S c, V = w (diag p - p p') and r = w (1[code] - p), Newton's method solves c = r by c +=
//             A^-1 (r - c), A = I + V S; then theta += U c and P -= U A^-1 V U' (Woodbury). One output: p = 1 / (1 +
//             exp -z), V = w p (1 - p).
// x~ = (x - shift, 1). A weight whose row and column of P are zero stays as it is.
// Cost per row: d^2 for squares, K^3 d^2 for K outputs.
#pragma once
#include <algorithm>
#include <cmath>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::linear {

template <class T>
void recursive_squares(Matrix<const T> X, const double* y, const double* w, const double* shift, double* theta,
                       double* P, InterruptPoll poll) {
    const size_t d = X.cols, p = d + 1;
    double* __restrict x = scratch<struct RecursiveRow, double>(p);
    double* __restrict u = scratch<struct RecursiveGain, double>(p);
    for (size_t i = 0; i < X.rows; ++i) {
        const double weight = weight_of(w, i);
        if (!(weight > 0)) continue;
        for (size_t j = 0; j < d; ++j) x[j] = static_cast<double>(X.row(i)[j]) - shift[j];
        x[d] = 1.0;
        double fitted = 0, s = 0;
        for (size_t a = 0; a < p; ++a) {
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (size_t b = 0; b < p; ++b) sum += P[a * p + b] * x[b];
            u[a] = sum;
            s += x[a] * sum;
            fitted += x[a] * theta[a];
        }
        const double gain = weight / (1.0 + weight * s), step = gain * (y[i] - fitted), root = std::sqrt(gain);
        for (size_t a = 0; a < p; ++a) theta[a] += step * u[a];
        for (size_t a = 0; a < p; ++a) u[a] *= root;
        for (size_t a = 0; a < p; ++a)
#pragma omp simd
            for (size_t b = 0; b < p; ++b) P[a * p + b] -= u[a] * u[b];
        poll(2 * p * p);
    }
}

// Solves A C = B in place of B for K x K matrices and m right-hand sides, by elimination with row exchanges.
inline void eliminate(double* A, double* B, size_t K, size_t m) {
    for (size_t c = 0; c < K; ++c) {
        size_t pivot = c;
        for (size_t r = c + 1; r < K; ++r)
            if (std::abs(A[r * K + c]) > std::abs(A[pivot * K + c])) pivot = r;
        if (pivot != c) {
            std::swap_ranges(A + c * K, A + (c + 1) * K, A + pivot * K);
            std::swap_ranges(B + c * m, B + (c + 1) * m, B + pivot * m);
        }
        for (size_t r = 0; r < K; ++r) {
            if (r == c) continue;
            const double factor = A[r * K + c] / A[c * K + c];
            for (size_t j = c; j < K; ++j) A[r * K + j] -= factor * A[c * K + j];
            for (size_t j = 0; j < m; ++j) B[r * m + j] -= factor * B[c * m + j];
        }
    }
    for (size_t c = 0; c < K; ++c)
        for (size_t j = 0; j < m; ++j) B[c * m + j] /= A[c * K + c];
}

// Posteriors of one row in place of its scores; returns the log loss of its class.
inline double row_posterior(double* z, size_t K, size_t code) {
    if (K == 1) {
        const double e = std::exp(-std::abs(z[0])), margin = code == 1 ? z[0] : -z[0];
        const double loss = std::max(-margin, 0.0) + std::log1p(e);
        z[0] = z[0] < 0 ? e / (1 + e) : 1 / (1 + e);
        return loss;
    }
    const double best = *std::max_element(z, z + K), own = z[code];
    double sum = 0;
    for (size_t k = 0; k < K; ++k) sum += z[k] = std::exp(z[k] - best);
    for (size_t k = 0; k < K; ++k) z[k] /= sum;
    return best + std::log(sum) - own;
}

// What one row of K outputs does to weights theta, (K, p), and inverse Hessian P, (K p, K p), m = K p.
struct RecursiveStep {
    size_t K, p, m = K * p, sides = K + 1;
    double* x = scratch<struct RecursiveRow, double>(p);         // x~
    double* z = scratch<struct RecursiveScores, double>(5 * K);  // scores, then posteriors
    double *start = z + K, *c = start + K, *trial = c + K, *gap = trial + K;
    double* U = scratch<struct RecursiveGain, double>(K * m);       // U_k = P[:, block k] x~
    double* moved = scratch<struct RecursiveMoved, double>(K * m);  // A^-1 V U'
    double* S = scratch<struct RecursiveSmall, double>(2 * K * K + K * sides);
    double *A = S + K * K, *B = A + K * K;  // B = A^-1 [r - c, V]

    void gains(const double* P) {
        std::fill_n(U, K * m, 0.0);
        for (size_t k = 0; k < K; ++k)
            for (size_t j = 0; j < p; ++j) {
                const double* __restrict row = P + (k * p + j) * m;
                double* __restrict u = U + k * m;
                const double cell = x[j];
#pragma omp simd
                for (size_t a = 0; a < m; ++a) u[a] += cell * row[a];
            }
        for (size_t k = 0; k < K; ++k)
            for (size_t l = 0; l < K; ++l) {
                double sum = 0;
                for (size_t j = 0; j < p; ++j) sum += x[j] * U[l * m + k * p + j];
                S[k * K + l] = sum;
            }
    }

    // The loss of the row plus c'S c / 2 at z_0 + S c; leaves the posteriors there in z.
    double value(const double* at, std::int32_t code, double weight) {
        double half = 0;
        for (size_t k = 0; k < K; ++k) {
            double moved = 0;
            for (size_t l = 0; l < K; ++l) moved += S[k * K + l] * at[l];
            z[k] = start[k] + moved;
            half += 0.5 * at[k] * moved;
        }
        return weight * row_posterior(z, K, static_cast<size_t>(code)) + half;
    }

    // B = A^-1 [r - c, V] at the posteriors in z; returns the slope of `value` along the first column.
    double newton(std::int32_t code, double weight) {
        for (size_t k = 0; k < K; ++k) {
            const bool own = K == 1 ? code == 1 : static_cast<size_t>(code) == k;
            gap[k] = B[k * sides] = weight * ((own ? 1.0 : 0.0) - z[k]) - c[k];
            for (size_t l = 0; l < K; ++l)
                B[k * sides + 1 + l] = weight * (k == l ? z[k] * (1.0 - z[k]) : -z[k] * z[l]);
        }
        for (size_t k = 0; k < K; ++k)
            for (size_t l = 0; l < K; ++l) {
                double sum = k == l ? 1.0 : 0.0;
                for (size_t q = 0; q < K; ++q) sum += B[k * sides + 1 + q] * S[q * K + l];
                A[k * K + l] = sum;
            }
        eliminate(A, B, K, sides);
        double slope = 0;
        for (size_t k = 0; k < K; ++k)
            for (size_t l = 0; l < K; ++l) slope -= gap[k] * S[k * K + l] * B[l * sides];
        return slope;
    }

    // Finds c; returns the loss of the row before it was learned from.
    double solve(Matrix<double> theta, std::int32_t code, double weight) {
        for (size_t k = 0; k < K; ++k) {
            start[k] = c[k] = 0;
            for (size_t j = 0; j < p; ++j) start[k] += theta.row(k)[j] * x[j];
        }
        const double before = value(c, code, weight);
        double here = before;
        for (int round = 0; round < 100; ++round) {
            const double slope = newton(code, weight);
            if (-slope <= 1e-12 * (1.0 + std::abs(here))) {  // rounding hides the fall; the step squares what is left
                for (size_t k = 0; k < K; ++k) c[k] += B[k * sides];
                break;
            }
            double length = 2.0, there = here;
            do {
                length *= 0.5;
                for (size_t k = 0; k < K; ++k) trial[k] = c[k] + length * B[k * sides];
                there = value(trial, code, weight);
            } while (there > here + 1e-4 * length * slope && length > 1e-12);
            if (there > here) break;
            std::copy_n(trial, K, c);
            here = there;
        }
        value(c, code, weight);
        newton(code, weight);
        return before;
    }

    void apply(double* theta, double* P) {
        std::fill_n(moved, K * m, 0.0);
        for (size_t k = 0; k < K; ++k) {
            for (size_t a = 0; a < m; ++a) theta[a] += c[k] * U[k * m + a];
            for (size_t l = 0; l < K; ++l)
                for (size_t a = 0; a < m; ++a) moved[k * m + a] += B[k * sides + 1 + l] * U[l * m + a];
        }
        for (size_t a = 0; a < m; ++a) {
            double* __restrict row = P + a * m;
            for (size_t k = 0; k < K; ++k) {
                const double u = U[k * m + a];
                const double* __restrict v = moved + k * m;
#pragma omp simd
                for (size_t b = a; b < m; ++b) row[b] -= u * v[b];
            }
            for (size_t b = a + 1; b < m; ++b) P[b * m + a] = row[b];  // symmetric to the last bit
        }
    }
};

// Returns the sum of w times the log loss of every row under the weights before it. `trace`, if any, gets theta after
// every row.
template <class T>
double recursive_softmax(Matrix<const T> X, Codes codes, const double* w, const double* shift, Matrix<double> theta,
                         double* P, double* trace, InterruptPoll poll) {
    const size_t d = X.cols;
    RecursiveStep step{theta.rows, d + 1};
    double loss = 0;
    for (size_t i = 0; i < X.rows; ++i) {
        const std::int32_t code = codes(i);
        const double weight = weight_of(w, i);
        if (code >= 0 && weight > 0) {
            for (size_t j = 0; j < d; ++j) step.x[j] = static_cast<double>(X.row(i)[j]) - shift[j];
            step.x[d] = 1.0;
            step.gains(P);
            loss += step.solve(theta, code, weight);
            step.apply(theta.data, P);
            poll(2 * step.K * step.m * step.m);
        }
        if (trace) std::copy_n(theta.data, step.m, trace + i * step.m);
    }
    return loss;
}

}  // namespace lyceum::linear
