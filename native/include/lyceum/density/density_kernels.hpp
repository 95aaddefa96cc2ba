// The kernels of density estimation as products over the axes, each scaled so that its value at 0 is 1.
// A window accumulates axis by axis: `start`, `add(sum, u)`, then `value(sum)` or `log_value(sum)`.
// `bound` accumulates a decreasing envelope of the kernel in |u|, `bound_value` is its value: 0 where it underflows.
#pragma once
#include <lyceum/core/vector_math.hpp>

namespace lyceum::density {

inline Doubles vabs(Doubles x) { return x < 0. ? -x : x; }

// sin(v)^2: v = n pi + r with |r| <= pi/2, pi in three parts, sin(r) by its Taylor series to r^21.
inline Doubles sine_squared(Doubles v) {
    constexpr double pi_1 = 0x1.921fb54400000p1, pi_2 = 0x1.0b4611a600000p-33, pi_3 = 0x1.3198a2e037073p-68;
    constexpr double round = 0x1.8p52;
    static constexpr double c[] = {1.,
                                   -1. / 6,
                                   1. / 120,
                                   -1. / 5040,
                                   1. / 362880,
                                   -1. / 39916800,
                                   1. / 6227020800.,
                                   -1. / 1307674368000.,
                                   1. / 355687428096000.,
                                   -1. / 121645100408832000.,
                                   1. / 51090942171709440000.};
    const Doubles n = (v * 0x1.45f306dc9c883p-2 + round) - round;
    const Doubles r = ((v - n * pi_1) - n * pi_2) - n * pi_3;
    const Doubles sine = r * polynomial(c, r * r);
    return sine * sine;
}

// exp(x) for x <= 0 within a relative error of 1e-8: the series to r^7. Below -708 it stays at exp(-708).
inline Doubles vexp_near(Doubles x) {
    constexpr double log2 = 0x1.62e42fefa39efp-1, round = 0x1.8p52;
    static constexpr double c[] = {1., 1., 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040};
    const Doubles clipped = vmax<double>(x, splat(-708.));
    const Doubles shifted = clipped * 0x1.71547652b82fep0 + round;
    const Longs power = ((Longs)shifted << 52) + (std::int64_t{1023} << 52);
    return polynomial(c, clipped - (shifted - round) * log2) * (Doubles)power;
}

struct GaussianWindow {  // exp(-u^2/2)
    static Doubles start() { return Doubles{}; }
    static Doubles add(Doubles sum, Doubles u) { return sum + u * u; }
    static Doubles value(Doubles sum) { return vexp(-.5 * sum); }
    static Doubles bound_value(Doubles sum) { return vexp(-.5 * sum); }
    static Doubles log_value(Doubles sum) { return -.5 * sum; }
    static Doubles bound(Doubles sum, Doubles u) { return add(sum, u); }
};

struct LaplaceWindow {  // exp(-2|u|)
    static Doubles start() { return Doubles{}; }
    static Doubles add(Doubles sum, Doubles u) { return sum + vabs(u); }
    static Doubles value(Doubles sum) { return vexp(-2. * sum); }
    static Doubles bound_value(Doubles sum) { return vexp(-2. * sum); }
    static Doubles log_value(Doubles sum) { return -2. * sum; }
    static Doubles bound(Doubles sum, Doubles u) { return add(sum, u); }
};

struct RadialEpanechnikovWindow {  // 1 - |u|^2 inside the unit ball
    static Doubles start() { return Doubles{}; }
    static Doubles add(Doubles sum, Doubles u) { return sum + u * u; }
    static Doubles value(Doubles sum) { return vmax<double>(1. - sum, Doubles{}); }
    static Doubles bound_value(Doubles sum) { return value(sum); }
    static Doubles log_value(Doubles sum) { return vlog(value(sum)); }
    static Doubles bound(Doubles sum, Doubles u) { return add(sum, u); }
};

// The same sums, each term within 1e-8.
struct NearGaussianWindow : GaussianWindow {
    static Doubles value(Doubles sum) { return vexp_near(-.5 * sum); }
};
struct NearLaplaceWindow : LaplaceWindow {
    static Doubles value(Doubles sum) { return vexp_near(-2. * sum); }
};

// A product of one factor an axis.
template <class Factor>
struct ProductWindow {
    static Doubles start() { return splat(1.); }
    static Doubles add(Doubles product, Doubles u) { return product * Factor::of(u); }
    static Doubles value(Doubles product) { return product; }
    static Doubles bound_value(Doubles product) { return product; }
    static Doubles bound(Doubles product, Doubles u) { return product * Factor::envelope(u); }
};

struct Box {  // 1 for |u| <= 1/2
    static Doubles of(Doubles u) { return vabs(u) <= .5 ? splat(1.) : Doubles{}; }
    static Doubles envelope(Doubles u) { return of(u); }
};
struct Cauchy {  // 1 / (1 + u^2)
    static Doubles of(Doubles u) { return 1. / (1. + u * u); }
    static Doubles envelope(Doubles u) { return of(u); }
};
struct SincSquared {  // (sin(u/2) / (u/2))^2
    static Doubles of(Doubles u) {
        const Doubles half = .5 * u, square = half * half;
        return square < 1e-16 ? splat(1.) : sine_squared(half) / square;
    }
    static Doubles envelope(Doubles u) {
        const Doubles square = .25 * u * u;
        return square < 1. ? splat(1.) : 1. / square;
    }
};
struct Epanechnikov {  // 1 - u^2 for |u| < 1
    static Doubles of(Doubles u) { return vmax<double>(1. - u * u, Doubles{}); }
    static Doubles envelope(Doubles u) { return of(u); }
};
struct Tricube {  // (1 - |u|^3)^3 for |u| < 1
    static Doubles of(Doubles u) {
        const Doubles a = vabs(u), rest = vmax<double>(1. - a * a * a, Doubles{});
        return rest * rest * rest;
    }
    static Doubles envelope(Doubles u) { return of(u); }
};
struct Triangle {  // 1 - |u| for |u| < 1
    static Doubles of(Doubles u) { return vmax<double>(1. - vabs(u), Doubles{}); }
    static Doubles envelope(Doubles u) { return of(u); }
};

// log of a product window, summed axis by axis so that it cannot underflow.
template <class Factor>
struct LogProduct {
    static Doubles start() { return Doubles{}; }
    static Doubles add(Doubles sum, Doubles u) { return sum + log_of(Factor::of(u)); }
    static Doubles bound(Doubles sum, Doubles u) { return sum + log_of(Factor::envelope(u)); }
    static Doubles log_value(Doubles sum) { return sum; }

private:
    static Doubles log_of(Doubles x) { return vlog(x < std::numeric_limits<double>::min() ? Doubles{} : x); }
};

template <class Window>
struct Logarithm {
    using type = Window;
};
template <class Factor>
struct Logarithm<ProductWindow<Factor>> {
    using type = LogProduct<Factor>;
};

using BoxWindow = ProductWindow<Box>;
using CauchyWindow = ProductWindow<Cauchy>;
using SincWindow = ProductWindow<SincSquared>;
using EpanechnikovWindow = ProductWindow<Epanechnikov>;
using TricubeWindow = ProductWindow<Tricube>;
using TriangleWindow = ProductWindow<Triangle>;

}  // namespace lyceum::density
