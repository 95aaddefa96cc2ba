// The k nearest rows in the Euclidean distance: a filter by products in float, and squares of differences in double for
// the pairs that pass it.
//
// With a = s (x - c) and b = s (y - c), c about the middle of Y and s a power of two, s^2 |x - y|^2 / 2 =
// |a|^2 / 2 - (a.b - |b|^2 / 2). The filter rounds a and b to float (relative error u = 2^-24 each) and sums d + 2
// terms in float, so that its score a.b - |b|^2 / 2 is wrong by at most
//     e = 1.02 u (d + 3) (M^2 / 2 + |a| M),      M = max |b|,
// and |a - b| by at most 1.02 u (|a| + M). A row y whose raw value is at most the limit t of a query therefore has
//     score >= |a|^2 / 2 - (s sqrt(t) + 1.02 u (|a| + M))^2 / 2 - e
// (and terms for underflow): pairs below cannot be neighbours, all others are taken in full. The answer is that of
// nearest.hpp, bit for bit. Where more than an eighth of the pairs pass, the filter is no gain and is left out.
// Cost: rows * rows * columns multiply-adds in float.
#pragma once
#include <lyceum/distances/nearest.hpp>

namespace lyceum::distances {

// sum of x y
struct Products : SquaredDifferences {
    template <class V>
    void add(State<V>& state, V x, V y, size_t) const {
        state.sum += x * y;
    }
};

template <class T>
class EuclideanNearest {
public:
    EuclideanNearest(Matrix<const T> X, Matrix<const T> Y, NearestQuery asked, Poll poll)
        : X_(X),
          Y_(Y),
          d_(X.cols),
          k_(asked.k),
          poll_(poll),
          lists_(X.rows, asked),
          centre_(d_),
          half_(X.rows),
          length_(X.rows),
          floor_(round_up(X.rows, R), std::numeric_limits<float>::infinity()),
          passed_(round_up(X.rows, R) / R),
          direct_(passed_.size()) {}

    void operator()(NearestOutput out) {
        if (X_.rows) {
            find_frame();
            pack_queries();
            const size_t size = chunk_rows(d_);
            for (size_t begin = 0; begin < Y_.rows; begin += size) scan(begin, std::min(size, Y_.rows - begin), size);
        }
        lists_.write(out);
    }

private:
    static constexpr size_t G = side_rows<Products>, R = group_rows<float>, L = lanes<float>;
    static constexpr double u = 1.02 / 16777216, farthest = 1e15;
    static constexpr size_t most_columns = 100000;  // u (d + 3) must stay small

    // Centre and scale from some rows of Y; any would do, these keep the error of the filter small.
    void find_frame() {
        const size_t step = std::max<size_t>(1, Y_.rows / 1024);
        double count = 0, spread = 0;
        for (size_t i = 0; i < Y_.rows; i += step, ++count)
            for (size_t j = 0; j < d_; ++j)
                centre_[j] += (static_cast<double>(Y_.row(i)[j]) - centre_[j]) / (count + 1);
        for (size_t i = 0; i < Y_.rows; i += step)
            for (size_t j = 0; j < d_; ++j)
                spread = std::max(spread, std::abs(static_cast<double>(Y_.row(i)[j]) - centre_[j]));
        if (spread > 0 && spread <= std::numeric_limits<double>::max())
            scale_ = std::ldexp(1., -std::clamp(std::ilogb(spread), -500, 500));
    }

    // One row in the frame, as float cells `step` apart; its squared length.
    double place(const T* x, float* out, size_t step) const {
        double square = 0;
        for (size_t j = 0; j < d_; ++j) {
            const float z = static_cast<float>((static_cast<double>(x[j]) - centre_[j]) * scale_);
            out[j * step] = z;
            square += static_cast<double>(z) * static_cast<double>(z);
        }
        return square;
    }

    void pack_queries() {
        const size_t n = X_.rows;
        near_ = scratch<struct EuclideanNearQueries, float>(round_up(n, R) * d_);
        full_ = scratch<struct EuclideanQueries, double>(round_up(n, R) * d_);
        pack_groups(X_, 0, n, group_rows<double>, full_);
        for (size_t q = 0; q < round_up(n, R); ++q) {
            const double square = place(X_.row(std::min(q, n - 1)), near_ + q / R * R * d_ + q % R, R);
            if (!(square <= farthest * farthest)) direct_[q / R] = true;
            if (q < n) half_[q] = square / 2, length_[q] = std::sqrt(square);
        }
    }

