// exp, log and log1p of a vector of doubles, within about two units in the last place.
#pragma once
#include <limits>

#include <lyceum/core/simd.hpp>

namespace lyceum {

using Doubles = Vec<double>;
using Longs = Vec<std::int64_t>;

// c[0] + c[1] x + ... + c[N-1] x^(N-1), Horner.
template <int N>
inline Doubles polynomial(const double (&c)[N], Doubles x) {
    Doubles y = splat(c[N - 1]);
#pragma GCC unroll 16
    for (int i = N - 2; i >= 0; --i) y = y * x + c[i];
    return y;
}

// exp(x) = 2^n exp(r), |r| <= log(2)/2, with the Taylor series of exp(r) to r^13. Results below 4.5e-308 become zero.
inline Doubles vexp(Doubles x) {
    constexpr double log2_high = 0x1.62e42fee00000p-1, log2_low = 0x1.a39ef35793c76p-33, round = 0x1.8p52;
    static constexpr double c[] = {
        1.,        1.,         1. / 2,      1. / 6,       1. / 24,       1. / 120,       1. / 720,
        1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};
    const Doubles clipped = x < -709. ? splat(-709.) : (x > 710. ? splat(710.) : x);
    const Doubles shifted = clipped * 0x1.71547652b82fep0 + round;
    const Doubles n = shifted - round;
    const Doubles r = (clipped - n * log2_high) - n * log2_low;
    const Longs power = ((Longs)shifted << 52) + (std::int64_t{1022} << 52);  // the exponent of 2^(n-1)
    Doubles y = polynomial(c, r) * (Doubles)power * 2.;
    y = x < -708.39 ? Doubles{} : y;
    y = x > 709.782712893384 ? splat(std::numeric_limits<double>::infinity()) : y;
    return x == x ? y : x;
}

// log(x) = e log(2) + 2 atanh((f-1)/(f+1)), sqrt(1/2) <= f < sqrt(2); x positive and normal, or +inf, or 0.
inline Doubles vlog(Doubles x) {
    constexpr double log2_high = 0x1.62e42fee00000p-1, log2_low = 0x1.a39ef35793c76p-33;
    constexpr std::int64_t half_root = 0x3fe6a09e667f3bcd, mantissa = 0x000fffffffffffff;
    static constexpr double c[] = {2. / 3,  2. / 5,  2. / 7,  2. / 9,  2. / 11,
                                   2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21};
    const Longs offset = (Longs)x - half_root;
    const Longs exponent = offset >> 52;
    const Doubles f = (Doubles)((offset & mantissa) + half_root) - 1.;
    const Doubles e = __builtin_convertvector(exponent, Doubles);
    const Doubles s = f / (f + 2.), z = s * s, half = .5 * f * f;
    const Doubles tail = s * (half + z * polynomial(c, z));  // log(1+f) = f - (half - tail)
    Doubles y = e * log2_high + ((e * log2_low + (tail - half)) + f);
    y = x == std::numeric_limits<double>::infinity() ? x : y;
    y = x == 0. ? splat(-std::numeric_limits<double>::infinity()) : y;
    return x == x ? y : x;
}

// log(1 + t), t >= 0: the rounding error of 1 + t is added back to first order.
inline Doubles vlog1p(Doubles t) {
    const Doubles u = 1. + t;
    return vlog(u) + (t - (u - 1.)) / u;
}

}  // namespace lyceum
