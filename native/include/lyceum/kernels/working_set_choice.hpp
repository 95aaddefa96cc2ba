// Which variables to work on next: those that violate optimality most (Joachims 1999), half of them able to rise and
// half able to fall, beside some of the last working set. Cost: one pass and a partial sort.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <lyceum/core/views.hpp>
#include <vector>

namespace lyceum::kernels {

struct Violation {
    double up, low;  // the largest v that can rise, the smallest that can fall
};

// v_t, and whether s_t b_t can rise or fall.
struct Variables {
    const double *v, *s, *C, *b;
    size_t count;

    bool rises(size_t t) const { return s[t] > 0 ? b[t] < C[t] : b[t] > 0; }
    bool falls(size_t t) const { return s[t] > 0 ? b[t] > 0 : b[t] < C[t]; }

    Violation violation() const {
        Violation found{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        for (size_t t = 0; t < count; ++t) {
            if (rises(t)) found.up = std::max(found.up, v[t]);
            if (falls(t)) found.low = std::min(found.low, v[t]);
        }
        return found;
    }
};

// `size` variables: first those of `kept` that are not settled at a bound, up to `most_kept`, then the most violating.
inline std::vector<std::int64_t> choose_working_set(const Variables& x, size_t size, const std::int64_t* kept,
                                                    size_t most_kept) {
    std::vector<std::int64_t> chosen;
    std::vector<char> taken(x.count, 0);
    const auto take = [&](std::int64_t t) {
        if (taken[t]) return;
        taken[t] = 1;
        chosen.push_back(t);
    };
    size = std::min(size, x.count);
    chosen.reserve(size);
    for (size_t k = 0; k < most_kept && chosen.size() < size; ++k) take(kept[k]);
    std::vector<std::int64_t> up, low;
    for (size_t t = 0; t < x.count; ++t) {
        if (taken[t]) continue;
        if (x.rises(t)) up.push_back(static_cast<std::int64_t>(t));
        if (x.falls(t)) low.push_back(static_cast<std::int64_t>(t));
    }
    const auto higher = [&](std::int64_t a, std::int64_t b) { return x.v[a] > x.v[b] || (x.v[a] == x.v[b] && a < b); };
    const auto lower = [&](std::int64_t a, std::int64_t b) { return x.v[a] < x.v[b] || (x.v[a] == x.v[b] && a < b); };
    const size_t wanted = size - chosen.size();
    const auto order = [&](std::vector<std::int64_t>& some, const auto& before) {
        if (some.size() > wanted) {
            std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(wanted), some.end(), before);
            some.resize(wanted);
        }
        std::sort(some.begin(), some.end(), before);
    };
    order(up, higher);
    order(low, lower);
    for (size_t k = 0; k < wanted && chosen.size() < size; ++k) {
        if (k < up.size()) take(up[k]);
        if (k < low.size() && chosen.size() < size) take(low[k]);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

// out[j] += sum_i weight[i] rows[place[i], j], in the order of i and in double.
template <class T>
void add_rows(Matrix<const T> rows, const std::int64_t* place, const double* weight, size_t count, double* out) {
    constexpr size_t wide = 512;
    for (size_t begin = 0; begin < rows.cols; begin += wide) {
        const size_t end = std::min(rows.cols, begin + wide);
        for (size_t i = 0; i < count; ++i) {
            if (weight[i] == 0) continue;
            const T* row = rows.row(static_cast<size_t>(place[i]));
            for (size_t j = begin; j < end; ++j) out[j] += weight[i] * static_cast<double>(row[j]);
        }
    }
}

}  // namespace lyceum::kernels
