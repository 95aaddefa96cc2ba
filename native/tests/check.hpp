// CHECK and CLOSE, and random data, for the kernels' own tests. main returns `failures`.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>
#include <random>
#include <vector>

inline int failures = 0;

#define CHECK(held)                                                \
    do {                                                           \
        if (!(held)) {                                             \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #held); \
            failures = 1;                                          \
        }                                                          \
    } while (false)

#define CLOSE(got, want, tolerance)                                                           \
    do {                                                                                      \
        const double g_ = (got), w_ = (want);                                                 \
        if (!(std::abs(g_ - w_) <= (tolerance) * (1 + std::abs(w_)))) {                       \
            std::printf("%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #got, g_, w_); \
            failures = 1;                                                                     \
        }                                                                                     \
    } while (false)

#define THROWS(expression)                       \
    do {                                         \
        bool thrown_ = false;                    \
        try {                                    \
            expression;                          \
        } catch (const std::invalid_argument&) { \
            thrown_ = true;                      \
        }                                        \
        CHECK(thrown_);                          \
    } while (false)

using Doubles1 = std::vector<double>;
using std::size_t;

class Random {
public:
    template <class T>
    std::vector<T> normal(size_t count, double mean = 0, double deviation = 1) {
        std::vector<T> out(count);
        for (T& x : out) x = static_cast<T>(mean + deviation * normal_(engine_));
        return out;
    }
    Doubles1 uniform(size_t count) {
        Doubles1 out(count);
        for (double& x : out) x = std::uniform_real_distribution<>()(engine_);
        return out;
    }
    std::vector<std::int32_t> codes(size_t count, int from, int to) {
        std::vector<std::int32_t> out(count);
        for (auto& x : out) x = std::uniform_int_distribution<>(from, to - 1)(engine_);
        return out;
    }

private:
    std::mt19937_64 engine_{7};
    std::normal_distribution<> normal_;
};

template <class T>
lyceum::Matrix<const T> matrix_of(const std::vector<T>& data, size_t n, size_t d) {
    return {data.data(), n, d};
}

inline const double nan_cell = std::numeric_limits<double>::quiet_NaN();
inline const double infinity = std::numeric_limits<double>::infinity();
