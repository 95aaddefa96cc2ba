// Raw values of pairs of sparse rows with ascending columns: only the columns stored in one of the two are visited, in
// the order of the columns, so that the values are those of the dense kernels. Cost: the stored cells of all pairs.
#pragma once
#include <lyceum/core/interrupt.hpp>
#include <lyceum/distances/nearest.hpp>

namespace lyceum::distances {

template <class T>
struct SparseRows {
    const std::int32_t *indptr, *indices;
    const T* data;
    size_t rows;

    size_t stored(size_t i) const { return static_cast<size_t>(indptr[i + 1] - indptr[i]); }
};

template <class Space, class T>
double sparse_raw_value(const Space& space, const SparseRows<T>& X, size_t i, const SparseRows<T>& Y, size_t k) {
    typename Space::template State<double> state;
    auto a = X.indptr[i], b = Y.indptr[k];
    const auto a_end = X.indptr[i + 1], b_end = Y.indptr[k + 1];
    while (a < a_end || b < b_end) {
        const auto left = a < a_end ? X.indices[a] : std::numeric_limits<std::int32_t>::max();
        const auto right = b < b_end ? Y.indices[b] : std::numeric_limits<std::int32_t>::max();
        const double x = left <= right ? static_cast<double>(X.data[a++]) : 0.;
        const double y = right <= left ? static_cast<double>(Y.data[b++]) : 0.;
        space.add(state, x, y, 0);
    }
    return space.value(state);
}

template <class T, class Space>
void sparse_pairwise(const Space& space, SparseRows<T> X, SparseRows<T> Y, double* out, Poll poll) {
    for (size_t i = 0; i < X.rows; ++i)
        for (size_t k = 0; k < Y.rows; ++k) {
            out[i * Y.rows + k] = sparse_raw_value(space, X, i, Y, k);
            poll(8 * (X.stored(i) + Y.stored(k) + 1));
        }
}

template <class T, class Space>
void sparse_nearest(const Space& space, SparseRows<T> X, SparseRows<T> Y, NearestQuery asked, NearestOutput out,
                    Poll poll) {
    std::vector<Neighbor> storage(asked.k);
    for (size_t i = 0; i < X.rows; ++i) {
        NearestHeap heap(storage.data(), asked.k);
        for (size_t k = 0; k < Y.rows; ++k) {
            const std::int64_t row = asked.first + static_cast<std::int64_t>(k);
            if (!asked.skips(i, row)) heap.offer(sparse_raw_value(space, X, i, Y, k), row);
            poll(8 * (X.stored(i) + Y.stored(k) + 1));
        }
        heap.write(out.raw + i * asked.k, out.rows + i * asked.k);
    }
}

}  // namespace lyceum::distances
