// The cells that trees are grown on: column by column, as ranks of their values, and the values themselves.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::trees {

struct TreeColumns {
    const void* codes;  // (d, n) of `bytes` each; a missing cell has code n_codes[j]
    int bytes;
    size_t n, d;
    const std::int32_t* n_codes;
    const std::uint8_t* is_category;
    const std::int64_t* first;    // where the values of column j start
    const double *lower, *upper;  // the smallest and the largest value of every code of a continuous column

    template <class Use>
    auto with_codes(size_t j, Use&& use) const {
        if (bytes == 1) return use(static_cast<const std::uint8_t*>(codes) + j * n);
        if (bytes == 2) return use(static_cast<const std::uint16_t*>(codes) + j * n);
        return use(static_cast<const std::uint32_t*>(codes) + j * n);
    }
    std::uint32_t missing(size_t j) const { return static_cast<std::uint32_t>(n_codes[j]); }
    const double* smallest(size_t j) const { return lower + first[j]; }
    const double* largest(size_t j) const { return upper + first[j]; }
};

// Sorts pairs (key << 32 | payload) by their keys, which have `bits` bits, from the least digit on. Stable.
inline void radix_sort(std::uint64_t* keys, std::uint64_t* spare, size_t n, int bits) {
    const int passes = std::max(1, (bits + 10) / 11), width = (bits + passes - 1) / passes;
    const size_t buckets = size_t{1} << width;
    std::uint32_t start[2048];
    std::uint64_t *from = keys, *to = spare;
    for (int pass = 0; pass < passes; ++pass) {
        const int shift = 32 + pass * width;
        std::fill_n(start, buckets, 0u);
        for (size_t i = 0; i < n; ++i) ++start[(from[i] >> shift) & (buckets - 1)];
        if (start[(from[0] >> shift) & (buckets - 1)] == n) continue;  // all in one bucket
        std::uint32_t sum = 0;
        for (size_t b = 0; b < buckets; ++b) sum += std::exchange(start[b], sum);
        for (size_t i = 0; i < n; ++i) to[start[(from[i] >> shift) & (buckets - 1)]++] = from[i];
        std::swap(from, to);
    }
    if (from != keys) std::copy_n(from, n, keys);
}

// A number as an unsigned integer of the same order; -0 is 0.
template <class T>
auto ordered_bits(T x) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    const Bits bits = std::bit_cast<Bits>(x + T{0});
    return bits & sign ? ~bits : bits | sign;
}

template <class Bits>
struct Ranked {
    Bits key;
    std::uint32_t row;
};

// Ranks of one column of `cells`, `step` apart: codes[i] among the distinct values, which are appended to `values`.
// Missing cells have the code after the last.
template <class T>
void rank_column(const T* cells, size_t step, size_t n, std::uint32_t* codes, std::vector<double>& values) {
    using Bits = decltype(ordered_bits(T{}));
    struct Here;
    struct There;
    auto* from = scratch<Here, Ranked<Bits>>(n);
    auto* to = scratch<There, Ranked<Bits>>(n);
    size_t known = 0;
    constexpr int digits = sizeof(T) == 4 ? 3 : 6;
    std::vector<std::uint32_t> counts(digits * 2048, 0u);
    for (size_t i = 0; i < n; ++i) {
        const T x = cells[i * step];
        if (std::isnan(x)) continue;
        const Bits key = ordered_bits(x);
        for (int p = 0; p < digits; ++p) ++counts[p * 2048 + ((key >> (11 * p)) & 2047)];
        from[known++] = {key, static_cast<std::uint32_t>(i)};
    }
    for (int p = 0; p < digits && known; ++p) {
        std::uint32_t* start = counts.data() + p * 2048;
        if (start[(from[0].key >> (11 * p)) & 2047] == known) continue;
        std::uint32_t sum = 0;
        for (int b = 0; b < 2048; ++b) sum += std::exchange(start[b], sum);
        for (size_t i = 0; i < known; ++i) to[start[(from[i].key >> (11 * p)) & 2047]++] = from[i];
        std::swap(from, to);
    }
    const size_t before = values.size();
    for (size_t i = 0; i < known; ++i) {
        if (i == 0 || from[i].key != from[i - 1].key)
            values.push_back(static_cast<double>(cells[from[i].row * step]) + 0.);
        codes[from[i].row] = static_cast<std::uint32_t>(values.size() - before - 1);
    }
    const auto missing_code = static_cast<std::uint32_t>(values.size() - before);
    if (known < n)
        for (size_t i = 0; i < n; ++i)
            if (std::isnan(cells[i * step])) codes[i] = missing_code;
}

}  // namespace lyceum::trees
