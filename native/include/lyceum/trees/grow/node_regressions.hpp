// The linear models of a model tree: least squares at every node on its own rows and columns, then columns dropped one
// by one. Rows are sorted so that those of a node follow each other. A node costs n v^2 for the products of v columns
// and, where errors are absolute, n v for every drop.
//
// The products, scaled to unit diagonal, are swept (Gauss-Jordan with the pivots on the diagonal): a swept column j is
// in the model; its cell in the last column is its coefficient b_j, A_jj the diagonal of the inverse, and the corner
// what is left of the squares of y. To drop it is to sweep it back, which adds b_j^2 / A_jj to the squares.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/ranked_squares.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::trees {

enum class ModelRule {
    keep_all,  // every column that does not depend on those before it
    m5,        // Quinlan (1992): drop the column that adds least to the squares while (n+v)/(n-v) mean|r| does not rise
    m5_prime,  // as WEKA: drop the smallest standardized coefficient while Akaike's criterion falls
};

struct NodeModel {
    double intercept, weight, absolute, squared;  // absolute = mean |r|, squared = mean r^2
    std::int32_t parameters;                      // with the intercept
};

class NodeFitter {
public:
    // X has one row per column, of n cells; w may be null.
    NodeFitter(const double* X, size_t n, const double* y, const double* w) : X_(X), n_(n), y_(y), w_(w) {}

    // Rows from `first` to `last`; coef has one entry per column, 0 where it is not in the model.
    [[gnu::noinline]] NodeModel fit(size_t first, size_t last, const std::int32_t* columns, size_t v, ModelRule rule,
                                    double* coef) {
        rows_ = last - first, v_ = v;
        std::fill_n(coef, v, 0.0);
        load(first, columns);
        multiply();
        swept_ = scaled_;
        in_.assign(v, false);
        if (scale_[v] > 0)
            for (size_t j = 0; j < v; ++j)
                if (scale_[j] > 0 && at(j, j) > unexplained) sweep(j);
        if (rule == ModelRule::m5) drop_by_error();
        if (rule == ModelRule::m5_prime) drop_by_akaike();
        refit();
        return finish(coef);
    }

    size_t work() const { return rows_ * (v_ + 1) * (v_ + 2); }

private:
    static constexpr double even = 1e-9;    // errors closer than this share of sd(y) are the same
    static constexpr double exact = 1e-14;  // squares below this share of those of y are rounding

    double& at(size_t j, size_t k) { return swept_[j * (v_ + 1) + k]; }
    const double* column(size_t j) const { return centered_.data() + j * rows_; }
    size_t in_model() const { return static_cast<size_t>(std::count(in_.begin(), in_.end(), true)); }
    double b(size_t j) { return at(j, v_); }  // of columns and y of unit length

    // sqrt(w) (x - mean) of every column, y last.
    void load(size_t first, const std::int32_t* columns) {
        centered_.resize((v_ + 1) * rows_), mean_.resize(v_ + 1), root_.resize(w_ ? rows_ : 0);
        weight_ = static_cast<double>(rows_);
        if (w_) {
            weight_ = 0;
            for (size_t i = 0; i < rows_; ++i) weight_ += w_[first + i], root_[i] = std::sqrt(w_[first + i]);
        }
        for (size_t j = 0; j <= v_; ++j) {
            const double* x = (j < v_ ? X_ + static_cast<size_t>(columns[j]) * n_ : y_) + first;
            center(x, w_ ? w_ + first : nullptr, j);
        }
    }

    void center(const double* __restrict x, const double* __restrict w, size_t j) {
        double* __restrict z = centered_.data() + j * rows_;
        double sum = 0;
        if (w) {
#pragma omp simd reduction(+ : sum)
            for (size_t i = 0; i < rows_; ++i) sum += w[i] * x[i];
        } else {
#pragma omp simd reduction(+ : sum)
            for (size_t i = 0; i < rows_; ++i) sum += x[i];
        }
        const double mean = mean_[j] = sum / weight_;
        if (w)
            for (size_t i = 0; i < rows_; ++i) z[i] = root_[i] * (x[i] - mean);
        else
            for (size_t i = 0; i < rows_; ++i) z[i] = x[i] - mean;
    }

    // Products in tiles of rows that stay in the cache, then scaled; a column that does not vary has scale 0.
    void multiply() {
        constexpr size_t tile = 512;
        const size_t m = v_ + 1;
        scaled_.assign(m * m, 0.0), scale_.resize(m);
        for (size_t from = 0; from < rows_; from += tile) {
            const size_t count = std::min(tile, rows_ - from);
            for (size_t j = 0; j < m; ++j)
                for (size_t k = 0; k <= j; ++k) scaled_[j * m + k] += dot(column(j) + from, column(k) + from, count);
        }
        for (size_t j = 0; j < m; ++j) {
            const double square = scaled_[j * m + j], rounding = 1e-13 * mean_[j];
            scale_[j] = square > weight_ * rounding * rounding ? std::sqrt(square) : 0.0;
        }
        for (size_t j = 0; j < m; ++j)
            for (size_t k = 0; k <= j; ++k) {
                const double scale = scale_[j] * scale_[k];
                scaled_[j * m + k] = scaled_[k * m + j] = j == k ? 1.0 : scale > 0 ? scaled_[j * m + k] / scale : 0.0;
            }
    }

