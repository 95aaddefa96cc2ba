// Sequential minimal optimization on a working set whose kernel values are all there.
//
// The problem over variables b_t, 0 <= b_t <= C_t, with signs s_t of +-1 and the kernel values K of their rows:
//     minimize  1/2 sum_tu s_t s_u b_t b_u K_tu - sum_t s_t z_t b_t,   with sum_t s_t b_t fixed if `balanced`.
// v_t = z_t - sum_u s_u b_u K_tu is minus the slope along s_t b_t. It is optimal where the largest v of the variables
// that s_t b_t can rise for ("up") is not above the smallest v of those that it can fall for ("low"); if not balanced,
// where the first is not above zero and the second not below.
// A step moves the pair (i, j): i has the largest v, j promises the most, (v_i - v_j)² / (K_ii + K_jj - 2 K_ij)
// (Fan, Chen and Lin 2005); not balanced, one variable at a time. Cost per step: two passes over the working set.
#pragma once
#include <cmath>
#include <limits>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>
#include <vector>

namespace lyceum::kernels {

template <class T>
class WorkingSet {
public:
    // v and b are read at the start and hold the result at the end.
    WorkingSet(Matrix<const T> K, const double* s, const double* C, double* b, T* v, bool balanced)
        : K_(K), s_(s), C_(C), b_(b), v_(v), q_(K.rows), balanced_(balanced), up_(q_), low_(q_), diagonal_(q_) {
        for (size_t t = 0; t < q_; ++t) {
            diagonal_[t] = K.row(t)[t];
            set_sides(t);
        }
    }

    // Steps until the violation is at most tol; the number of steps, -1 if max_steps were not enough.
    std::int64_t solve(double tol, size_t max_steps, InterruptPoll& poll) {
        for (size_t step = 0; step < max_steps; ++step) {
            const Choice choice = balanced_ ? choose_pair() : choose_one();
            if (!(choice.violation > tol)) return static_cast<std::int64_t>(step);
            move(choice);
            poll(4 * q_);
        }
        return -1;
    }

private:
    static constexpr size_t L = lanes<T>, none = std::numeric_limits<size_t>::max();
    static constexpr T far = std::numeric_limits<T>::infinity();
    static constexpr T least = static_cast<T>(1e-12);

    struct Choice {
        size_t i, j;
        double violation;
    };

    struct Best {
        T value;
        size_t at;
    };

    // The largest f(t) with the first t that has it; f is called with vectors and with single values. A pass is long
    // beside its call, and stands at five places.
    template <class F>
    [[gnu::noinline]] Best largest(const F& f) const {
        Best best{-far, none};
        size_t t = 0;
        if (q_ >= L) {
            Vec<T> value = splat(-far);
            Vec<Int<T>> at = {}, here = {};
            for (size_t k = 0; k < L; ++k) here[k] = static_cast<Int<T>>(k);
            for (; t + L <= q_; t += L, here += static_cast<Int<T>>(L)) {
                const Vec<T> x = f.vector(t);
                at = x > value ? here : at;
                value = x > value ? x : value;
            }
            for (size_t k = 0; k < L; ++k)
                if (value[k] > best.value ||
                    (value[k] == best.value && best.at != none && static_cast<size_t>(at[k]) < best.at))
                    best = {value[k], static_cast<size_t>(at[k])};
        }
        for (; t < q_; ++t)
            if (const T x = f.scalar(t); x > best.value) best = {x, t};
        return best;
    }

    struct Rising {
        const WorkingSet& w;
        Vec<T> vector(size_t t) const { return load(w.v_ + t) + load(w.up_.data() + t); }
        T scalar(size_t t) const { return w.v_[t] + w.up_[t]; }
    };

    struct Falling {
        const WorkingSet& w;
        Vec<T> vector(size_t t) const { return -(load(w.v_ + t) + load(w.low_.data() + t)); }
        T scalar(size_t t) const { return -(w.v_[t] + w.low_[t]); }
    };

