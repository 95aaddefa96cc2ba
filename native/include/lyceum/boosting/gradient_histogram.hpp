// Histograms of gradients in whole numbers: sums are exact, so that they do not depend on the order or on threads.
//
// A row's gradient g, hessian h and a count of one are whole numbers of units of 2^-k. In the
// packed form they share 64 bits, gradient | hessian | count, and one addition per cell sums all three; every `chunk`
// rows, before a field could overflow, the sums are spread into fields of 64 bits each.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <lyceum/core/views.hpp>

namespace lyceum::boosting {

using Sum = std::int64_t;
inline constexpr size_t slots = 256;  // bins of a column, including the bin of missing cells
inline constexpr int count_bits = 12;
inline constexpr size_t chunk = (1 << count_bits) - 1;  // rows whose packed sums cannot overflow
inline constexpr size_t widest = 16;                    // columns of a group: their packed sums stay in the first cache

struct WideSums {
    Sum g, h;
};

// The rows' gradients in units; packed or wide, the other is null.
struct Gradients {
    const std::uint64_t* packed;
    const WideSums* wide;
    int hessian_bits;       // of the packed form
    bool has_hessian;       // if not, every row's hessian is one
    double g_unit, h_unit;  // what a unit stands for

    size_t fields() const { return has_hessian ? 3 : 2; }  // of a histogram: gradients, counts, hessians
    Sum gradient(std::uint64_t v) const { return static_cast<Sum>(v) >> (count_bits + hessian_bits); }
    Sum hessian(std::uint64_t v) const {
        return static_cast<Sum>((v >> count_bits) & ((std::uint64_t{1} << hessian_bits) - 1));
    }
    static Sum count(std::uint64_t v) { return static_cast<Sum>(v & ((1u << count_bits) - 1)); }
};

// Some neighboring columns of all rows.
struct Group {
    const std::uint8_t* codes;  // of the first column in row 0
    size_t step, first, width;  // rows are `step` apart
};

// The rows of a node: a range of row numbers, or (null) all rows in order.
struct Rows {
    const std::uint32_t* numbers;
    size_t begin, end;

