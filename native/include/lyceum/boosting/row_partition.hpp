// Partitions the rows of a node: those that go left first, both sides in their order.
#pragma once
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <lyceum/boosting/gradient_histogram.hpp>
#include <lyceum/core/thread_team.hpp>

namespace lyceum::boosting {

struct SideOf {
    const std::uint8_t* code;    // of every row
    std::uint8_t left[slots];    // whether a bin goes left
    size_t n;                    // rows
    std::int32_t last, missing;  // if left is [bin <= last] but for `missing`; last < 0: it is not
    bool missing_left;

    bool operator()(size_t row) const { return left[code[row]]; }
};

inline constexpr size_t slack = 16;  // numbers that may be written beyond the last

// Writes those of rows that go left to `left` and the others to `right`; returns how many go left.
template <bool Listed>
size_t divide_rows(const Rows& rows, const SideOf& side, std::uint32_t* left, std::uint32_t* right) {
    size_t l = 0, r = 0, i = rows.begin;
#if defined(__AVX512F__)
    // Sixteen at a time: GCC's vectors have no way to close ranks.
    const __m512i last = _mm512_set1_epi32(side.last), missing = _mm512_set1_epi32(side.missing);
    const __m512i steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (; side.last >= 0 && i + 16 <= rows.end; i += 16) {
        const size_t highest = Listed ? rows.numbers[i + 15] : i + 15;
        if (highest + 4 > side.n || highest >= 0x80000000u) break;  // four bytes are read per row, by signed offsets
        const __m512i row = Listed ? _mm512_loadu_si512(rows.numbers + i)
                                   : _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(i)), steps);
        const __m512i code = _mm512_and_epi32(
            _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, row, side.code, 1), _mm512_set1_epi32(255));
        const __mmask16 gap = _mm512_cmpeq_epi32_mask(code, missing);
        const __mmask16 low = _mm512_cmple_epi32_mask(code, last);
        const auto goes = static_cast<__mmask16>(side.missing_left ? (low | gap) : (low & ~gap));
        _mm512_storeu_si512(left + l, _mm512_maskz_compress_epi32(goes, row));
        _mm512_storeu_si512(right + r, _mm512_maskz_compress_epi32(static_cast<__mmask16>(~goes), row));
        const auto count = static_cast<size_t>(__builtin_popcount(goes));
        l += count;
        r += 16 - count;
    }
#endif
    for (; i < rows.end; ++i) {
        const std::uint32_t row = Listed ? rows.numbers[i] : static_cast<std::uint32_t>(i);
        const bool goes = side(row);
        left[l] = row;
        right[r] = row;
        l += goes;
        r += !goes;
    }
    return l;
}

inline constexpr size_t most_parts = 64;
// What `partition` needs beside the row numbers.
constexpr size_t spare_size(size_t count) { return 2 * count + 2 * slack * most_parts; }

// `spare` has room for spare_size numbers. Returns how many of the rows go left.
inline size_t partition(const Rows& rows, const SideOf& side, std::uint32_t* numbers, std::uint32_t* spare,
                        ThreadTeam& team) {
    size_t lefts[most_parts + 1] = {}, rights[most_parts + 1] = {};
    const size_t parts = rows.size() < 4 * chunk ? 1 : std::min(most_parts, team.size());
    auto room = [&](size_t k, const Rows& part) { return spare + 2 * part.begin + 2 * slack * k; };
    team(parts, [&](size_t k) {
        const Rows part = rows.part(k, parts);
        std::uint32_t *left = room(k, part), *right = left + part.size() + slack;
        const size_t l =
            part.numbers ? divide_rows<true>(part, side, left, right) : divide_rows<false>(part, side, left, right);
        lefts[k + 1] = l;
        rights[k + 1] = part.size() - l;
    });
    for (size_t k = 1; k <= parts; ++k) lefts[k] += lefts[k - 1], rights[k] += rights[k - 1];
    team(parts, [&](size_t k) {
        const Rows part = rows.part(k, parts);
        const std::uint32_t *left = room(k, part), *right = left + part.size() + slack;
        std::copy_n(left, lefts[k + 1] - lefts[k], numbers + rows.begin + lefts[k]);
        std::copy_n(right, rights[k + 1] - rights[k], numbers + rows.begin + lefts[parts] + rights[k]);
    });
    return lefts[parts];
}

}  // namespace lyceum::boosting
