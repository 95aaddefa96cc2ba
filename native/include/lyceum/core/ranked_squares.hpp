// Small least squares with their rank: the b of least norm with |M b - y| least, for M whose columns have unit length
// (or are zero) and may depend on each other.
//
// M = Q R by Householder's reflections and R V = W with orthogonal columns of lengths s_j by Jacobi's rotations, so
// that M = (Q W / s) s V' is the singular value decomposition, without the squares of M'M. Directions with s_j <=
// sqrt(unexplained) max s are null: which they are does not depend on the order of columns, nor on the scale of
// weights. With c = Q'y,  b = sum v_j (w_j'c) / s_j^2  and  (M'M)^+ t = sum v_j (v_j't) / s_j^2.
// Cost: 2 n p^2 for the reflections, some 8 sweeps of 3 p^3 for the rotations.
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
        p_ = p, k_ = std::min(n, p);
        reflect(M, n);
        columns_.assign(p * k_, 0.), c_.assign(k_, 0.), V_.assign(p * p, 0.);
        for (size_t i = 0; i < k_; ++i) {
            c_[i] = M[i * (p + 1) + p];
            for (size_t j = i; j < p; ++j) columns_[j * k_ + i] = M[i * (p + 1) + j];
        }
        for (size_t j = 0; j < p; ++j) V_[j * p + j] = 1;
        for (int sweep = 0; sweep < most_sweeps && rotate_all(); ++sweep) {
        }
        judge();
    }

    size_t rank() const { return rank_; }

    // The coefficients of least norm.
    void coefficients(double* b) const {
        std::fill_n(b, p_, 0.);
        for (size_t j = 0; j < p_; ++j)
            if (squares_[j] > 0) add(b, j, dot(column(j), c_.data(), k_) / squares_[j]);
    }

    // out = (M'M)^+ t.
    void inverse_times(const double* t, double* out) const {
        std::fill_n(out, p_, 0.);
        for (size_t j = 0; j < p_; ++j)
            if (squares_[j] > 0) add(out, j, dot(direction(j), t, p_) / squares_[j]);
    }

private:
    static constexpr int most_sweeps = 40;
    static constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();

    // Column j of R V, and of V.
    double* column(size_t j) { return columns_.data() + j * k_; }
    double* direction(size_t j) { return V_.data() + j * p_; }
    const double* column(size_t j) const { return columns_.data() + j * k_; }
    const double* direction(size_t j) const { return V_.data() + j * p_; }

    static double dot(const double* a, const double* b, size_t count) {
        double sum = 0;
        for (size_t i = 0; i < count; ++i) sum += a[i] * b[i];
        return sum;
    }

    void add(double* out, size_t j, double factor) const {
        for (size_t i = 0; i < p_; ++i) out[i] += factor * direction(j)[i];
    }

    // Householder's reflections, row by row of M: R above the diagonal, Q'y in the last column.
    void reflect(double* M, size_t n) {
        const size_t m = p_ + 1;
        products_.resize(m);
        for (size_t j = 0; j < std::min(k_, n - 1); ++j) {
            double square = 0;
            for (size_t i = j; i < n; ++i) square += M[i * m + j] * M[i * m + j];
            if (!(square > 0)) continue;
            const double head = M[j * m + j], length = head > 0 ? -std::sqrt(square) : std::sqrt(square);
            const double first = head - length, share = -1 / (length * first);
            M[j * m + j] = first;
            std::fill(products_.begin(), products_.end(), 0.);
            for (size_t i = j; i < n; ++i)
                for (size_t l = j + 1; l < m; ++l) products_[l] += M[i * m + j] * M[i * m + l];
            for (size_t i = j; i < n; ++i) {
                const double step = share * M[i * m + j];
                for (size_t l = j + 1; l < m; ++l) M[i * m + l] -= step * products_[l];
            }
            M[j * m + j] = length;
        }
    }

    // One sweep of Jacobi's rotations over all pairs of columns: whether a pair was not yet orthogonal. The sign of
    // the smaller angle keeps columns near their place.
    bool rotate_all() {
        double largest = 0;
        for (size_t j = 0; j < p_; ++j) largest = std::max(largest, length_squared(j));
        const double nothing = largest * rounding * rounding;
        bool rotated = false;
        for (size_t i = 0; i + 1 < p_; ++i)
            for (size_t j = i + 1; j < p_; ++j) {
                const double a = length_squared(i), b = length_squared(j);
                const double product = dot(column(i), column(j), k_);
                if (!(std::abs(product) > rounding * std::sqrt(a * b)) || std::min(a, b) <= nothing) continue;
                const double slope = (b - a) / (2 * product);
                const double tangent = (slope < 0 ? -1 : 1) / (std::abs(slope) + std::sqrt(1 + slope * slope));
                const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
                turn(column(i), column(j), k_, cosine, sine);
                turn(direction(i), direction(j), p_, cosine, sine);
                rotated = true;
            }
        return rotated;
    }

    double length_squared(size_t j) const { return dot(column(j), column(j), k_); }

    static void turn(double* a, double* b, size_t count, double cosine, double sine) {
        for (size_t i = 0; i < count; ++i) {
            const double x = a[i], y = b[i];
            a[i] = cosine * x - sine * y;
            b[i] = sine * x + cosine * y;
        }
    }

    // s_j^2, 0 where the direction is null.
    void judge() {
        squares_.resize(p_);
        for (size_t j = 0; j < p_; ++j) squares_[j] = length_squared(j);
        const double level = unexplained * (p_ ? *std::max_element(squares_.begin(), squares_.end()) : 0.);
        rank_ = 0;
        for (double& square : squares_) {
            if (square > level)
                ++rank_;
            else
                square = 0;
        }
    }

    size_t p_ = 0, k_ = 0, rank_ = 0;
    std::vector<double> columns_, V_, c_, products_, squares_;  // columns of R V, and V, one after another
};

}  // namespace lyceum
