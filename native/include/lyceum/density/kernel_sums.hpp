// log_sum[q] = log sum_i w_i prod_j k(z_qj - z_ij), every sum within a relative error of `tolerance`.
//
// Queries come in tiles of 4 that lie close together. A tile visits the leaves from the largest possible contribution
// down, and stops when all that is left cannot add more than `tolerance` to the smallest of its sums: the error is
// bounded where the density is tiny as well. With tolerance 0 only what is zero in floating point is left out. A sum
// too small for a double, or lost by cancellation when a row leaves itself out, is taken again in logarithms about its
// largest term.
#pragma once
#include <array>
#include <cmath>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/density/density_kernels.hpp>
#include <lyceum/density/row_leaves.hpp>

namespace lyceum::density {

inline constexpr size_t query_tile = 4;

// The leaves that can add something to the sums of a tile of queries, by powers of 2 downwards; and what those from
// each on can add together, summed from the smallest up.
class LeafVisits {
public:
    explicit LeafVisits(const Leaves& leaves)
        : leaves_(leaves), bound_(leaves.padded), left_(leaves.count), order_(leaves.count) {}

    double* bounds() { return bound_.data(); }  // of one row of unit weight in every leaf; to set before `sort`
    size_t count() const { return count_; }
    size_t leaf(size_t at) const { return order_[at]; }
    double left(size_t at) const { return left_[at]; }

    void sort() {
        std::array<size_t, buckets + 1> start{};
        for (size_t l = 0; l < leaves_.count; ++l) {
            bound_[l] *= leaves_.weight[l] * (1 + 1e-12);
            if (bound_[l] > 0) ++start[bucket(bound_[l]) + 1];
        }
        for (size_t b = 0; b < buckets; ++b) start[b + 1] += start[b];
        count_ = start[buckets];
        for (size_t l = 0; l < leaves_.count; ++l)
            if (bound_[l] > 0) order_[start[bucket(bound_[l])]++] = l;
        double left = 0;
        for (size_t at = count_; at-- > 0;) left_[at] = left += bound_[order_[at]];
    }

private:
    static constexpr size_t buckets = 160;

    static size_t bucket(double bound) {
        return static_cast<size_t>(std::clamp(40 - std::ilogb(bound), 0, static_cast<int>(buckets) - 1));
    }

    const Leaves& leaves_;
    std::vector<double, AlignedAllocator<double>> bound_, left_;
    std::vector<size_t> order_;
    size_t count_ = 0;
};

template <class Window>
class KernelSums {
public:
    KernelSums(const Leaves& leaves, double tolerance, InterruptPoll poll)
        : leaves_(leaves), tolerance_(tolerance), poll_(poll), visits_(leaves) {}

    // `own_row[q]` is the row that query q itself is, which its sum leaves out; null: none is left out.
    void operator()(Matrix<const double> Z, const std::int64_t* own_row, double* log_sums) {
        for (size_t q = 0; q < Z.rows; q += query_tile)
            tile({Z.row(q), std::min(query_tile, Z.rows - q), Z.cols}, own_row ? own_row + q : nullptr, log_sums + q);
    }

private:
    static constexpr size_t L = lanes<double>;
    static constexpr double tiny = 1e-250;

    void tile(Matrix<const double> Z, const std::int64_t* own_row, double* log_sums) {
        visit_order(Z);
        double sums[query_tile];
        for (size_t q = 0; q < Z.rows; ++q) sums[q] = own_row ? -leaves_.w[static_cast<size_t>(own_row[q])] : 0.;
        for (size_t at = 0; at < visits_.count(); ++at) {
            if (visits_.left(at) <= tolerance_ * *std::min_element(sums, sums + Z.rows)) break;
            for (size_t q = 0; q < Z.rows; ++q) sums[q] += leaf_sum(Z.row(q), visits_.leaf(at));
            poll_(leaf_rows * Z.rows * (2 * leaves_.axes + 24));
        }
        for (size_t q = 0; q < Z.rows; ++q) {
            const double floor = own_row ? 1e-3 * leaves_.w[static_cast<size_t>(own_row[q])] : 0.;
            const bool sound = sums[q] > tiny && sums[q] > floor;
            log_sums[q] = sound ? std::log(sums[q]) : log_sum(Z.row(q), own_row ? own_row[q] : -1);
        }
    }

