// Kernels as functions of a product x·y and the squared lengths of x and y, on whole vectors of float or double.
#pragma once
#include <lyceum/core/vector_math.hpp>

namespace lyceum::kernels {

// exp of a vector of floats, within two units in the last place; results below 1.6e-38 become zero.
inline Vec<float> exponential(Vec<float> x) {
    constexpr float log2_high = 0x1.62e4p-1f, log2_low = 0x1.7f7d1cp-20f, round = 0x1.8p23f;
    static constexpr float c[] = {1.f, 1.f, 1.f / 2, 1.f / 6, 1.f / 24, 1.f / 120, 1.f / 720, 1.f / 5040};
    const Vec<float> clipped = x < -87.f ? splat(-87.f) : (x > 88.f ? splat(88.f) : x);
    const Vec<float> shifted = clipped * 0x1.715476p0f + round;
    const Vec<float> n = shifted - round;
    const Vec<float> r = (clipped - n * log2_high) - n * log2_low;
    const Vec<std::int32_t> power = ((Vec<std::int32_t>)shifted << 23) + (127 << 23);
    Vec<float> y = splat(c[7]);
#pragma GCC unroll 8
    for (int i = 6; i >= 0; --i) y = y * r + c[i];
    y = y * (Vec<float>)power;
    return x < -87.f ? Vec<float>{} : y;
}

inline Vec<double> exponential(Vec<double> x) { return vexp(x); }

struct LinearKernel {
    template <class T>
    Vec<T> operator()(Vec<T> product, T, Vec<T>) const {
        return product;
    }
};

// (gamma x·y + shift)^degree
struct PolynomialKernel {
    double gamma, shift;
    int degree;

    template <class T>
    Vec<T> operator()(Vec<T> product, T, Vec<T>) const {
        Vec<T> base = product * static_cast<T>(gamma) + static_cast<T>(shift), power = splat(T{1});
        for (int left = degree; left > 0; left >>= 1, base *= base)
            if (left & 1) power *= base;
        return power;
    }
};

// exp(-gamma |x - y|²)
struct GaussianKernel {
    double gamma;

    template <class T>
    Vec<T> operator()(Vec<T> product, T x_square, Vec<T> y_square) const {
        const Vec<T> square = (y_square + x_square) - (product + product);
        return exponential((square > T{0} ? square : Vec<T>{}) * static_cast<T>(-gamma));
    }
};

// tanh(gamma x·y + shift)
struct SigmoidKernel {
    double gamma, shift;

    template <class T>
    Vec<T> operator()(Vec<T> product, T, Vec<T>) const {
        const Vec<T> u = product * static_cast<T>(gamma) + static_cast<T>(shift);
        const Vec<T> clipped = u > T{20} ? splat(T{20}) : (u < T{-20} ? splat(T{-20}) : u);
        return T{1} - T{2} / (exponential(clipped + clipped) + T{1});
    }
};

}  // namespace lyceum::kernels
