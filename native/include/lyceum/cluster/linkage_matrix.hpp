// Agglomerative clustering on the distances of all pairs i < j, row after row (SciPy's condensed form, half a matrix),
// which are overwritten. Always the closest pair is merged, so that centroid linkage, whose heights may fall, is exact
// too. Every cluster i keeps the nearest cluster among those after it, or a lower bound of that distance; a bound is
// looked into only when it is the smallest of all (Muellner 2011). A merged cluster takes the place of its first part:
// distances to later clusters are then contiguous. Cost: about n^2 / 2 distances to find the nearest,
// by several threads, and n^2 updates, by one: a merge is too short to be shared.
#pragma once
#include <algorithm>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/thread_team.hpp>
#include <lyceum/core/views.hpp>
#include <vector>

namespace lyceum::cluster {

// Merge t joins the clusters of the rows a[t] and b[t] at a height.
struct Merges {
    std::int64_t *a, *b;
    double* height;
};

// The distance of x to the union of a and b (Lance and Williams); squared distances for Centroid, Median and Ward.
struct Parts {
    double na, nb, ab;  // sizes, and the distance of a and b
};
struct Single {
    static double join(const Parts&, double a, double b, double) { return std::min(a, b); }
};
struct Complete {
    static double join(const Parts&, double a, double b, double) { return std::max(a, b); }
};
struct Average {
    static double join(const Parts& p, double a, double b, double) { return (p.na * a + p.nb * b) / (p.na + p.nb); }
};
struct Centroid {
    static double join(const Parts& p, double a, double b, double) {
        const double n = p.na + p.nb;
        return std::max(0., (p.na * a + p.nb * b - p.na * p.nb * p.ab / n) / n);
    }
};
// The two parts count alike, whatever their sizes: the mean distance, and the distance of midpoints.
struct Weighted {
    static double join(const Parts&, double a, double b, double) { return 0.5 * (a + b); }
};
struct Median {
    static double join(const Parts& p, double a, double b, double) { return std::max(0., 0.5 * (a + b) - 0.25 * p.ab); }
};
struct Ward {
    static double join(const Parts& p, double a, double b, double nx) {
        return ((p.na + nx) * a + (p.nb + nx) * b - nx * p.ab) / (p.na + p.nb + nx);
    }
};

template <class T, class Rule>
class MatrixLinkage {
public:
    MatrixLinkage(T* distances, size_t n, const double* sizes, size_t threads, InterruptPoll poll)
        : data_(distances), n_(n), team_(threads), poll_(poll), size_(n), penalty_(n), bound_(n), near_(n), row_(n) {
        for (size_t i = 0; i < n; ++i) {
            size_[i] = sizes ? sizes[i] : 1;
            row_[i] = static_cast<std::int64_t>(i);
            live_.push_back(i);
        }
    }

    void operator()(Merges out) {
        const size_t merges = n_ ? n_ - 1 : 0, step = 64;
        team_((merges + step - 1) / step, [&](size_t task) {
            for (size_t i = task * step; i < std::min(merges, (task + 1) * step); ++i) look(i);
        });
        if (n_) bound_[n_ - 1] = never;
        for (size_t t = 0; t < merges; ++t) {
            const size_t a = closest(), b = near_[a];
            out.a[t] = row_[a], out.b[t] = row_[b], out.height[t] = static_cast<double>(at(a, b));
            merge(a, b);
            poll_(4 * live_.size());
            if (n_ > 256 && live_.size() < n_ / 2) compact();
        }
    }

private:
    static constexpr T never = std::numeric_limits<T>::infinity();

    // at(i, j) for i < j
    T* row(size_t i) { return data_ + (n_ * i - i * (i + 1) / 2) - i - 1; }
    T& at(size_t i, size_t j) { return row(i)[j]; }

    // The first place in [from, n) of the least value; `value(j)` must be cheap to compute twice.
    template <class Value>
    size_t first_least(size_t from, T& least, const Value& value) const {
        constexpr size_t block = 256;
        size_t found = from;
        least = never;
        for (size_t begin = from; begin < n_; begin += block) {
            const size_t end = std::min(n_, begin + block);
            T best = never;
#pragma omp simd reduction(min : best)
            for (size_t j = begin; j < end; ++j) best = std::min(best, value(j));
            if (best < least) least = best, found = begin;
        }
        while (found < n_ && !(value(found) == least)) ++found;
        return found;
    }

