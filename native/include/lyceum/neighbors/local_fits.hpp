// Weighted least squares in the neighborhood of every query: a constant, a plane or a parabola through some rows.
//
// With terms t_i = (1, u_i, products of u_i), u_i = x_i - m about the weighted mean m of the neighborhood, and weights
// w_i = count_i * kernel_i, the coefficients solve A b = sum w t y, A = sum w t t'. Weights are taken relative to the
// largest and terms are scaled to a diagonal of 1, so that units do not matter. Cholesky's method solves it where every
// pivot is large; else the rows themselves are decomposed, and where they do not determine all terms the coefficients
// are those of least norm. The value at the query with terms t is t'b = sum l_i y_i, l_i = kernel_i t_i'A^-1 t for
// every repeat of a row, so that its variance is sigma^2 sum count_i l_i^2, and the leverage of a row at the query is
// kernel t'A^-1 t.
// Cost per query of p terms: rows * p^2 for the sums, p^3 / 6 for Cholesky's method, p^2 for every step of a descent.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/ranked_squares.hpp>
#include <lyceum/core/views.hpp>
#include <vector>

namespace lyceum::neighbors {

// Neighbors of query q: those from offsets[q] up to offsets[q + 1].
struct WeightedLists {
    const std::int64_t *offsets, *rows;
    const double* kernel;
    const double* count;  // null: every row counts once
};

struct LocalOutput {
    double *value, *norm, *inverse;  // (queries): the value, sum count l^2, t'A^-1 t
    Matrix<double> gradient;         // (queries, columns)
    std::uint8_t* degenerate;        // (queries): whether the rows do not determine all terms
};

struct Descent {
    std::int64_t steps = 0;  // 0: solve directly
    double rate = 1;         // of the largest step that is certain to descend
    double tolerance = 0;    // stop when no scaled coefficient moves by more, relative to the largest
};

inline size_t local_terms(size_t columns, int degree) {
    return degree == 0 ? 1 : degree == 1 ? 1 + columns : 1 + columns + columns * (columns + 1) / 2;
}

class LocalFits {
public:
    LocalFits(Matrix<const double> X, const double* y, int degree, Descent descent)
        : X_(X),
          y_(y),
          degree_(degree),
          descent_(descent),
          p_(local_terms(X.cols, degree)),
          mean_(X.cols),
          none_(X.cols),
          t_(p_),
          at_(p_),
          A_(p_ * p_),
          L_(p_ * p_),
          b_(p_),
          beta_(p_),
          solved_(p_),
          unit_(p_) {}

    void operator()(Matrix<const double> Q, WeightedLists lists, LocalOutput out, InterruptPoll& poll) {
        for (size_t q = 0; q < Q.rows; ++q) {
            const auto begin = static_cast<size_t>(lists.offsets[q]), end = static_cast<size_t>(lists.offsets[q + 1]);
            one(Q.row(q), lists, begin, end, q, out);
            poll((end - begin) * (p_ * p_ / 2 + 8) + p_ * p_ * p_);
        }
    }

private:
    static constexpr double safe_pivot = 1e-4;  // of the scaled A: what is below is solved from the rows

    void terms(const double* x, double* t) const {
        const size_t d = X_.cols;
        t[0] = 1;
        if (degree_ == 0) return;
        for (size_t j = 0; j < d; ++j) t[1 + j] = (x[j] - origin_[j]) - mean_[j];
        if (degree_ == 1) return;
        double* square = t + 1 + d;
        for (size_t j = 0; j < d; ++j)
            for (size_t k = j; k < d; ++k) *square++ = t[1 + j] * t[1 + k];
    }

    static double weight(const WeightedLists& lists, size_t i) {
        return lists.kernel[i] * (lists.count ? lists.count[i] : 1.);
    }

    // w_i relative to the largest of the neighborhood.
    double share(const WeightedLists& lists, size_t i) const { return weight(lists, i) / heaviest_; }

