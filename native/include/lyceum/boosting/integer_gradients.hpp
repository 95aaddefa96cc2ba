// Gradients as whole numbers of units of 2^-k, as small as their sums allow.
#pragma once
#include <lyceum/boosting/losses.hpp>
#include <lyceum/core/large_pages.hpp>

namespace lyceum::boosting {

// The largest 2^k with 2^k * most <= limit.
inline double units_per_one(double most, double limit) {
    if (!(most > 0)) return 1;
    int exponent;
    std::frexp(limit / most, &exponent);
    return std::ldexp(1., std::clamp(exponent - 1, -1000, 1000));
}

template <class Of>
double largest(size_t n, ThreadTeam& team, const Of& of) {
    std::vector<double> tops((n + loss_rows - 1) / loss_rows);
    over_blocks(n, team, [&](size_t k, size_t begin, size_t end) {
        double top = 0;
        for (size_t i = begin; i < end; ++i) {
            const double value = of(i);
            top = value > top ? value : top;
        }
        tops[k] = top;
    });
    return tops.empty() ? 0 : *std::max_element(tops.begin(), tops.end());
}

// Rounds to nearest without a call: |x| < 2^51.
inline Sum rounded(double x) {
    constexpr double shift = 0x1.8p52;
    const double moved = x + shift;
    Sum bits;
    std::memcpy(&bits, &moved, sizeof bits);
    return bits - 0x4338000000000000;
}

struct UnitBuffers {
    LargeVector<std::uint64_t> packed;
    LargeVector<WideSums> wide;
};

// h may be null: every row's hessian is one. `exact` asks for the wide form. Gradients are at most g_top away from
// zero, hessians at most h_top, where these are above zero.
inline Gradients in_units(const double* g, const double* h, size_t n, bool exact, double g_top, double h_top,
                          UnitBuffers& buffers, ThreadTeam& team) {
    if (!(g_top > 0)) g_top = largest(n, team, [&](size_t i) { return std::abs(g[i]); });
    if (!(h_top > 0)) h_top = h ? largest(n, team, [&](size_t i) { return h[i]; }) : 0;
    const int hessian_bits = h ? (64 - count_bits) / 2 : 0, gradient_bits = 64 - count_bits - hessian_bits;
    const double rows = static_cast<double>(std::max<size_t>(n, 1));
    const double g_limit = exact ? std::min(0x1p50, 0x1p62 / rows) : (std::ldexp(1., gradient_bits - 1) - 1) / chunk;
    const double h_limit = exact ? g_limit : (std::ldexp(1., hessian_bits) - 1) / chunk;
    const double g_scale = units_per_one(g_top, g_limit), h_scale = h ? units_per_one(h_top, h_limit) : 1;
    if (exact)
        buffers.wide.resize(n);
    else
        buffers.packed.resize(n);
    std::uint64_t* packed = exact ? nullptr : buffers.packed.data();
    WideSums* wide = exact ? buffers.wide.data() : nullptr;
    // a gradient that overflowed has no units: at its limit no sum of units overflows
    const auto units = [](double x, double limit) { return rounded(std::min(limit, std::max(-limit, x))); };
    over_blocks(n, team, [&](size_t, size_t begin, size_t end) {
        for (size_t i = begin; i < end && wide; ++i)
            wide[i] = {units(g[i] * g_scale, g_limit), h ? units(h[i] * h_scale, h_limit) : 0};
        for (size_t i = begin; i < end && packed; ++i)
            packed[i] = (static_cast<std::uint64_t>(units(g[i] * g_scale, g_limit)) << (count_bits + hessian_bits)) + 1;
        for (size_t i = begin; i < end && packed && h; ++i)
            packed[i] += static_cast<std::uint64_t>(units(h[i] * h_scale, h_limit)) << count_bits;
    });
    return {packed, wide, hessian_bits, h != nullptr, 1 / g_scale, 1 / h_scale};
}

}  // namespace lyceum::boosting