    void look(size_t i) {
        const T *values = row(i), *penalty = penalty_.data();
        T best = never;
        size_t j = first_least(i + 1, best, [=](size_t at) { return static_cast<T>(values[at] + penalty[at]); });
        if (j == n_ || penalty_[j] != 0) {  // only infinite distances, or none
            for (j = i + 1; j < n_ && penalty_[j] != 0;) ++j;
            best = j < n_ ? values[j] : never;
        }
        near_[i] = j, bound_[i] = j < n_ ? best : never;
    }

    // The cluster whose bound is the smallest and met by its nearest.
    size_t closest() {
        const T* bounds = bound_.data();
        while (true) {
            T best = never;
            const size_t i = first_least(0, best, [=](size_t at) { return bounds[at]; });
            if (best == never) return first_pair();
            if (near_[i] < n_ && penalty_[near_[i]] == 0 && at(i, near_[i]) == best) return i;
            look(i);
        }
    }

    // All that are left are infinitely far apart.
    size_t first_pair() {
        near_[live_[0]] = live_[1];
        return live_[0];
    }

    void merge(size_t a, size_t b) {
        constexpr size_t ahead = 24;  // a row begins far from the last: ask for cells before they are needed
        const Parts parts{size_[a], size_[b], static_cast<double>(at(a, b))};
        const auto place = std::lower_bound(live_.begin(), live_.end(), b);
        const auto middle = static_cast<size_t>(place - live_.begin());
        live_.erase(place);
        penalty_[b] = never, bound_[b] = never;
        for (size_t l = 0; l < middle; ++l) {
            const size_t x = live_[l];
            if (l + ahead < middle) {
                T* later = row(live_[l + ahead]);
                __builtin_prefetch(later + b, 0, 3);
                if (live_[l + ahead] < a) __builtin_prefetch(later + a, 1, 3);
            }
            if (x < a) {
                T* values = row(x);
                const T joined = values[a] = static_cast<T>(Rule::join(parts, values[a], values[b], size_[x]));
                if (near_[x] == b) near_[x] = a;
                if (joined < bound_[x]) bound_[x] = joined, near_[x] = a;
            } else if (x > a) {
                T& value = at(a, x);
                value = static_cast<T>(Rule::join(parts, value, at(x, b), size_[x]));
                if (near_[x] == b) near_[x] = n_;  // looked for when its bound is the smallest
            }
        }
        T *one = row(a), *two = row(b);
        const double* sizes = size_.data();
#pragma omp simd
        for (size_t x = b + 1; x < n_; ++x) one[x] = static_cast<T>(Rule::join(parts, one[x], two[x], sizes[x]));
        size_[a] += size_[b];
        look(a);
    }

    // Only the live clusters, in the same order, at the front of the same memory.
    void compact() {
        const size_t m = live_.size();
        T* to = data_;
        std::vector<size_t> place(n_, m);
        for (size_t l = 0; l < m; ++l) place[live_[l]] = l;
        for (size_t l = 0; l < m; ++l) {
            const T* values = row(live_[l]);
            for (size_t k = l + 1; k < m; ++k) *to++ = values[live_[k]];
        }
        for (size_t l = 0; l < m; ++l) {
            const size_t i = live_[l];
            size_[l] = size_[i], row_[l] = row_[i], bound_[l] = bound_[i], penalty_[l] = 0;
            near_[l] = near_[i] < n_ ? place[near_[i]] : m;
        }
        for (size_t l = 0; l < m; ++l) live_[l] = l;
        n_ = m;
    }

    T* data_;
    size_t n_;
    ThreadTeam team_;
    InterruptPoll poll_;
    std::vector<double> size_;
    std::vector<T> penalty_, bound_;  // penalty: infinite for a cluster that is gone
    std::vector<size_t> near_, live_;
    std::vector<std::int64_t> row_;  // a row of every cluster
};

}  // namespace lyceum::cluster
