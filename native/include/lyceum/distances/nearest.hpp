// The k nearest rows of Y for every row of X, by comparing all pairs; of equal values the lowest row number wins.
// Cost: rows * rows * columns.
#pragma once
#include <lyceum/core/any_call.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/distances/nearest_heap.hpp>
#include <lyceum/distances/pair_tiles.hpp>
#include <vector>

namespace lyceum::distances {

template <class Mask>
inline bool any_lane(Mask mask) {
    std::uint64_t words[sizeof(Mask) / 8], all = 0;
    std::memcpy(words, &mask, sizeof mask);
    for (const auto word : words) all |= word;
    return all != 0;
}

// A query: how many neighbors, the number of the first row of Y, and the row that every query leaves out.
struct NearestQuery {
    size_t k;
    std::int64_t first = 0;
    const std::int64_t* skip = nullptr;  // null, or a row number for every query

    bool skips(size_t query, std::int64_t row) const { return skip && skip[query] == row; }
};

struct NearestOutput {
    double* raw;         // (queries, k)
    std::int64_t* rows;  // (queries, k)
};

// The heaps of all queries, with the largest raw value that may still enter each (padded for vectors, never passing).
class NearestLists {
public:
    NearestLists(size_t queries, NearestQuery asked)
        : asked_(asked),
          storage_(queries * asked.k),
          limit_(round_up(queries, group_rows<float>), -std::numeric_limits<double>::infinity()) {
        for (size_t q = 0; q < queries; ++q) {
            heaps_.emplace_back(storage_.data() + q * asked.k, asked.k);
            limit_[q] = heaps_[q].limit();
        }
    }

    const double* limits(size_t query) const { return limit_.data() + query; }

    bool offer(size_t query, double raw, size_t place) {
        const std::int64_t row = asked_.first + static_cast<std::int64_t>(place);
        if (asked_.skips(query, row) || !heaps_[query].offer(raw, row)) return false;
        limit_[query] = heaps_[query].limit();
        return true;
    }

    void write(NearestOutput out) {
        for (size_t q = 0; q < heaps_.size(); ++q) heaps_[q].write(out.raw + q * asked_.k, out.rows + q * asked_.k);
    }

private:
    NearestQuery asked_;
    std::vector<Neighbor> storage_;
    std::vector<NearestHeap> heaps_;
    std::vector<double, AlignedAllocator<double>> limit_;
};

// A packed group of queries, from number `query` on, against a packed chunk of Y.
template <class Space>
void nearest_in_chunk(const Space& space, const double* group, size_t query, size_t queries, const double* chunk,
                      size_t begin, size_t count, size_t d, NearestLists& lists) {
    constexpr size_t G = side_rows<Space>, R = group_rows<double>, L = lanes<double>;
    const size_t wide = std::min(R, queries - query);
    double values[G * R];
    for (size_t i = 0; i < count; i += G) {
        Vec<double> limit[row_vectors];
        for (int v = 0; v < row_vectors; ++v) limit[v] = load(lists.limits(query) + v * L);
        Vec<Int<double>> passing{};
        pair_tile<double>(space, group, chunk + i * d, d, [&](int g, int v, Vec<double> value) {
            passing |= value <= limit[v];
            store(values + g * R + v * L, value);
        });
        if (!any_lane(passing)) continue;
        for (size_t g = 0; g < std::min(G, count - i); ++g)
            for (size_t r = 0; r < wide; ++r)
                if (values[g * R + r] <= *lists.limits(query + r))
                    lists.offer(query + r, values[g * R + r], begin + i + g);
    }
}

// nearest_in_chunk in some space.
using SearchChunk = AnyCall<void(const double* group, size_t query, const double* chunk, size_t begin, size_t count,
                                 NearestLists& lists)>;

// `side` rows of Y are compared together.
template <class T>
[[gnu::noipa]] void nearest(size_t side, SearchChunk search, Matrix<const T> X, Matrix<const T> Y, NearestQuery asked,
                            NearestOutput out, InterruptPoll poll) {
    constexpr size_t R = group_rows<double>;
    const size_t n = X.rows, d = X.cols, size = chunk_rows(d);
    NearestLists lists(n, asked);
    double* queries = scratch<struct NearestQueries, double>(round_up(n, R) * d);
    double* chunk = scratch<struct NearestChunk, double>(size * d);
    if (n) pack_groups(X, 0, n, R, queries);
    for (size_t begin = 0; begin < Y.rows && n; begin += size) {
        const size_t count = std::min(size, Y.rows - begin);
        pack_groups(Y, begin, count, side, chunk);
        for (size_t q = 0; q < n; q += R) {
            search(queries + q * d, q, chunk, begin, count, lists);
            poll(R * count * d);
        }
    }
    lists.write(out);
}

template <class T, class Space>
void nearest(const Space& space, Matrix<const T> X, Matrix<const T> Y, NearestQuery asked, NearestOutput out,
             InterruptPoll poll) {
    const auto search = [&](const double* group, size_t query, const double* chunk, size_t begin, size_t count,
                            NearestLists& lists) {
        nearest_in_chunk(space, group, query, X.rows, chunk, begin, count, X.cols, lists);
    };
    nearest<T>(side_rows<Space>, search, X, Y, asked, out, poll);
}

}  // namespace lyceum::distances
