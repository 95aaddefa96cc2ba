// Flat index of the first NaN or infinity, or -1: a cell is finite when |x| is at most the largest finite number.
// Cost: one read of the data.
#pragma once
#include <algorithm>
#include <cmath>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::rows {

template <class T, class Bad>
bool any_cell(const T* x, size_t count, Bad bad) {
    int found = 0;
#pragma omp simd reduction(| : found)
    for (size_t i = 0; i < count; ++i) found |= bad(x[i]);
    return found;
}

template <class T, class Bad>
std::int64_t first_cell(const T* x, size_t count, Bad bad, InterruptPoll& poll) {
    constexpr size_t step = 4096;
    for (size_t begin = 0; begin < count; begin += step) {
        const size_t here = std::min(step, count - begin);
        if (any_cell(x + begin, here, bad))
            for (size_t i = begin;; ++i)
                if (bad(x[i])) return static_cast<std::int64_t>(i);
        poll(here * 8);
    }
    return -1;
}

template <class T>
std::int64_t first_nonfinite(const T* x, size_t count, bool allow_nan, InterruptPoll poll) {
    constexpr T largest = std::numeric_limits<T>::max();
    if (allow_nan) return first_cell(x, count, [](T v) { return std::abs(v) > largest; }, poll);
    return first_cell(x, count, [](T v) { return !(std::abs(v) <= largest); }, poll);
}

}  // namespace lyceum::rows