    size_t size() const { return end - begin; }
    Rows part(size_t k, size_t of) const { return {numbers, begin + size() * k / of, begin + size() * (k + 1) / of}; }
};

inline constexpr size_t ahead = 32;  // row numbers are readable so far beyond the end

template <int Width, bool Listed>
void add_packed(const Group& group, const std::uint64_t* gradients, const Rows& rows, std::uint64_t* sums) {
    const std::uint8_t* const codes = group.codes;
    const size_t step = group.step;
    for (size_t i = rows.begin; i < rows.end; ++i) {
        const size_t row = Listed ? rows.numbers[i] : i;
        if constexpr (Listed) {
            __builtin_prefetch(codes + size_t{rows.numbers[i + ahead]} * step);
            __builtin_prefetch(gradients + rows.numbers[i + ahead]);
        }
        const std::uint64_t v = gradients[row];
        const std::uint8_t* code = codes + row * step;
#pragma GCC unroll 16
        for (int j = 0; j < Width; ++j) sums[static_cast<size_t>(j) * slots + code[j]] += v;
    }
}

// Columns `in_use` of the group only.
inline void add_some(const Group& group, const std::uint64_t* gradients, const Rows& rows, const std::uint8_t* in_use,
                     size_t count, std::uint64_t* sums) {
    for (size_t i = rows.begin; i < rows.end; ++i) {
        const size_t row = rows.numbers ? rows.numbers[i] : i;
        const std::uint64_t v = gradients[row];
        const std::uint8_t* code = group.codes + row * group.step;
        for (size_t k = 0; k < count; ++k) sums[in_use[k] * slots + code[in_use[k]]] += v;
    }
}

template <int Width = widest>
void add_all(const Group& group, const std::uint64_t* gradients, const Rows& rows, std::uint64_t* sums) {
    if constexpr (Width > 1)
        if (group.width != Width) return add_all<Width - 1>(group, gradients, rows, sums);
    rows.numbers ? add_packed<Width, true>(group, gradients, rows, sums)
                 : add_packed<Width, false>(group, gradients, rows, sums);
}

// Spreads the packed sums of a column into its histogram, and leaves zeros.
inline void spread(const Gradients& gradients, std::uint64_t* sums, size_t bins, Sum* histogram) {
    Sum *g = histogram, *n = histogram + bins, *h = histogram + 2 * bins;
    for (size_t b = 0; b < bins; ++b) g[b] += gradients.gradient(sums[b]);
    for (size_t b = 0; b < bins; ++b) n[b] += gradients.count(sums[b]);
    if (gradients.has_hessian)
        for (size_t b = 0; b < bins; ++b) h[b] += gradients.hessian(sums[b]);
    std::fill_n(sums, bins, 0);
}

// One by one, for few rows and for wide gradients.
template <class Of>
void add_wide(const Group& group, const Rows& rows, const std::uint8_t* in_use, size_t count, const size_t* bins,
              Sum* const* histograms, bool has_hessian, Of&& of) {
    for (size_t i = rows.begin; i < rows.end; ++i) {
        const size_t row = rows.numbers ? rows.numbers[i] : i;
        if (rows.numbers) __builtin_prefetch(group.codes + size_t{rows.numbers[i + ahead]} * group.step);
        const WideSums v = of(row);
        const std::uint8_t* code = group.codes + row * group.step;
        for (size_t k = 0; k < count; ++k) {
            Sum* at = histograms[k] + code[in_use[k]];
            at[0] += v.g;
            at[bins[k]] += 1;
            if (has_hessian) at[2 * bins[k]] += v.h;
        }
    }
}

// The columns of a group that are in use, with their histograms: `bins` gradients, counts and (if any) hessians.
struct Part {
    Group group;
    std::vector<std::uint8_t> columns;  // within the group
    std::vector<size_t> bins, offsets;  // of a histogram in those of a node
    size_t begin, end;                  // of all of them

    // Adds at most `chunk` rows; `sums` are zeros of widest * slots, and are again.
    void add(const Gradients& gradients, const Rows& rows, Sum* histograms, std::uint64_t* sums) const {
        Sum* at[widest];
        for (size_t k = 0; k < columns.size(); ++k) at[k] = histograms + offsets[k];
        if (gradients.wide)
            return add_wide(group, rows, columns.data(), columns.size(), bins.data(), at, gradients.has_hessian,
                            [&](size_t row) { return gradients.wide[row]; });
        if (rows.size() < few)
            return add_wide(group, rows, columns.data(), columns.size(), bins.data(), at, gradients.has_hessian,
                            [&](size_t row) {
                                const std::uint64_t v = gradients.packed[row];
                                return WideSums{gradients.gradient(v), gradients.hessian(v)};
                            });
        columns.size() == group.width ? add_all(group, gradients.packed, rows, sums)
                                      : add_some(group, gradients.packed, rows, columns.data(), columns.size(), sums);
        for (size_t k = 0; k < columns.size(); ++k) spread(gradients, sums + columns[k] * slots, bins[k], at[k]);
    }

private:
    static constexpr size_t few = 192;  // for which zeroing and spreading is not worth it
};

// Sets the histograms of some parts to those of some rows, all parts of a chunk one after the other: its rows come from
// memory once.
inline void sum_rows(const Part* parts, size_t count, const Gradients& gradients, const Rows& rows, Sum* histograms,
                     std::uint64_t* sums) {
    for (size_t p = 0; p < count; ++p) std::fill(histograms + parts[p].begin, histograms + parts[p].end, 0);
    for (Rows some = rows; some.begin < rows.end; some.begin = some.end) {
        some.end = std::min(rows.end, some.begin + chunk);
        for (size_t p = 0; p < count; ++p) parts[p].add(gradients, some, histograms, sums);
    }
}

}  // namespace lyceum::boosting