    static double dot(const double* __restrict a, const double* __restrict b, size_t count) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < count; ++i) sum += a[i] * b[i];
        return sum;
    }

    // In: A_kl -= A_kj A_jl / A_jj, column j becomes A_kj / A_jj with the sign that keeps b_j in the last column.
    // Back: the same with the sign changed. A_jj becomes 1 / A_jj, so that it is the diagonal of the inverse.
    void sweep(size_t j) {
        const size_t m = v_ + 1;
        const double pivot = at(j, j);
        row_.assign(&at(j, 0), &at(j, 0) + m);
        held_.resize(m);
        for (size_t k = 0; k < m; ++k) held_[k] = at(k, j);
        for (size_t k = 0; k < m; ++k) {
            if (k == j) continue;
            const double share = held_[k] / pivot;
            double* __restrict to = &at(k, 0);
            const double* __restrict from = row_.data();
            for (size_t l = 0; l < m; ++l) to[l] -= share * from[l];
            at(k, j) = -share;
        }
        for (size_t l = 0; l < m; ++l) at(j, l) = row_[l] / pivot;
        at(j, j) = 1 / pivot;
        in_[j] = !in_[j];
    }

    double left() { return std::max(at(v_, v_), exact); }  // share of the squares of y

    // r sqrt(w), by the model as it is swept
    void residuals() {
        residual_.assign(column(v_), column(v_) + rows_);
        for (size_t j = 0; j < v_; ++j) {
            if (!in_[j]) continue;
            const double step = b(j) * scale_[v_] / scale_[j];
            const double* __restrict z = column(j);
            double* __restrict r = residual_.data();
#pragma omp simd
            for (size_t i = 0; i < rows_; ++i) r[i] -= step * z[i];
        }
    }

    double mean_absolute() {
        double sum = 0;
        if (w_)
            for (size_t i = 0; i < rows_; ++i) sum += root_[i] * std::abs(residual_[i]);
        else
            for (size_t i = 0; i < rows_; ++i) sum += std::abs(residual_[i]);
        return sum / weight_;
    }

    // No model has as many parameters as there are rows.
    bool too_many() const { return static_cast<double>(in_model() + 1) >= weight_ && in_model() > 0; }

    double estimate() {
        if (too_many()) return HUGE_VAL;
        residuals();
        const double v = static_cast<double>(in_model() + 1);
        return mean_absolute() * (weight_ > v ? (weight_ + v) / (weight_ - v) : 10.0);
    }

    void drop_by_error() {
        const double tie = even * scale_[v_] / std::sqrt(weight_);
        double error = estimate();
        while (in_model() > 0) {
            const size_t out = weakest([this](size_t j) { return b(j) * b(j) / at(j, j); });
            const auto before = swept_;
            sweep(out);
            const double less = estimate();
            if (less > error + tie) {
                swept_ = before, in_[out] = true;
                return;
            }
            error = less;
        }
    }

    void drop_by_akaike() {
        while (in_model() > 0) {
            const size_t most = weakest([this](size_t j) { return -std::abs(b(j)); });
            if (!(std::abs(b(most)) > 1.5)) break;  // M5' takes so large a standardized coefficient for collinearity
            sweep(most);
        }
        while (too_many()) sweep(weakest([this](size_t j) { return std::abs(b(j)); }));
        const double v = static_cast<double>(in_model() + 1), full = left();
        double best = weight_ + v;
        for (double fewer = v - 1; in_model() > 0; --fewer) {
            const size_t out = weakest([this](size_t j) { return std::abs(b(j)); });
            const auto before = swept_;
            sweep(out);
            const double score = left() / full * (weight_ - v) + 2 * fewer;
            if (!(score < best)) {
                swept_ = before, in_[out] = true;
                return;
            }
            best = score;
        }
    }

    template <class Size>
    size_t weakest(Size size) {
        size_t found = v_;
        double least = HUGE_VAL;
        for (size_t j = 0; j < v_; ++j)
            if (in_[j]) {
                const double here = size(j);
                if (found == v_ || here < least) least = here, found = j;
            }
        return found;
    }

    // Afresh on the columns that stayed: sweeping in and out leaves rounding behind.
    void refit() {
        const auto chosen = in_;
        swept_ = scaled_;
        in_.assign(v_, false);
        for (size_t j = 0; j < v_; ++j)
            if (chosen[j]) sweep(j);
    }

    NodeModel finish(double* coef) {
        residuals();
        NodeModel model{mean_[v_], weight_, mean_absolute(), 0.0, static_cast<std::int32_t>(in_model() + 1)};
        model.squared = dot(residual_.data(), residual_.data(), rows_) / weight_;
        for (size_t j = 0; j < v_; ++j)
            if (in_[j]) {
                coef[j] = b(j) * scale_[v_] / scale_[j];
                model.intercept -= coef[j] * mean_[j];
            }
        return model;
    }

    const double* X_;
    size_t n_;
    const double *y_, *w_;
    size_t rows_ = 0, v_ = 0;
    double weight_ = 0;
    std::vector<double> centered_, mean_, root_, scale_, scaled_, swept_, row_, held_, residual_;
    std::vector<bool> in_;
};

}  // namespace lyceum::trees