    double leaf_sum(const double* z, size_t l) const {
        const double *cells = leaves_.leaf(l), *w = leaves_.w.data() + l * leaf_rows;
        Doubles state[leaf_rows / L], sum{};
#pragma GCC unroll 16
        for (Doubles& one : state) one = Window::start();
        for (size_t j = 0; j < leaves_.axes; ++j, cells += leaf_rows)
#pragma GCC unroll 16
            for (size_t r = 0; r < leaf_rows / L; ++r) state[r] = Window::add(state[r], z[j] - load(cells + r * L));
#pragma GCC unroll 16
        for (size_t r = 0; r < leaf_rows / L; ++r) sum += load(w + r * L) * Window::value(state[r]);
        return sum_lanes<double>(sum);
    }

    // By the bounds of all leaves for the box around the queries.
    void visit_order(Matrix<const double> Z) {
        double* bound = visits_.bounds();
        bounds<Window>(Z, [=](size_t l, Doubles state) { store(bound + l, Window::bound_value(state)); });
        visits_.sort();
        poll_(leaves_.count * (2 * leaves_.axes + 40));
    }

    // `use(l, state)` with the envelope's state at the distances between the box of Z and L leaves from l on.
    template <class Envelope, class Use>
    void bounds(Matrix<const double> Z, Use use) const {
        double* low = scratch<struct QueryLow, double>(2 * Z.cols);
        double* high = low + Z.cols;
        for (size_t j = 0; j < Z.cols; ++j) {
            low[j] = high[j] = Z.row(0)[j];
            for (size_t q = 1; q < Z.rows; ++q)
                low[j] = std::min(low[j], Z.row(q)[j]), high[j] = std::max(high[j], Z.row(q)[j]);
        }
        for (size_t l = 0; l < leaves_.padded; l += L) {
            Doubles state = Envelope::start();
            for (size_t j = 0; j < Z.cols; ++j) {
                const Doubles under = load(leaves_.low.data() + j * leaves_.padded + l) - high[j];
                const Doubles over = low[j] - load(leaves_.high.data() + j * leaves_.padded + l);
                state = Envelope::bound(state, vmax<double>(vmax<double>(under, over), Doubles{}));
            }
            use(l, state);
        }
    }

    // The sum of one query in logarithms, without row `own`.
    double log_sum(const double* z, std::int64_t own) {
        using Log = typename Logarithm<Window>::type;
        constexpr double none = -std::numeric_limits<double>::infinity();
        double* bound = scratch<struct LogBound, double>(leaves_.padded);
        bounds<Log>({z, 1, leaves_.axes}, [&](size_t l, Doubles state) { store(bound + l, Log::log_value(state)); });
        double top = none;
        double terms[leaf_rows];
        size_t nearest = 0;
        for (size_t l = 1; l < leaves_.count; ++l)
            if (bound[l] > bound[nearest]) nearest = l;
        const auto raise = [&](size_t l) {
            log_terms<Log>(z, l, own, terms);
            top = std::max(top, *std::max_element(terms, terms + leaf_rows));
        };
        raise(nearest);
        for (size_t l = 0; l < leaves_.count; ++l)
            if (bound[l] > top) raise(l);
        if (top == none) return none;
        double sum = 0;
        for (size_t l = 0; l < leaves_.count; ++l)
            if (bound[l] > top - 60) {  // what is left out is below e^-60 of the largest term, per row
                log_terms<Log>(z, l, own, terms);
                for (size_t r = 0; r < leaf_rows; r += L)
                    sum += sum_lanes<double>(load(leaves_.w.data() + l * leaf_rows + r) * vexp(load(terms + r) - top));
            }
        poll_(leaves_.rows * 8);
        return top + std::log(sum);
    }

    // Rare, and long: one copy of it.
    template <class Log>
    [[gnu::noinline]] void log_terms(const double* z, size_t l, std::int64_t own, double* terms) const {
        const double *cells = leaves_.leaf(l), *w = leaves_.w.data() + l * leaf_rows;
        constexpr double none = -std::numeric_limits<double>::infinity();
        for (size_t r = 0; r < leaf_rows; r += L) {
            Doubles state = Log::start();
            for (size_t j = 0; j < leaves_.axes; ++j) state = Log::add(state, z[j] - load(cells + j * leaf_rows + r));
            store(terms + r, load(w + r) > 0. ? Log::log_value(state) : splat(none));
        }
        const auto place = static_cast<size_t>(own);
        if (own >= 0 && place / leaf_rows == l) terms[place % leaf_rows] = none;
    }

    const Leaves& leaves_;
    double tolerance_;
    InterruptPoll poll_;
    LeafVisits visits_;
};

}  // namespace lyceum::density
