// Rows of a CSR matrix: the logistic loss over them, and their Gram matrix.
#pragma once
#include <algorithm>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>
#include <lyceum/linear/logistic_loss.hpp>

namespace lyceum::linear {

template <class T>
struct Csr {
    const std::int32_t *indptr, *indices;
    const T* data;
    size_t rows, cols;
};

// upper += scale x'x for one sparse row x, an entry for each pair of its cells in the order they stand.
template <class T>
inline void add_pairs(const std::int32_t* indices, const T* data, size_t count, double scale, size_t wide,
                      double* upper) {
    for (size_t a = 0; a < count; ++a) {
        const double x = scale * static_cast<double>(data[a]);
        double* row = upper + static_cast<size_t>(indices[a]) * wide;
        for (size_t b = a; b < count; ++b) row[indices[b]] += x * static_cast<double>(data[b]);
    }
}

// What add_pairs left on either side of the diagonal, on both.
inline void mirror(const double* upper, size_t size, double* out) {
    for (size_t i = 0; i < size; ++i)
        for (size_t j = 0; j <= i; ++j) {
            const double value = i == j ? upper[i * size + i] : upper[i * size + j] + upper[j * size + i];
            out[i * size + j] += value;
            if (i != j) out[j * size + i] += value;
        }
}

// gram += sum w x'x. Cost: the sum of squared row lengths, halved.
template <class T>
void sparse_gram(Csr<T> X, const double* w, double* gram, InterruptPoll poll) {
    double* upper = zeroed<struct SparseGram, double>(X.cols * X.cols);
    for (size_t i = 0; i < X.rows; ++i) {
        const size_t begin = X.indptr[i], count = X.indptr[i + 1] - begin;
        add_pairs(X.indices + begin, X.data + begin, count, weight_of(w, i), X.cols, upper);
        poll(count * count * 4);
    }
    mirror(upper, X.cols, gram);
}

// The binary logistic loss of logistic.hpp over sparse rows, with the design [x, 1].
template <class T>
double sparse_logistic(Csr<T> X, const double* y, const double* w, const double* coef, double* gradient,
                       double* hessian, InterruptPoll poll) {
    const size_t d = X.cols, p = d + 1;
    double* upper = hessian ? zeroed<struct SparseHessian, double>(p * p) : nullptr;
    double loss = 0;
    for (size_t begin = 0; begin < X.rows; begin += tile_rows) {
        const size_t count = std::min(tile_rows, X.rows - begin);
        LogisticRows rows{};
        for (size_t r = 0; r < count; ++r) {
            rows.y[r] = y[begin + r], rows.w[r] = weight_of(w, begin + r);
            double z = coef[d];
            for (auto e = X.indptr[begin + r]; e < X.indptr[begin + r + 1]; ++e)
                z += static_cast<double>(X.data[e]) * coef[X.indices[e]];
            rows.z[r] = z;
        }
        loss += rows.finish();
        for (size_t r = 0; r < count; ++r) {
            const size_t from = X.indptr[begin + r], stored = X.indptr[begin + r + 1] - from;
            const double residual = rows.residual[r], curvature = rows.root[r] * rows.root[r];
            gradient[d] += residual;
            for (size_t e = from; e < from + stored; ++e) {
                const double x = static_cast<double>(X.data[e]);
                gradient[X.indices[e]] += residual * x;
                if (upper) upper[static_cast<size_t>(X.indices[e]) * p + d] += curvature * x;
            }
            if (!upper) continue;
            upper[d * p + d] += curvature;
            add_pairs(X.indices + from, X.data + from, stored, curvature, p, upper);
            poll(stored * stored * 4);
        }
        poll(count * 64);
    }
    if (upper) mirror(upper, p, hessian);
    return loss;
}

}  // namespace lyceum::linear
