// Scatter of every class about its own mean: S_k = sum_{i in k} w_i (x_i - m_k)(x_i - m_k)', or their sum when pooled.
// The rows are sorted by class (a counting sort of row numbers), then each class goes through `centered_scatter`.
// Cost: n d^2 / 2 multiply-adds and K d^2.
#pragma once
#include <limits>

#include <lyceum/moments/scatter.hpp>

namespace lyceum::moments {

// Row numbers in order of class; class k occupies [start[k], start[k+1]). Unlabeled rows are left out.
inline void sort_by_class(Codes codes, size_t n, std::int32_t* order, size_t* start) {
    std::fill_n(start, codes.classes + 2, size_t{0});
    for (size_t i = 0; i < n; ++i)
        if (const auto k = codes(i); k >= 0) ++start[k + 2];
    for (size_t k = 2; k < codes.classes + 2; ++k) start[k] += start[k - 1];
    for (size_t i = 0; i < n; ++i)
        if (const auto k = codes(i); k >= 0) order[start[k + 1]++] = static_cast<std::int32_t>(i);
}

template <class T>
void class_scatter(Matrix<const T> X, Codes codes, const double* w, double* weight, double* mean, double* S,
                   bool pooled, InterruptPoll poll) {
    if (X.rows > static_cast<size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::invalid_argument("class_scatter takes at most 2**31 - 1 rows per block");
    const size_t d = X.cols;
    auto* order = scratch<struct ClassOrder, std::int32_t>(X.rows);
    auto* start = scratch<struct ClassStart, size_t>(codes.classes + 2);
    sort_by_class(codes, X.rows, order, start);
    for (size_t k = 0; k < codes.classes; ++k) {
        double* Sk = pooled ? S : S + k * d * d;
        const Sample<T> sample{X, {nullptr, X.rows, 0}, w, order + start[k], start[k + 1] - start[k]};
        weight[k] = centered_scatter(sample, mean + k * d, poll, [=](size_t a, size_t b, double value) {
            Sk[a * d + b] = pooled ? Sk[a * d + b] + value : value;
            if (a != b) Sk[b * d + a] = Sk[a * d + b];
        });
    }
}

}  // namespace lyceum::moments
