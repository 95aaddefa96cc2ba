// The rows of a node in two: those that go left first, both in the order that they had.
#pragma once
#include "boost_histogram.hpp"
#include "boost_team.hpp"

namespace lyceum::boost {

struct SideOf {
    const std::uint8_t* code;  // of every row
    std::uint8_t left[slots];  // whether a bin goes left

    bool operator()(size_t row) const { return left[code[row]]; }
};

// Writes those of rows that go left to `left` and the others to `right`; returns how many go left.
template <bool Listed>
size_t divide_rows(const Rows& rows, const SideOf& side, std::uint32_t* left, std::uint32_t* right) {
    size_t l = 0, r = 0;
    for (size_t i = rows.begin; i < rows.end; ++i) {
        const std::uint32_t row = Listed ? rows.numbers[i] : static_cast<std::uint32_t>(i);
        const bool goes = side(row);
        left[l] = row;
        right[r] = row;
        l += goes;
        r += !goes;
    }
    return l;
}

// `spare` has room for twice as many numbers as `numbers`. Returns how many of the rows go left.
inline size_t partition(const Rows& rows, const SideOf& side, std::uint32_t* numbers, std::uint32_t* spare, Team& team) {
    constexpr size_t most = 64;
    size_t lefts[most + 1] = {}, rights[most + 1] = {};
    const size_t parts = rows.size() < 4 * chunk ? 1 : std::min(most, team.size());
    team(parts, [&](size_t k) {
        const Rows part = rows.part(k, parts);
        std::uint32_t *left = spare + 2 * part.begin, *right = left + part.size();
        const size_t l = part.numbers ? divide_rows<true>(part, side, left, right) : divide_rows<false>(part, side, left, right);
        lefts[k + 1] = l;
        rights[k + 1] = part.size() - l;
    });
    for (size_t k = 1; k <= parts; ++k) lefts[k] += lefts[k - 1], rights[k] += rights[k - 1];
    team(parts, [&](size_t k) {
        const Rows part = rows.part(k, parts);
        const std::uint32_t *left = spare + 2 * part.begin, *right = left + part.size();
        std::copy_n(left, lefts[k + 1] - lefts[k], numbers + rows.begin + lefts[k]);
        std::copy_n(right, rights[k + 1] - rights[k], numbers + rows.begin + lefts[parts] + rights[k]);
    });
    return lefts[parts];
}

}  // namespace lyceum::boost