    void scan(size_t begin, size_t count, size_t size) {
        near_side_ = scratch<struct EuclideanNearChunk, float>(size * d_);
        bias_ = scratch<struct EuclideanBias, float>(size);
        full_side_ = scratch<struct EuclideanChunk, double>(size * d_);
        pack_groups(Y_, begin, count, G, full_side_);
        double most = 0;
        for (size_t i = 0; i < round_up(count, G); ++i) {
            const double square = place(Y_.row(begin + std::min(i, count - 1)), near_side_ + i / G * G * d_ + i % G, G);
            bias_[i] = static_cast<float>(-square / 2);
            most = square <= most ? most : square;  // NaN stays
        }
        const bool fits = most <= farthest * farthest && d_ < most_columns;
        reach_ = std::sqrt(most);
        for (size_t q = 0; q < X_.rows; q += R) {
            if (fits && !direct_[q / R])
                filter(q, begin, count);
            else
                compare_all(q, begin, count);
            poll_(R * count * d_);
        }
    }

    void compare_all(size_t query, size_t begin, size_t count) {
        for (size_t q = query; q < std::min(query + R, X_.rows); q += group_rows<double>)
            nearest_in_chunk(SquaredDifferences{}, full_ + q * d_, q, X_.rows, full_side_, begin, count, d_, lists_);
    }

    void filter(size_t query, size_t begin, size_t count) {
        const size_t wide = std::min(R, X_.rows - query);
        for (size_t r = 0; r < wide; ++r) set_floor(query + r);
        float scores[G * R];
        for (size_t i = 0; i < count; i += G) {
            Vec<float> floor[row_vectors];
            for (int v = 0; v < row_vectors; ++v) floor[v] = load(floor_.data() + query + v * L);
            Vec<Int<float>> passing{};
            pair_tile<float>(Products{}, near_ + query * d_, near_side_ + i * d_, d_,
                             [&](int g, int v, Vec<float> sum) {
                                 const Vec<float> score = sum + bias_[i + g];
                                 passing |= score >= floor[v];
                                 store(scores + g * R + v * L, score);
                             });
            if (any_lane(passing)) take(scores, query, wide, begin, i, std::min(G, count - i));
        }
        const size_t seen = begin + count;
        const double normal =
            static_cast<double>(k_) * (4 + 4 * std::log2(1 + static_cast<double>(seen) / static_cast<double>(k_)));
        if (static_cast<double>(passed_[query / R]) >
            static_cast<double>(wide) * (static_cast<double>(seen) / 8 + normal))
            direct_[query / R] = true;
    }

    [[gnu::noinline]] void take(const float* scores, size_t query, size_t wide, size_t begin, size_t i, size_t there) {
        for (size_t g = 0; g < there; ++g)
            for (size_t r = 0; r < wide; ++r) {
                const size_t q = query + r, place = begin + i + g;
                if (!(scores[g * R + r] >= floor_[q])) continue;
                ++passed_[query / R];
                if (lists_.offer(q, raw_value(SquaredDifferences{}, X_.row(q), Y_.row(place), d_), place)) set_floor(q);
            }
    }

    void set_floor(size_t q) {
        const double terms = static_cast<double>(d_ + 3), limit = *lists_.limits(q) * scale_ * scale_;
        const double within =
            std::sqrt(limit) * (1 + 1e-12) + u * (length_[q] + reach_) + std::sqrt(terms) * (1e-44 + scale_ * 1e-161);
        const double error = u * terms * (reach_ * reach_ / 2 + length_[q] * reach_) + terms * 1e-37;
        const double floor = half_[q] - within * within / 2 - error;
        floor_[q] = std::nextafter(static_cast<float>(floor), -std::numeric_limits<float>::infinity());
    }

    Matrix<const T> X_, Y_;
    size_t d_, k_;
    Poll poll_;
    NearestLists lists_;
    std::vector<double> centre_, half_, length_;  // half_: |a|^2 / 2
    double scale_ = 1, reach_ = 0;
    std::vector<float, AlignedAllocator<float>> floor_;  // of scores; padding lets nothing pass
    std::vector<size_t> passed_;                         // pairs, by group of queries
    std::vector<bool> direct_;                           // groups that are compared in full
    float *near_ = nullptr, *near_side_ = nullptr, *bias_ = nullptr;
    double *full_ = nullptr, *full_side_ = nullptr;
};

}  // namespace lyceum::distances
