// Activations of the nodes of a network: value and derivative at the net input z, one vector at a time.
#pragma once
#include <cmath>

#include <lyceum/core/vector_math.hpp>

namespace lyceum::neural {

enum class Activation : std::int32_t { linear, relu, sigmoid, tanh, sign };
inline constexpr std::int32_t activations = 5;

// exp of floats as vexp of doubles: 2^n exp(r), Taylor to r^7; below e^-87 zero.
inline Vec<float> texp(Vec<float> x) {
    using Ints = Vec<std::int32_t>;
    const Vec<float> clipped = x < -87.f ? splat(-87.f) : (x > 88.f ? splat(88.f) : x);
    const Vec<float> shifted = clipped * 0x1.715476p0f + 0x1.8p23f;
    const Vec<float> n = shifted - 0x1.8p23f;
    const Vec<float> r = (clipped - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
    Vec<float> y = r * (1.f / 5040) + 1.f / 720;
    y = y * r + 1.f / 120;
    y = y * r + 1.f / 24;
    y = y * r + 1.f / 6;
    y = y * r + .5f;
    y = y * r + 1.f;
    y = y * r + 1.f;
    const Ints power = ((Ints)shifted << 23) + (127 << 23);
    y *= (Vec<float>)power;
    y = x < -87.f ? Vec<float>{} : y;
    return x == x ? y : x;
}
inline Vec<double> texp(Vec<double> x) { return vexp(x); }

template <class T>
struct Response {
    Vec<T> value, slope;
};

// sigmoid: 1 / (1 + exp(-steepness z)). sign: 1 from 0 on, else -1; its derivative, zero wherever there is one, is
// replaced by that of z cut off at -1 and 1 (the straight-through estimator of Bengio, Leonard and Courville, 2013).
template <class T>
inline Response<T> respond(Activation kind, Vec<T> z, T steepness) {
    const Vec<T> one = splat(T{1}), none{};
    switch (kind) {
        case Activation::relu:
            return {z > none ? z : none, z > none ? one : none};
        case Activation::sigmoid: {
            const Vec<T> odds = texp(-(steepness * (z < none ? -z : z))), tail = odds / (one + odds);
            const Vec<T> a = z < none ? tail : one - tail;
            return {a, steepness * tail * (one - tail)};
        }
        case Activation::tanh: {
            const Vec<T> odds = texp(-2 * (z < none ? -z : z)), size = (one - odds) / (one + odds);
            return {z < none ? -size : size, one - size * size};
        }
        case Activation::sign:
            return {z >= none ? one : -one, ((z <= one) & (z >= -one)) ? one : none};
        default:
            return {z, one};
    }
}

}  // namespace lyceum::neural