    void one(const double* x, const WeightedLists& lists, size_t begin, size_t end, size_t q, LocalOutput& out) {
        gather(lists, begin, end);
        terms(x, at_.data());
        scale();
        out.degenerate[q] = solve_all(lists, begin, end);
        if (descent_.steps) descend();
        double value = y_mean_, inverse = 0, norm = 0;  // the value from that of the heaviest row
        for (size_t i = 0; i < p_; ++i) value += at_[i] * beta_[i], inverse += at_[i] * solved_[i];
        for (size_t i = begin; i < end; ++i) {
            terms(X_.row(static_cast<size_t>(lists.rows[i])), t_.data());
            double g = 0;
            for (size_t j = 0; j < p_; ++j) g += t_[j] * solved_[j];
            norm += weight(lists, i) * lists.kernel[i] * g * g;
        }
        out.value[q] = y_origin_ + value, out.inverse[q] = inverse, out.norm[q] = norm;
        slope(out.gradient.row(q));
    }

    // A and b of the neighborhood about its weighted means; targets about theirs, which keeps their digits. Means are
    // those of the differences from the heaviest row: where it has nearly all of the weight, they are small.
    void gather(const WeightedLists& lists, size_t begin, size_t end) {
        const size_t d = X_.cols;
        std::fill(mean_.begin(), mean_.end(), 0.);
        std::fill(A_.begin(), A_.end(), 0.);
        std::fill(b_.begin(), b_.end(), 0.);
        take_origin(lists, begin, end);
        double total = 0;
        y_mean_ = 0;
        for (size_t i = begin; i < end; ++i) {
            const double w = share(lists, i);
            if (!(w > 0)) continue;
            total += w;
            const auto row = static_cast<size_t>(lists.rows[i]);
            for (size_t j = 0; j < d; ++j) mean_[j] += w * (X_.row(row)[j] - origin_[j]);
            y_mean_ += w * (y_[row] - y_origin_);
        }
        for (double& mean : mean_) mean /= total > 0 ? total : 1;
        y_mean_ /= total > 0 ? total : 1;
        for (size_t i = begin; i < end; ++i) {
            const double w = share(lists, i);
            if (!(w > 0)) continue;
            const auto row = static_cast<size_t>(lists.rows[i]);
            terms(X_.row(row), t_.data());
            const double y = target(row);
            for (size_t j = 0; j < p_; ++j) {
                const double wt = w * t_[j];
                b_[j] += wt * y;
                for (size_t k = 0; k <= j; ++k) A_[j * p_ + k] += wt * t_[k];
            }
        }
    }

    void take_origin(const WeightedLists& lists, size_t begin, size_t end) {
        heaviest_ = 0;
        origin_ = none_.data(), y_origin_ = 0;
        for (size_t i = begin; i < end; ++i) {
            const double w = weight(lists, i);
            if (!(w > heaviest_)) continue;
            const auto row = static_cast<size_t>(lists.rows[i]);
            heaviest_ = w, origin_ = X_.row(row), y_origin_ = y_[row];
        }
        if (!(heaviest_ > 0)) heaviest_ = 1;
    }

    // About the mean of the neighborhood.
    double target(size_t row) const { return (y_[row] - y_origin_) - y_mean_; }

    // Units in which the diagonal of A is 1; a term that is 0 in all rows has none, and no coefficient.
    void scale() {
        for (size_t j = 0; j < p_; ++j) {
            const double square = A_[j * p_ + j];
            unit_[j] = square > 0 ? 1 / std::sqrt(square) : 0.;
        }
        for (size_t j = 0; j < p_; ++j)
            for (size_t k = 0; k <= j; ++k) A_[j * p_ + k] *= unit_[j] * unit_[k];
    }

    // beta = A^+ b and solved = A^+ t: whether A is singular.
    bool solve_all(const WeightedLists& lists, size_t begin, size_t end) {
        bool degenerate = false;
        if (cholesky()) {
            solve(b_.data(), beta_.data());
            solve(at_.data(), solved_.data());
        } else {
            decompose(lists, begin, end);
            degenerate = ranked_.rank() < p_;
            ranked_.coefficients(beta_.data());
            for (size_t j = 0; j < p_; ++j) t_[j] = at_[j] * unit_[j];
            ranked_.inverse_times(t_.data(), solved_.data());
            for (size_t j = 0; j < p_; ++j) beta_[j] *= unit_[j], solved_[j] *= unit_[j];
        }
        for (double& value : solved_) value /= heaviest_;
        return degenerate;
    }

