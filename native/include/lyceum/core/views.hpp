// Row-major views that own nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace lyceum {

using std::size_t;

template <class T>
struct Matrix {
    T* data;
    size_t rows, cols;

    T* row(size_t i) const { return data + i * cols; }
    T* end() const { return data + rows * cols; }
};

// Class codes: negative is unlabeled, `classes` and above is an error.
struct Codes {
    const std::int32_t* data;  // null: every row is of class 0
    size_t classes;

    std::int32_t operator()(size_t i) const {
        if (!data) return 0;
        const std::int32_t k = data[i];
        if (k >= 0 && static_cast<size_t>(k) >= classes) out_of_range(i, k);
        return k;
    }

private:
    [[noreturn, gnu::cold, gnu::noinline]] void out_of_range(size_t i, std::int32_t k) const {
        throw std::invalid_argument("codes[" + std::to_string(i) + "] is " + std::to_string(k) +
                                    ", but there are only " + std::to_string(classes) + " classes");
    }
};

inline double weight_of(const double* w, size_t i) { return w ? w[i] : 1.0; }

constexpr size_t round_up(size_t n, size_t step) { return (n + step - 1) / step * step; }

}  // namespace lyceum
