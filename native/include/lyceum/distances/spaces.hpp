// How two rows are compared, column by column: a space adds the cells of one column to its state and gives a raw value
// that orders rows as the distance does (the square for the Euclidean distance). Cells are added in the order of the
// columns, in double, so that the bits of a value do not depend on the kernel that computes it.
#pragma once
#include <cmath>
#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>
#include <type_traits>

namespace lyceum::distances {

template <class V>
inline V largest(V a, V b) {
    return a > b ? a : b;
}
template <class V>
inline V magnitude(V t) {
    return largest<V>(t, -t);
}

// sum + t * t, rounded once where the processor can; said outright for one number, because a compiler that takes the
// products of a loop apart from its sum would round twice.
template <class V>
inline V add_square(V sum, V t) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    if constexpr (std::is_same_v<V, double>) return __builtin_fma(t, t, sum);
#endif
    return sum + t * t;
}

// sum of (x - y)^2
struct SquaredDifferences {
    static constexpr bool one_sum = true;
    static constexpr double slack = 1;  // what a bound is multiplied by to lie below every value in spite of rounding
    template <class V>
    struct State {
        V sum{};
    };
    template <class V>
    void add(State<V>& state, V x, V y, size_t) const {
        state.sum = add_square<V>(state.sum, x - y);
    }
    template <class V>
    V value(const State<V>& state) const {
        return state.sum;
    }
};

// sum of |x - y|
struct AbsoluteDifferences : SquaredDifferences {
    template <class V>
    void add(State<V>& state, V x, V y, size_t) const {
        state.sum += magnitude<V>(x - y);
    }
};

// max of |x - y|
struct LargestDifference : SquaredDifferences {
    template <class V>
    void add(State<V>& state, V x, V y, size_t) const {
        state.sum = largest<V>(state.sum, magnitude<V>(x - y));
    }
};

// sum of |x - y|^p
struct PowersOfDifferences : SquaredDifferences {
    static constexpr double slack = 1 - 1e-12;  // pow is not proven to be monotone in its last bit
    double p;

    explicit PowersOfDifferences(double power) : p(power) {}
    template <class V>
    void add(State<V>& state, V x, V y, size_t) const {
        state.sum += power<V>(magnitude<V>(x - y), p);
    }

private:
    // Tiles of pairs are unrolled: the calls of pow stand here once, not in every step of every tile.
    template <class V>
    [[gnu::noinline]] static V power(V t, double p) {
        if constexpr (std::is_same_v<V, double>)
            t = std::pow(t, p);
        else
            for (int i = 0; i < lanes<double>; ++i) t[i] = std::pow(t[i], p);
        return t;
    }
};

// the number of columns that differ
struct Mismatches : SquaredDifferences {
    template <class V>
    void add(State<V>& state, V x, V y, size_t) const {
        state.sum += x != y ? V{} + 1. : V{};
    }
};

// 1 - |both| / |either|, of the columns that are not zero; 0 for two rows of zeros
struct SetDifference {
    static constexpr bool one_sum = false;
    template <class V>
    struct State {
        V both{}, either{};
    };
    template <class V>
    void add(State<V>& state, V x, V y, size_t) const {
        const V one = V{} + 1., a = x != V{} ? one : V{}, b = y != V{} ? one : V{};
        state.both += a * b;
        state.either += largest<V>(a, b);
    }
    template <class V>
    V value(const State<V>& state) const {
        const V some = largest<V>(state.either, V{} + 1.);
        return (state.either - state.both) / some;
    }
};

// The weighted mean over the columns known in both rows of min(|x - y|, 1), or of x != y where `matched` is not 0;
// infinite where no column is known in both. NaN is missing.
struct KnownColumns {
    static constexpr bool one_sum = false;
    const double* weight;
    const std::uint8_t* matched;

    template <class V>
    struct State {
        V sum{}, weight{};
    };
    template <class V>
    void add(State<V>& state, V x, V y, size_t j) const {
        const V one = V{} + 1., t = magnitude<V>(x - y);
        const V apart = matched[j] ? (x != y ? one : V{}) : (t < one ? t : one);
        const V w = t == t ? V{} + weight[j] : V{};  // NaN in either row makes t NaN
        state.sum += t == t ? w * apart : V{};
        state.weight += w;
    }
    template <class V>
    V value(const State<V>& state) const {
        const V never = V{} + std::numeric_limits<double>::infinity();
        return state.weight > V{} ? state.sum / state.weight : never;
    }
};

// The raw value of one pair of rows.
template <class Space, class T>
inline double raw_value(const Space& space, const T* x, const T* y, size_t d) {
    typename Space::template State<double> state;
    for (size_t j = 0; j < d; ++j) space.add(state, static_cast<double>(x[j]), static_cast<double>(y[j]), j);
    return space.value(state);
}

}  // namespace lyceum::distances
