// The k nearest rows in the Euclidean distance: a filter by products in float, and squares of differences in double for
// the pairs that pass it.
//
// With a = s (x - c) and b = s (y - c), c about the middle of Y and s a power of two, s^2 |x - y|^2 / 2 =
// |a|^2 / 2 - (a.b - |b|^2 / 2). The filter rounds a and b to float (relative error u = 2^-24 each) and sums d + 2
// terms in float, so that its score a.b - |b|^2 / 2 is wrong by at most
//     e = 1.02 u (d + 3) (M^2 / 2 + |a| M),      M = max |b|,
// and |a - b| by at most 1.02 u (|a| + M). A row y whose raw value is at most the limit t of a query therefore has
//     score >= |a|^2 / 2 - (s sqrt(t) + 1.02 u (|a| + M))^2 / 2 - e
// (and terms for underflow): pairs below cannot be neighbors. Others wait in a short list per query, with their
// scores: k scores of at least S bound the limit by s sqrt(t) <= sqrt(|a|^2 - 2 S + 2 e) + 1.02 u (|a| + M), so that
// most leave it again without ever being compared in full. The answer is that of nearest.hpp, bit for bit. Where more
// than an eighth of the pairs are compared in full, the filter is no gain and is left out. Cost: rows * rows * columns
// multiply-adds in float.
#pragma once
#include <bit>
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
    EuclideanNearest(Matrix<const T> X, Matrix<const T> Y, NearestQuery asked, InterruptPoll poll)
        : X_(X),
          Y_(Y),
          d_(X.cols),
          asked_(asked),
          room_(asked.k <= most_by_score ? 2 * asked.k + 64 : 64),
          poll_(poll),
          lists_(X.rows, asked),
          center_(d_),
          half_(X.rows),
          length_(X.rows),
          within_(X.rows, std::numeric_limits<double>::infinity()),
          floor_(round_up(X.rows, R), std::numeric_limits<float>::infinity()),
          waiting_(X.rows * room_),
          count_(X.rows),
          review_(X.rows, std::min(room_, first_review())),
          floors_reach_(round_up(X.rows, R) / R, -1),
          compared_(floors_reach_.size()),
          direct_(compared_.size()) {}

    void operator()(NearestOutput out) {
        if (X_.rows <= few_queries) {  // packing both sides would take longer than all pairs
            for (size_t q = 0; q < X_.rows; ++q) compare(q, Y_.rows, [](size_t i) { return i; }), poll_(Y_.rows * d_);
        } else {
            find_frame();
            pack_queries();
            const size_t size = chunk_rows(d_);
            for (size_t begin = 0; begin < Y_.rows; begin += size) scan(begin, std::min(size, Y_.rows - begin), size);
            for (size_t q = 0; q < X_.rows; ++q) compare_waiting(q), poll_(room_ * d_);
        }
        lists_.write(out);
    }

