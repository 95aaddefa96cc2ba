// Small least squares with their rank: the b of least norm with |M b - y| least, for M whose columns have unit length
// (or are zero) and may depend on each other.
//
// M = Q R by Householder's reflections, and J R has rows s_j v_j' at right angles by Jacobi's rotations J, so that
// s and v are the singular values and vectors of M, without the squares of M'M. Directions with
// s_j^2 <= unexplained max s^2 are null: which they are depends neither on the order of columns nor on the scale of
// weights. With c = J Q'y,  b = sum v_j c_j / s_j  and  (M'M)^+ t = sum v_j (v_j't) / s_j^2.
// Cost: 2 n p^2 for the reflections, some 8 sweeps of 3 k^2 p for the rotations, k = min(n, p).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace lyceum {

// A column depends on others if this part of its squares or less is its own. Of what is below, sums of doubles keep
// less than half of their digits, and the answer would be that of the order in which they were added.
inline constexpr double unexplained = 1e-8;

class RankedSquares {
public:
    // M has n rows of p columns, and of y behind them; it is overwritten.
    void factor(double* M, size_t n, size_t p) {
        M_ = M, p_ = p, k_ = std::min(n, p);
        reflect(n);
        for (int sweep = 0; sweep < most_sweeps && rotate_all(); ++sweep) {
        }
        judge();
    }

    size_t rank() const { return rank_; }

    // The coefficients of least norm.
    void coefficients(double* b) const {
        std::fill_n(b, p_, 0.);
        for (size_t j = 0; j < k_; ++j)
            if (squares_[j] > 0) add(b, j, row(j)[p_] / squares_[j]);
    }

    // out = (M'M)^+ t.
    void inverse_times(const double* t, double* out) const {
        std::fill_n(out, p_, 0.);
        for (size_t j = 0; j < k_; ++j)
            if (squares_[j] > 0) add(out, j, dot(row(j), t) / squares_[j] / squares_[j]);
    }

private:
    static constexpr int most_sweeps = 40;
    static constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();

    double* row(size_t j) const { return M_ + j * (p_ + 1); }

    double dot(const double* a, const double* b) const {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < p_; ++i) sum += a[i] * b[i];
        return sum;
    }

    void add(double* out, size_t j, double factor) const {
        for (size_t i = 0; i < p_; ++i) out[i] += factor * row(j)[i];
    }

    // Householder's reflections: R, with zeros below, and Q'y in the last column.
    void reflect(size_t n) {
        products_.resize(p_ + 1);
        for (size_t j = 0; j < p_ && j + 1 < n; ++j) {
            double square = 0;
            for (size_t i = j; i < n; ++i) square += row(i)[j] * row(i)[j];
            if (!(square > 0)) continue;
            const double head = row(j)[j], length = head > 0 ? -std::sqrt(square) : std::sqrt(square);
            const double first = head - length, share = -1 / (length * first);
            row(j)[j] = first;
            std::fill(products_.begin(), products_.end(), 0.);
            for (size_t i = j; i < n; ++i)
                for (size_t l = j + 1; l <= p_; ++l) products_[l] += row(i)[j] * row(i)[l];
            for (size_t i = j; i < n; ++i) {
                const double step = share * row(i)[j];
                for (size_t l = j + 1; l <= p_; ++l) row(i)[l] -= step * products_[l];
                row(i)[j] = 0;
            }
            row(j)[j] = length;
        }
    }

    // One sweep of Jacobi's rotations over all pairs of rows of R: whether a pair was not yet at right angles.
    bool rotate_all() {
        double largest = 0;
        for (size_t j = 0; j < k_; ++j) largest = std::max(largest, dot(row(j), row(j)));
        const double nothing = largest * rounding * rounding;
        bool rotated = false;
        for (size_t i = 0; i + 1 < k_; ++i)
            for (size_t j = i + 1; j < k_; ++j) {
                const double a = dot(row(i), row(i)), b = dot(row(j), row(j)), product = dot(row(i), row(j));
                if (!(std::abs(product) > rounding * std::sqrt(a * b)) || std::min(a, b) <= nothing) continue;
                const double slope = (b - a) / (2 * product);
                const double tangent = (slope < 0 ? -1 : 1) / (std::abs(slope) + std::sqrt(1 + slope * slope));
                const double cosine = 1 / std::sqrt(1 + tangent * tangent);
                turn(row(i), row(j), cosine, cosine * tangent);
                rotated = true;
            }
        return rotated;
    }

    void turn(double* __restrict a, double* __restrict b, double cosine, double sine) const {
        for (size_t i = 0; i <= p_; ++i) {
            const double x = a[i], y = b[i];
            a[i] = cosine * x - sine * y;
            b[i] = sine * x + cosine * y;
        }
    }

    // s_j^2, 0 where the direction is null.
    void judge() {
        squares_.resize(k_);
        for (size_t j = 0; j < k_; ++j) squares_[j] = dot(row(j), row(j));
        const double largest = k_ ? *std::max_element(squares_.begin(), squares_.end()) : 0.;
        rank_ = 0;
        for (double& square : squares_) {
            if (square > unexplained * largest)
                ++rank_;
            else
                square = 0;
        }
    }

    double* M_ = nullptr;  // the caller's, which must stay
    size_t p_ = 0, k_ = 0, rank_ = 0;
    std::vector<double> products_, squares_;
};

}  // namespace lyceum
