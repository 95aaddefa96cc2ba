// One-of-C design. Column j with size[j] = 0 is copied to out[:, start[j]]; otherwise its code c becomes size[j]
// columns of zeros with a one at start[j] + c - first[j], if that is inside; a NaN code makes them NaN. Cost: n m
// writes.
#pragma once
#include <algorithm>
#include <type_traits>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::rows {

struct Design {
    const std::int32_t *start, *size, *first;  // (d,)
};

template <class T, class U>
inline void expand_code(T x, std::int32_t size, std::int32_t first, U* out) {
    if constexpr (std::is_floating_point_v<T>) {
        std::fill_n(out, size, x == x ? U{0} : std::numeric_limits<U>::quiet_NaN());
        if (x >= static_cast<T>(first) && x - static_cast<T>(first) < static_cast<T>(size))
            out[static_cast<std::int64_t>(x) - first] = U{1};
    } else {
        std::fill_n(out, size, U{0});
        const auto c = static_cast<std::int64_t>(x);
        if (c >= first && c - first < size) out[c - first] = U{1};
    }
}

template <class T, class U>
void expand(Matrix<const T> X, Design design, Matrix<U> out, InterruptPoll poll) {
    for (size_t i = 0; i < X.rows; ++i) {
        const T* x = X.row(i);
        U* to = out.row(i);
        for (size_t j = 0; j < X.cols; ++j) {
            if (design.size[j] == 0)
                to[design.start[j]] = static_cast<U>(x[j]);
            else
                expand_code(x[j], design.size[j], design.first[j], to + design.start[j]);
        }
        poll(X.cols * 8 + out.cols);
    }
}

// The one-of-C design as CSR: a number is always stored, a category only where it is one. `indices` and
// `data` have room for a cell per column; returns how many are used. A NaN code is stored as NaN in its first column.
template <class T, class U>
size_t expand_sparse(Matrix<const T> X, Design design, std::int32_t* indptr, std::int32_t* indices, U* data) {
    size_t used = 0;
    indptr[0] = 0;
    for (size_t i = 0; i < X.rows; ++i) {
        const T* x = X.row(i);
        for (size_t j = 0; j < X.cols; ++j) {
            const std::int32_t size = design.size[j];
            const double code = static_cast<double>(x[j]) - design.first[j];
            if (size == 0) {
                indices[used] = design.start[j];
                data[used++] = static_cast<U>(x[j]);
            } else if (!(code < 0) && !(code >= size)) {
                const bool known = code == code;
                indices[used] = design.start[j] + (known ? static_cast<std::int32_t>(code) : 0);
                data[used++] = known ? U{1} : std::numeric_limits<U>::quiet_NaN();
            }
        }
        indptr[i + 1] = static_cast<std::int32_t>(used);
    }
    return used;
}

}  // namespace lyceum::rows