private:
    static constexpr size_t G = side_rows<Products>, R = group_rows<float>, L = lanes<float>;
    static constexpr double u = 1.02 / 16777216, farthest = 1e15;
    static constexpr size_t few_queries = 3;
    static constexpr size_t most_columns = 100000;  // u (d + 3) must stay small
    static constexpr size_t most_by_score = 128;    // neighbors; with more, lists of scores would take much memory
    struct Waiting {
        float score;
        std::uint32_t place_in_chunk;
        size_t begin;
        size_t place() const { return begin + place_in_chunk; }
    };

    size_t first_review() const { return asked_.k + std::max<size_t>(16, asked_.k / 2); }

    // Center and scale from some rows of Y; any would do, these keep the error of the filter small.
    void find_frame() {
        const size_t step = std::max<size_t>(1, Y_.rows / 1024);
        double count = 0, spread = 0;
        for (size_t i = 0; i < Y_.rows; i += step, ++count)
            for (size_t j = 0; j < d_; ++j)
                center_[j] += (static_cast<double>(Y_.row(i)[j]) - center_[j]) / (count + 1);
        for (size_t i = 0; i < Y_.rows; i += step)
            for (size_t j = 0; j < d_; ++j)
                spread = std::max(spread, std::abs(static_cast<double>(Y_.row(i)[j]) - center_[j]));
        if (spread > 0 && spread <= std::numeric_limits<double>::max())
            scale_ = std::ldexp(1., -std::clamp(std::ilogb(spread), -500, 500));
    }

    // One row in the frame, as float cells `step` apart; its squared length.
    double place(const T* x, float* out, size_t step) const {
        double square = 0;
        for (size_t j = 0; j < d_; ++j) {
            const float z = static_cast<float>((static_cast<double>(x[j]) - center_[j]) * scale_);
            out[j * step] = z;
            square += static_cast<double>(z) * static_cast<double>(z);
        }
        return square;
    }

    void pack_queries() {
        const size_t n = X_.rows;
        near_ = scratch<struct EuclideanNearQueries, float>(round_up(n, R) * d_);
        for (size_t q = 0; q < round_up(n, R); ++q) {
            const double square = place(X_.row(std::min(q, n - 1)), near_ + q / R * R * d_ + q % R, R);
            if (!(square <= farthest * farthest)) direct_[q / R] = true;
            if (q < n) half_[q] = square / 2, length_[q] = std::sqrt(square);
        }
    }

    void scan(size_t begin, size_t count, size_t size) {
        near_side_ = scratch<struct EuclideanNearChunk, float>(size * d_);
        bias_ = scratch<struct EuclideanBias, float>(size);
        double most = 0;
        for (size_t i = 0; i < round_up(count, G); ++i) {
            const double square = place(Y_.row(begin + std::min(i, count - 1)), near_side_ + i / G * G * d_ + i % G, G);
            bias_[i] = static_cast<float>(-square / 2);
            most = square <= most ? most : square;  // NaN stays
        }
        const bool fits = most <= farthest * farthest && d_ < most_columns;
        if (fits) reach_ = std::max(reach_, std::sqrt(most));
        bool packed = false;
        for (size_t q = 0; q < X_.rows; q += R) {
            if (fits && !direct_[q / R]) {
                filter(q, begin, count);
            } else {
                full_side_ = scratch<struct EuclideanChunk, double>(size * d_);
                if (!packed) pack_groups(Y_, begin, count, G, full_side_);
                packed = true;
                compare_all(q, begin, count);
            }
            poll_(R * count * d_);
        }
    }

    void compare_all(size_t query, size_t begin, size_t count) {
        constexpr size_t wide = group_rows<double>;
        double* group = scratch<struct EuclideanQueries, double>(wide * d_);
        for (size_t q = query; q < std::min(query + R, X_.rows); q += wide) {
            pack_groups(X_, q, std::min(wide, X_.rows - q), wide, group);
            nearest_in_chunk(SquaredDifferences{}, group, q, X_.rows, full_side_, begin, count, d_, lists_);
        }
    }

    void filter(size_t query, size_t begin, size_t count) {
        if (floors_reach_[query / R] != reach_)  // errors have grown with the reach
            for (size_t q = query; q < std::min(query + R, X_.rows); ++q) set_floor(q);
        floors_reach_[query / R] = reach_;
        float scores[G * R];
        unsigned passing[G * row_vectors];
        for (size_t i = 0; i < count; i += G) {
            Vec<float> floor[row_vectors];
            for (int v = 0; v < row_vectors; ++v) floor[v] = load(floor_.data() + query + v * L);
            unsigned any = 0;
            pair_tile<float>(Products{}, near_ + query * d_, near_side_ + i * d_, d_,
                             [&](int g, int v, Vec<float> sum) {
                                 const Vec<float> score = sum + bias_[i + g];
                                 any |= passing[g * row_vectors + v] = lane_bits(score >= floor[v]);
                                 store(scores + g * R + v * L, score);
                             });
            if (any) take(scores, passing, query, begin, i, std::min(G, count - i));
        }
        const double k = static_cast<double>(asked_.k), seen = static_cast<double>(begin + count);
        const double normal = k * (4 + 4 * std::log2(1 + seen / k));
        if (static_cast<double>(compared_[query / R]) > static_cast<double>(R) * (seen / 8 + normal))
            direct_[query / R] = true;
    }

    [[gnu::noinline]] void take(const float* scores, const unsigned* passing, size_t query, size_t begin, size_t i,
                                size_t there) {
        for (size_t g = 0; g < there; ++g)
            for (size_t v = 0; v < row_vectors; ++v)
                for (unsigned bits = passing[g * row_vectors + v]; bits; bits &= bits - 1) {
                    const size_t r = v * L + static_cast<size_t>(std::countr_zero(bits)), q = query + r;
                    const auto row = asked_.first + static_cast<std::int64_t>(begin + i + g);
                    if (asked_.skips(q, row)) continue;
                    waiting_[q * room_ + count_[q]] = {scores[g * R + r], static_cast<std::uint32_t>(i + g), begin};
                    if (++count_[q] == review_[q]) review(q);
                }
    }

    // Lets go of rows whose scores say that k others are nearer; compares the rest in full where many remain.
    [[gnu::noinline]] void review(size_t q) {
        Waiting* list = waiting_.data() + q * room_;
        const size_t k = asked_.k;
        if (k <= most_by_score && count_[q] >= k) {
            const auto better = [](const Waiting& a, const Waiting& b) { return a.score > b.score; };
            std::nth_element(list, list + k - 1, list + count_[q], better);
            const double square = 2 * (half_[q] - static_cast<double>(list[k - 1].score) + error(q));
            within_[q] = std::min(within_[q], (std::sqrt(std::max(square, 0.)) + rounding(q)) * (1 + 1e-11));
            set_floor(q);
            const float floor = floor_[q];
            Waiting* end = std::remove_if(list + k, list + count_[q], [&](const auto& w) { return w.score < floor; });
            count_[q] = static_cast<size_t>(end - list);
        }
        if (count_[q] + 16 > room_) {
            compare_waiting(q);
            within_[q] = std::min(within_[q], std::sqrt(*lists_.limits(q)) * scale_ * (1 + 1e-11));
            set_floor(q);
        }
        review_[q] = std::min(room_, std::max(first_review(), count_[q] + std::max<size_t>(16, k / 2)));
    }

    void compare_waiting(size_t q) {
        const Waiting* list = waiting_.data() + q * room_;
        compare(q, count_[q], [list](size_t i) { return list[i].place(); });
        compared_[q / R] += count_[q];
        count_[q] = 0;
    }

    // A query with `count` rows, eight at a time, whose sums do not wait for one another.
    template <class Place>
    void compare(size_t q, size_t count, Place place) {
        const T* x = X_.row(q);
        for (size_t i = 0; i < count; i += 8) {
            const T* y[8];
            for (size_t c = 0; c < 8; ++c) y[c] = Y_.row(place(std::min(i + c, count - 1)));
            SquaredDifferences::State<double> state[8];
            for (size_t j = 0; j < d_; ++j)
#pragma GCC unroll 8
                for (size_t c = 0; c < 8; ++c)
                    SquaredDifferences{}.add(state[c], static_cast<double>(x[j]), static_cast<double>(y[c][j]), j);
            for (size_t c = 0; c < std::min<size_t>(8, count - i); ++c)
                if (state[c].sum <= *lists_.limits(q)) lists_.offer(q, state[c].sum, place(i + c));
        }
    }

    // How far |a - b| may be from s |x - y|, and a score from its exact value.
    double rounding(size_t q) const {
        return u * (length_[q] + reach_) + std::sqrt(static_cast<double>(d_ + 3)) * (1e-44 + scale_ * 1e-161);
    }
    double error(size_t q) const {
        const double terms = static_cast<double>(d_ + 3);
        return u * terms * (reach_ * reach_ / 2 + length_[q] * reach_) + terms * 1e-37;
    }

    // The lowest score of a row whose s |x - y| may be within_.
    void set_floor(size_t q) {
        const double far = within_[q] + rounding(q), floor = half_[q] - far * far / 2 - error(q);
        floor_[q] = std::nextafter(static_cast<float>(floor), -std::numeric_limits<float>::infinity());
    }

    Matrix<const T> X_, Y_;
    size_t d_;
    NearestQuery asked_;
    size_t room_;
    InterruptPoll poll_;
    NearestLists lists_;
    std::vector<double> center_, half_, length_, within_;  // half_: |a|^2 / 2; within_: a bound of s sqrt(t)
    double scale_ = 1, reach_ = 0;
    std::vector<float, AlignedAllocator<float>> floor_;  // of scores; padding lets nothing pass
    std::vector<Waiting> waiting_;                       // (queries, room_)
    std::vector<size_t> count_, review_;                 // how many wait, and at how many they are reviewed
    std::vector<double> floors_reach_;                   // the reach that the floors of a group are for
    std::vector<size_t> compared_;                       // pairs in full, by group of queries
    std::vector<bool> direct_;                           // groups that are compared in full
    float *near_ = nullptr, *near_side_ = nullptr, *bias_ = nullptr;
    double* full_side_ = nullptr;
};

}  // namespace lyceum::distances
