// The target of a tree as sums: the weights of the classes, or the weight, sum and squares of a number.
//
// A split is scored by the merits of its parts, larger is better, such that
//     gain = (sum of the parts' merits - merit of the limits) / weight of the limits.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <lyceum/core/scratch.hpp>
#include <lyceum/core/vector_math.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::trees {

enum class Criterion { entropy, gain_ratio, gini, misclassification, loss, variance, deviation, absolute, poisson };

struct ClassRow {
    std::uint32_t row;
    std::int32_t k;
    double w;
};

struct NumberRow {
    std::uint32_t row;
    double y, w;  // y is centered on the mean of its node
};

struct LossTable {  // rows are true classes, columns actions
    const double* data = nullptr;
    size_t actions = 0;
};

// x log2 x, 0 at 0.
inline Doubles entropy_term(Doubles x) {
    return x > 0. ? x * (vlog(x > 0. ? x : splat(1.)) * 1.4426950408889634) : Doubles{};
}

// `K` classes, or (0) a number of classes known at run time.
template <int K>
struct Classes {
    using Instance = ClassRow;
    static constexpr int fixed = K;
    size_t count;
    Criterion criterion;
    LossTable loss;

    size_t size() const { return K ? static_cast<size_t>(K) : count; }
    void add(double* s, const ClassRow& t) const { s[t.k] += t.w; }

    template <class V>
    V weight(const V* s) const {
        V total = s[0];
        for (size_t k = 1; k < size(); ++k) total += s[k];
        return total;
    }

    // gini: sum n_k^2 / n; entropy: sum n_k log n_k - n log n; misclassification: max n_k; loss: -min_a sum n_k L(k, a)
    Doubles merit(const Doubles* s) const {
        Doubles m{}, n = weight(s);
        switch (criterion) {
            case Criterion::gini:
                for (size_t k = 0; k < size(); ++k) m += s[k] * s[k];
                return m / n;
            case Criterion::misclassification:
                m = s[0];
                for (size_t k = 1; k < size(); ++k) m = vmax<double>(m, s[k]);
                return m;
            case Criterion::loss: {
                Doubles best{};
                for (size_t a = 0; a < loss.actions; ++a) {
                    Doubles risk{};
                    for (size_t k = 0; k < size(); ++k) risk += s[k] * loss.data[k * loss.actions + a];
                    best = a == 0 ? -risk : vmax<double>(best, -risk);
                }
                return best;
            }
            default:
                for (size_t k = 0; k < size(); ++k) m += entropy_term(s[k]);
                return m - entropy_term(n);
        }
    }

    // What a monotone function of a column is: the share of the second class.
    Doubles value(const Doubles* s) const { return s[size() - 1] / weight(s); }

    // The sum of the merits of two parts, with one division instead of two.
    Doubles merit_of_two(const Doubles* a, const Doubles* b) const {
        if (criterion != Criterion::gini) return merit(a) + merit(b);
        Doubles x{}, y{};
        for (size_t k = 0; k < size(); ++k) x += a[k] * a[k], y += b[k] * b[k];
        const Doubles m = weight(a), n = weight(b);
        return (x * n + y * m) / (m * n);
    }

    // How far the merit is below that of identical rows, per unit of weight.
    double impurity(const double* s, double merit) const {
        const double n = weight(s);
        const bool counts = criterion == Criterion::gini || criterion == Criterion::misclassification;
        return n > 0. ? std::max(0., (counts ? n : 0.) / n - merit / n) : 0.;
    }
};

// The impurity of numbers from their weight, sum and sum of squares about any center: the variance, or for `deviation`
// its root. A variance that the rounding of equal numbers may leave is none.
inline double spread(Criterion criterion, double weight, double sum, double squares) {
    if (!(weight > 0.)) return 0.;
    const double shift = (sum / weight) * (sum / weight), left = squares / weight - shift;
    const double variance = left > 1e-14 * shift ? left : 0.;
    return criterion == Criterion::deviation ? std::sqrt(variance) : variance;
}

// Size 2: weight and sum, enough for the variance; 3: the squares too.
template <int Size>
struct Numbers {
    using Instance = NumberRow;
    static constexpr int fixed = Size;
    Criterion criterion;

    size_t size() const { return Size; }
    void add(double* s, const NumberRow& t) const {
        s[0] += t.w;
        s[1] += t.w * t.y;
        if constexpr (Size > 2) s[2] += t.w * t.y * t.y;
    }

    template <class V>
    V weight(const V* s) const {
        return s[0];
    }

    // What a monotone function of a column is: the mean.
    Doubles value(const Doubles* s) const { return s[1] / s[0]; }

    Doubles merit_of_two(const Doubles* a, const Doubles* b) const {
        if constexpr (Size > 2) return merit(a) + merit(b);
        return (a[1] * a[1] * b[0] + b[1] * b[1] * a[0]) / (a[0] * b[0]);
    }

    // variance: (sum y)^2 / n; deviation: -sqrt(n (sum y^2 - (sum y)^2 / n)), n times the standard deviation
    Doubles merit(const Doubles* s) const {
        if constexpr (Size == 2) {
            return s[1] * s[1] / s[0];
        } else {
            Doubles spread = s[0] * s[2] - s[1] * s[1];
            const Doubles rounding = 1e-15 * (s[0] * s[2]);
            for (int i = 0; i < lanes<double>; ++i) spread[i] = spread[i] > rounding[i] ? -std::sqrt(spread[i]) : 0.;
            return spread;
        }
    }
};

// The merit of one set of sums, by the same arithmetic as of a vector of them.
template <class Target>
double merit_of(const Target& target, const double* s) {
    if constexpr (Target::fixed != 0) {
        Doubles lanes_of[Target::fixed];
        for (int k = 0; k < Target::fixed; ++k) lanes_of[k] = splat(s[k]);
        return target.merit(lanes_of)[0];
    } else {
        thread_local std::vector<Doubles, AlignedAllocator<Doubles>> lanes_of;
        lanes_of.resize(target.size());
        for (size_t k = 0; k < target.size(); ++k) lanes_of[k] = splat(s[k]);
        return target.merit(lanes_of.data())[0];
    }
}

}  // namespace lyceum::trees
