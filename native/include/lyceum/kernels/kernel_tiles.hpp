// Gram matrices and weighted sums of kernel values. A panel of 64 rows of Y is packed once, column by column; products
// with 32 rows of X at a time stay in the first cache, where the kernel function turns them into values. Sums need no
// room for the matrix. Cost: rows * rows * (columns multiply-adds and one kernel function).
#pragma once
#include <algorithm>
#include <lyceum/core/any_call.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/matrix_product.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/thread_team.hpp>
#include <vector>

namespace lyceum::kernels {

inline constexpr size_t panel_rows = 64, chunk_rows = 32;

template <class T>
std::vector<T> square_lengths(Matrix<const T> X) {
    std::vector<T> squares(X.rows);
    for (size_t i = 0; i < X.rows; ++i) {
        T sum{};
        const T* x = X.row(i);
        for (size_t j = 0; j < X.cols; ++j) sum += x[j] * x[j];
        squares[i] = sum;
    }
    return squares;
}

// Turns products of `rows` rows of X with the rows of a panel into values, given the squared lengths of both.
template <class T>
using TurnProducts = AnyCall<void(T* values, size_t rows, const T* x_squares, const T* panel_squares)>;

template <class T, class Kernel>
auto turn_by(const Kernel& kernel) {
    return [&kernel](T* values, size_t rows, const T* x_squares, const T* panel_squares) {
        const Kernel in_registers = kernel;
        for (size_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
            for (size_t r = 0; r < panel_rows; r += lanes<T>) {
                T* at = values + i * panel_rows + r;
                store(at, in_registers(load(at), x_squares[i], load(panel_squares + r)));
            }
    };
}

// The values of some rows of X with the rows of one panel.
template <class T>
class Panel {
public:
    Panel(TurnProducts<T> kernel, Matrix<const T> Y, size_t begin) : kernel_(kernel), d_(Y.cols) {
        count = std::min(panel_rows, Y.rows - begin);
        packed_ = scratch<struct PanelCells, T>(panel_rows * d_ + panel_rows);
        values = scratch<struct PanelValues, T>(panel_rows * chunk_rows);
        squares_ = packed_ + panel_rows * d_;
        std::fill_n(packed_, panel_rows * d_ + panel_rows, T{});
        for (size_t r = 0; r < count; ++r) {
            const T* y = Y.row(begin + r);
            T sum{};
            for (size_t j = 0; j < d_; ++j) {
                packed_[j * panel_rows + r] = y[j];
                sum += y[j] * y[j];
            }
            squares_[r] = sum;
        }
    }

    // values[i, r] for rows first ... first + rows - 1 of X
    void operator()(Matrix<const T> X, const T* x_squares, size_t first, size_t rows) {
        product<T>({X.row(first), d_, 1}, rows, packed_, panel_rows, d_, panel_rows, nullptr, values, panel_rows);
        kernel_(values, rows, x_squares + first, squares_);
    }

    T* values;
    size_t count;

private:
    TurnProducts<T> kernel_;
    size_t d_;
    T *packed_, *squares_;
};

// work(panel) for all panels of `rows` rows, some at a time between polls.
template <class Work>
void over_panels(size_t rows, size_t cost, size_t threads, InterruptPoll poll, const Work& work) {
    const size_t panels = (rows + panel_rows - 1) / panel_rows;
    const size_t enough = std::max<size_t>(1, panels * cost >> 20);
    ThreadTeam team(std::min({threads, panels, enough}));
    const size_t some = std::max<size_t>(4 * team.size(), (size_t{1} << 25) / std::max<size_t>(1, cost));
    for (size_t begin = 0; begin < panels; begin += some) {
        const size_t count = std::min(some, panels - begin);
        team(count, [&](size_t task) { work((begin + task) * panel_rows); });
        poll(count * cost);
    }
}

// out[i, j] = k(x_i, y_j); with `same` Y is X, and the matrix is symmetric to the last bit.
template <class T>
[[gnu::noipa]] void gram(TurnProducts<T> kernel, Matrix<const T> X, Matrix<const T> Y, bool same, T* out,
                         size_t threads, InterruptPoll poll) {
    const std::vector<T> squares = square_lengths(X);
    const size_t n = X.rows, m = Y.rows;
    over_panels(m, n * panel_rows * (X.cols + 16) / (same ? 2 : 1), threads, poll, [&](size_t begin) {
        Panel<T> panel(kernel, Y, begin);
        const size_t last = same ? std::min(n, begin + panel.count) : n;
        for (size_t first = 0; first < last; first += chunk_rows) {
            const size_t rows = std::min(chunk_rows, last - first);
            panel(X, squares.data(), first, rows);
            const bool crossing = same && first + rows > begin;  // the tile holds a part of the diagonal
            for (size_t i = 0; i < rows && !crossing; ++i)
                std::copy_n(panel.values + i * panel_rows, panel.count, out + (first + i) * m + begin);
            for (size_t r = 0; r < panel.count && same; ++r)
                for (size_t i = 0; i < rows && first + i <= begin + r; ++i)
                    out[(begin + r) * m + first + i] = panel.values[i * panel_rows + r];
            for (size_t i = 0; i < rows && crossing; ++i)
                for (size_t r = first + i > begin ? first + i - begin : 0; r < panel.count; ++r)
                    out[(first + i) * m + begin + r] = panel.values[i * panel_rows + r];
        }
    });
}

// out[j, c] += sum_i coef[i, c] k(x_i, y_j), in the order of i: in T over 32 rows, then in double.
template <class T>
[[gnu::noipa]] void kernel_sums(TurnProducts<T> kernel, Matrix<const T> X, Matrix<const double> coef, Matrix<const T> Y,
                                double* out, size_t threads, InterruptPoll poll) {
    const std::vector<T> squares = square_lengths(X);
    const std::vector<T> weights(coef.data, coef.end());
    const size_t n = X.rows, outputs = coef.cols;
    over_panels(Y.rows, n * panel_rows * (X.cols + 16 + outputs), threads, poll, [&](size_t begin) {
        Panel<T> panel(kernel, Y, begin);
        for (size_t first = 0; first < n; first += chunk_rows) {
            const size_t rows = std::min(chunk_rows, n - first);
            panel(X, squares.data(), first, rows);
            for (size_t c = 0; c < outputs; ++c) {
                alignas(64) T sums[panel_rows] = {};
                for (size_t i = 0; i < rows; ++i) {
                    const T weight = weights[(first + i) * outputs + c];
                    if (weight == T{0}) continue;
                    for (size_t r = 0; r < panel_rows; ++r) sums[r] += weight * panel.values[i * panel_rows + r];
                }
                for (size_t r = 0; r < panel.count; ++r) out[(begin + r) * outputs + c] += static_cast<double>(sums[r]);
            }
        }
    });
}

// Rows of Y that are compared with X as it is: a panel would take as long for one of them as for 64.
inline constexpr size_t few_rows = 4;

// The sum of x_j y_j, or of (x_j - y_j)^2, in vectors.
template <bool differences, class T>
inline T fold_cells(const T* x, const T* y, size_t d) {
    constexpr size_t L = lanes<T>;
    const auto term = [](auto a, auto b) {
        if constexpr (differences)
            return (a - b) * (a - b);
        else
            return a * b;
    };
    Vec<T> sums[4] = {};
    size_t j = 0;
    for (; j + 4 * L <= d; j += 4 * L)
#pragma GCC unroll 4
        for (size_t v = 0; v < 4; ++v) sums[v] += term(load(x + j + v * L), load(y + j + v * L));
    for (; j + L <= d; j += L) sums[0] += term(load(x + j), load(y + j));
    T sum = sum_lanes<T>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; j < d; ++j) sum += term(x[j], y[j]);
    return sum;
}

// kernel_sums for few rows of Y; a kernel of distances is given squared differences in place of squared lengths.
template <bool differences, class T>
[[gnu::noipa]] void kernel_sums_of_few(TurnProducts<T> kernel, Matrix<const T> X, Matrix<const double> coef,
                                       Matrix<const T> Y, double* out) {
    const size_t n = X.rows, outputs = coef.cols, padded = (n + panel_rows - 1) / panel_rows * panel_rows;
    T* values = scratch<struct FewValues, T>(2 * padded);
    T* squares = values + padded;
    const T none{};
    for (size_t r = 0; r < Y.rows; ++r) {
        std::fill_n(values, 2 * padded, T{});
        T* folded = differences ? squares : values;
        for (size_t i = 0; i < n; ++i) folded[i] = fold_cells<differences>(X.row(i), Y.row(r), X.cols);
        for (size_t i = 0; i < padded; i += panel_rows) kernel(values + i, 1, &none, squares + i);
        for (size_t i = 0; i < n; ++i)
            for (size_t c = 0; c < outputs; ++c)
                out[r * outputs + c] += coef.row(i)[c] * static_cast<double>(values[i]);
    }
}

// Products in place of kernel values: for rows whose products come from elsewhere, e.g. sparse ones.
template <class T, class Kernel>
void from_products(const Kernel& kernel, Matrix<T> products, const T* x_squares, const T* y_squares) {
    constexpr size_t L = lanes<T>;
    for (size_t i = 0; i < products.rows; ++i) {
        T* row = products.row(i);
        size_t j = 0;
        for (; j + L <= products.cols; j += L) store(row + j, kernel(load(row + j), x_squares[i], load(y_squares + j)));
        if (j == products.cols) continue;
        alignas(64) T last[L] = {}, squares[L] = {};
        std::copy(row + j, row + products.cols, last);
        std::copy(y_squares + j, y_squares + products.cols, squares);
        store(last, kernel(load(last), x_squares[i], load(squares)));
        std::copy_n(last, products.cols - j, row + j);
    }
}

}  // namespace lyceum::kernels
