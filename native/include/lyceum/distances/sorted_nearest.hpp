// The k smallest (raw value, row number) pairs seen so far, in vectors, for k of at most `capacity`: an entry takes its
// place by one comparison of all entries and one shift, without a branch.
#pragma once
#include <lyceum/distances/nearest_heap.hpp>

namespace lyceum::distances {

template <size_t capacity>
class SortedNearest {
public:
    // The last k places are for neighbors; those before hold values below all others, which never move.
    explicit SortedNearest(size_t k) : k_(k) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < capacity; ++i) {
            const bool open = i + k >= capacity;
            raw_[i / L][i % L] = open ? infinity : -infinity;
            row_[i / L][i % L] = open ? std::numeric_limits<std::int64_t>::max() : -1;
        }
    }

    double limit() const { return raw_[vectors - 1][L - 1]; }

    // A pair that is not among the k smallest changes nothing.
    void offer(double raw, std::int64_t row) {
        const Vec<double> x = splat(raw);
        unsigned equal = 0;
#pragma GCC unroll 16
        for (size_t v = 0; v < vectors; ++v) equal |= lane_bits(raw_[v] == x);
        if (equal) [[unlikely]]
            insert<true>(x, row);
        else
            insert<false>(x, row);
    }

    // In ascending order; places without a neighbor have an infinite value and row -1.
    void write(double* raw, std::int64_t* rows) const {
        for (size_t i = 0; i < k_; ++i) {
            const size_t at = capacity - k_ + i;
            const std::int64_t row = row_[at / L][at % L];
            raw[i] = raw_[at / L][at % L];
            rows[i] = row == std::numeric_limits<std::int64_t>::max() ? -1 : row;
        }
    }

private:
    static constexpr size_t L = lanes<double>, vectors = capacity / L;

    template <bool ties>
    void insert(Vec<double> x, std::int64_t row) {
        const Vec<std::int64_t> number = splat(row);
        Vec<double> raw_before = splat(-std::numeric_limits<double>::infinity());
        Vec<std::int64_t> row_before = splat<std::int64_t>(-1);
#pragma GCC unroll 16
        for (size_t v = 0; v < vectors; ++v) {
            const Vec<double> a = raw_[v], b = shifted<double>(raw_before, a);
            const Vec<std::int64_t> r = row_[v], s = shifted<std::int64_t>(row_before, r);
            auto stays = a < x, follows = b < x;
            if constexpr (ties) stays |= (a == x) & (r < number), follows |= (b == x) & (s < number);
            raw_[v] = stays ? a : (follows ? x : b);
            row_[v] = stays ? r : (follows ? number : s);
            raw_before = a, row_before = r;
        }
    }

    // The last lane of `before` and all but the last of `v`.
    template <class T>
    static Vec<T> shifted(Vec<T> before, Vec<T> v) {
        return [&]<int... I>(std::integer_sequence<int, I...>) {
            return __builtin_shuffle(before, v, Vec<std::int64_t>{(static_cast<int>(L) - 1 + I)...});
        }(std::make_integer_sequence<int, static_cast<int>(L)>{});
    }

    size_t k_;
    Vec<double> raw_[vectors];
    Vec<std::int64_t> row_[vectors];
};

}  // namespace lyceum::distances