    struct PairGain {
        const WorkingSet& w;
        const T* row;
        T v_i, k_ii;
        Vec<T> vector(size_t t) const {
            const Vec<T> gap = v_i - (load(w.v_ + t) + load(w.low_.data() + t));
            Vec<T> bend = (load(w.diagonal_.data() + t) + k_ii) - (load(row + t) + load(row + t));
            bend = bend > least ? bend : splat(least);
            return gap > T{0} ? gap * gap / bend : splat(-far);
        }
        T scalar(size_t t) const {
            const T gap = v_i - (w.v_[t] + w.low_[t]);
            const T bend = std::max(w.diagonal_[t] + k_ii - 2 * row[t], least);
            return gap > T{0} ? gap * gap / bend : -far;
        }
    };

    struct OneGain {
        const WorkingSet& w;
        Vec<T> vector(size_t t) const {
            const Vec<T> v = load(w.v_ + t), up = v + load(w.up_.data() + t), low = -(v + load(w.low_.data() + t));
            const Vec<T> gap = up > low ? up : low;
            Vec<T> bend = load(w.diagonal_.data() + t);
            bend = bend > least ? bend : splat(least);
            return gap > T{0} ? gap * gap / bend : splat(-far);
        }
        T scalar(size_t t) const {
            const T gap = std::max(w.v_[t] + w.up_[t], -(w.v_[t] + w.low_[t]));
            return gap > T{0} ? gap * gap / std::max(w.diagonal_[t], least) : -far;
        }
    };

    Choice choose_pair() const {
        const Best rising = largest(Rising{*this}), falling = largest(Falling{*this});
        if (rising.at == none || falling.at == none) return {none, none, 0};
        const double violation = static_cast<double>(rising.value) + static_cast<double>(falling.value);
        const T* row = K_.row(rising.at);
        const Best partner = largest(PairGain{*this, row, v_[rising.at], diagonal_[rising.at]});
        if (partner.at == none) return {none, none, 0};
        return {rising.at, partner.at, violation};
    }

    Choice choose_one() const {
        const Best rising = largest(Rising{*this}), falling = largest(Falling{*this});
        const double violation = std::max(static_cast<double>(rising.value), static_cast<double>(falling.value));
        const Best best = largest(OneGain{*this});
        if (best.at == none) return {none, none, 0};
        return {best.at, none, violation};
    }

    void move(const Choice& choice) {
        const auto [i, j, violation] = choice;
        const T* a = K_.row(i);
        if (j == none) {
            const double v = static_cast<double>(v_[i]);
            const double wanted = v / std::max<double>(diagonal_[i], least);
            const double step =
                v > 0 ? shift(i, std::min(wanted, room_up(i)), +1) : -shift(i, std::min(-wanted, room_low(i)), -1);
            for (size_t t = 0; t < q_; ++t) v_[t] -= static_cast<T>(step) * a[t];
            return;
        }
        const T* c = K_.row(j);
        const double bend = std::max<double>(diagonal_[i] + diagonal_[j] - 2 * a[j], least);
        const double wanted = (static_cast<double>(v_[i]) - static_cast<double>(v_[j])) / bend;
        const double step = std::min({wanted, room_up(i), room_low(j)});
        shift(i, step, +1);
        shift(j, step, -1);
        const T by = static_cast<T>(step);
        for (size_t t = 0; t < q_; ++t) v_[t] -= by * (a[t] - c[t]);
    }

    double room_up(size_t t) const { return s_[t] > 0 ? C_[t] - b_[t] : b_[t]; }
    double room_low(size_t t) const { return s_[t] > 0 ? b_[t] : C_[t] - b_[t]; }

    // Moves s_t b_t by `step` up or down; a bound is met exactly.
    double shift(size_t t, double step, int way) {
        const bool grows = (s_[t] > 0) == (way > 0);
        const double room = grows ? C_[t] - b_[t] : b_[t];
        b_[t] = step >= room ? (grows ? C_[t] : 0) : (grows ? b_[t] + step : b_[t] - step);
        set_sides(t);
        return step;
    }

    void set_sides(size_t t) {
        up_[t] = room_up(t) > 0 ? T{0} : -far;
        low_[t] = room_low(t) > 0 ? T{0} : far;
    }

    Matrix<const T> K_;
    const double *s_, *C_;
    double* b_;
    T* v_;
    size_t q_;
    bool balanced_;
    std::vector<T> up_, low_, diagonal_;
};

}  // namespace lyceum::kernels