    // Cholesky's L of the scaled A: whether every pivot keeps most of its digits.
    bool cholesky() {
        for (size_t j = 0; j < p_; ++j)
            for (size_t i = j; i < p_; ++i) {
                double sum = A_[i * p_ + j];
                for (size_t k = 0; k < j; ++k) sum -= L_[i * p_ + k] * L_[j * p_ + k];
                if (i == j) {
                    if (!(sum > safe_pivot)) return false;
                    L_[j * p_ + j] = std::sqrt(sum);
                } else {
                    L_[i * p_ + j] = sum / L_[j * p_ + j];
                }
            }
        return true;
    }

    // The rows of the neighborhood, times the roots of their weights and in units of the terms, and their targets.
    void decompose(const WeightedLists& lists, size_t begin, size_t end) {
        scaled_rows_.clear();
        for (size_t i = begin; i < end; ++i) {
            const double w = share(lists, i);
            if (!(w > 0)) continue;
            const auto row = static_cast<size_t>(lists.rows[i]);
            const double root = std::sqrt(w);
            terms(X_.row(row), t_.data());
            for (size_t j = 0; j < p_; ++j) scaled_rows_.push_back(root * t_[j] * unit_[j]);
            scaled_rows_.push_back(root * target(row));
        }
        ranked_.factor(scaled_rows_.data(), scaled_rows_.size() / (p_ + 1), p_);
    }

    // out = U (L L')^-1 U right, U the units.
    void solve(const double* right, double* out) const {
        for (size_t i = 0; i < p_; ++i) {
            double sum = right[i] * unit_[i];
            for (size_t k = 0; k < i; ++k) sum -= L_[i * p_ + k] * out[k];
            out[i] = sum / L_[i * p_ + i];
        }
        for (size_t i = p_; i-- > 0;) {
            for (size_t k = i + 1; k < p_; ++k) out[i] -= L_[k * p_ + i] * out[k];
            out[i] /= L_[i * p_ + i];
        }
        for (size_t i = 0; i < p_; ++i) out[i] *= unit_[i];
    }

    // Gradient descent from 0 on the squared error in scaled terms; the trace p bounds the largest eigenvalue.
    void descend() {
        std::vector<double> c(p_), g(p_);
        const double step = descent_.rate / static_cast<double>(p_);
        for (std::int64_t s = 0; s < descent_.steps; ++s) {
            double moved = 0, most = 0;
            for (size_t i = 0; i < p_; ++i) {
                g[i] = b_[i] * unit_[i];
                for (size_t k = 0; k < p_; ++k) g[i] -= A_[std::max(i, k) * p_ + std::min(i, k)] * c[k];
            }
            for (size_t i = 0; i < p_; ++i) {
                c[i] += step * g[i];
                moved = std::max(moved, std::abs(step * g[i])), most = std::max(most, std::abs(c[i]));
            }
            if (moved <= descent_.tolerance * most) break;
        }
        for (size_t i = 0; i < p_; ++i) beta_[i] = c[i] * unit_[i];
    }

    void slope(double* gradient) const {
        const size_t d = X_.cols;
        for (size_t j = 0; j < d; ++j) gradient[j] = degree_ == 0 ? 0. : beta_[1 + j];
        if (degree_ < 2) return;
        size_t term = 1 + d;
        for (size_t j = 0; j < d; ++j)
            for (size_t k = j; k < d; ++k, ++term) {
                gradient[j] += beta_[term] * at_[1 + k];
                gradient[k] += beta_[term] * at_[1 + j];
            }
    }

    Matrix<const double> X_;
    const double* y_;
    int degree_;
    Descent descent_;
    size_t p_;
    double y_mean_ = 0, y_origin_ = 0, heaviest_ = 1;
    const double* origin_ = nullptr;
    std::vector<double> mean_, none_, t_, at_, A_, L_, b_, beta_, solved_, unit_, scaled_rows_;
    RankedSquares ranked_;
};

}  // namespace lyceum::neighbors
