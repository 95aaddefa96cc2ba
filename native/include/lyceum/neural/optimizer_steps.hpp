// One step of an optimizer for a range of parameters theta with the gradient g; m and v are its memory.
//   sgd       theta -= rate g
//   momentum  m = decay m - rate g,  theta += m
//   nesterov  m = decay m - rate g,  theta += decay m - rate g
//   adam      m, v: running means of g and g^2;  theta -= rate' m / (sqrt(v) + epsilon), rate' with both biases
//   corrected
#pragma once
#include <cmath>

#include <lyceum/core/views.hpp>

namespace lyceum::neural {

enum class Rule : std::int32_t { sgd, momentum, nesterov, adam };
inline constexpr std::int32_t rules = 4;

constexpr size_t memories(Rule rule) { return rule == Rule::adam ? 2 : rule == Rule::sgd ? 0 : 1; }

struct Optimizer {
    Rule rule;
    double rate, decay, decay_squares, epsilon, penalty;

    // `step` counts from 1; `penalty` is added to the gradient as penalty * theta.
    template <class T>
    void operator()(T* __restrict theta, T* __restrict m, T* __restrict v, const T* __restrict g, size_t n,
                    bool penalized, std::int64_t step) const {
        const T shrink = static_cast<T>(penalized ? penalty : 0), a = static_cast<T>(decay), r = static_cast<T>(rate);
        if (rule == Rule::adam) {
            const double t = static_cast<double>(step);
            const double unbiased = rate * std::sqrt(1 - std::pow(decay_squares, t)) / (1 - std::pow(decay, t));
            const T s = static_cast<T>(unbiased), b = static_cast<T>(decay_squares), e = static_cast<T>(epsilon);
#pragma omp simd
            for (size_t i = 0; i < n; ++i) {
                const T slope = g[i] + shrink * theta[i];
                m[i] = a * m[i] + (1 - a) * slope;
                v[i] = b * v[i] + (1 - b) * slope * slope;
                theta[i] -= s * m[i] / (std::sqrt(v[i]) + e);
            }
        } else if (rule == Rule::sgd) {
#pragma omp simd
            for (size_t i = 0; i < n; ++i) theta[i] -= r * (g[i] + shrink * theta[i]);
        } else {
            const T ahead = rule == Rule::nesterov ? a : T{1}, direct = rule == Rule::nesterov ? r : T{0};
#pragma omp simd
            for (size_t i = 0; i < n; ++i) {
                const T slope = g[i] + shrink * theta[i];
                m[i] = a * m[i] - r * slope;
                theta[i] += ahead * m[i] - direct * slope;
            }
        }
    }
};

}  // namespace lyceum::neural
