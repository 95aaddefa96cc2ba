// Raw values of pairs of sparse rows with ascending columns: only the columns stored in one of the two are visited, in
// the order of the columns, so that the values are those of the dense kernels. Cost: the stored cells of all pairs.
#pragma once
#include <lyceum/core/any_call.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/distances/nearest.hpp>
#include <optional>
#include <type_traits>

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

// The raw value of a pair in some space.
template <class T>
using SparseValue = AnyCall<double(const SparseRows<T>& X, size_t i, const SparseRows<T>& Y, size_t k)>;

template <class T, class Space>
auto sparse_value_in(const Space& space) {
    return [&space](const SparseRows<T>& X, size_t i, const SparseRows<T>& Y, size_t k) {
        return sparse_raw_value(space, X, i, Y, k);
    };
}

template <class T>
[[gnu::noipa]] void sparse_pairwise(SparseValue<T> value, SparseRows<T> X, SparseRows<T> Y, double* out,
                                    InterruptPoll poll) {
    for (size_t i = 0; i < X.rows; ++i)
        for (size_t k = 0; k < Y.rows; ++k) {
            out[i * Y.rows + k] = value(X, i, Y, k);
            poll(8 * (X.stored(i) + Y.stored(k) + 1));
        }
}

// The stored cells of sparse rows by column, for the products of one row with all of them: only rows that share a
// column are visited. Room: that of the rows.
template <class T>
class SparseProducts {
public:
    explicit SparseProducts(SparseRows<T> Y) : squares_(Y.rows), products_(Y.rows) {
        std::int32_t columns = 0;
        for (auto at = Y.indptr[0]; at < Y.indptr[Y.rows]; ++at) columns = std::max(columns, Y.indices[at] + 1);
        starts_.assign(static_cast<size_t>(columns) + 1, 0);
        for (auto at = Y.indptr[0]; at < Y.indptr[Y.rows]; ++at) ++starts_[static_cast<size_t>(Y.indices[at]) + 1];
        for (size_t j = 0; j + 1 < starts_.size(); ++j) starts_[j + 1] += starts_[j];
        rows_.resize(starts_.back());
        cells_.resize(starts_.back());
        auto next = starts_;
        for (size_t k = 0; k < Y.rows; ++k)
            for (auto at = Y.indptr[k]; at < Y.indptr[k + 1]; ++at) {
                const size_t place = next[static_cast<size_t>(Y.indices[at])]++;
                rows_[place] = k;
                cells_[place] = static_cast<double>(Y.data[at]);
                squares_[k] += cells_[place] * cells_[place];
            }
    }

    // The work done: the cells visited.
    size_t set(const SparseRows<T>& X, size_t i) {
        size_t visited = products_.size();
        std::fill(products_.begin(), products_.end(), 0.);
        square_ = 0;
        for (auto at = X.indptr[i]; at < X.indptr[i + 1]; ++at) {
            const double x = static_cast<double>(X.data[at]);
            square_ += x * x;
            const auto j = static_cast<size_t>(X.indices[at]);
            if (j + 1 >= starts_.size()) continue;
            for (size_t p = starts_[j]; p < starts_[j + 1]; ++p) products_[rows_[p]] += x * cells_[p];
            visited += starts_[j + 1] - starts_[j];
        }
        return visited;
    }

    // What the squared distance to row k, which is rounded otherwise, is at least; n cells are stored in both rows.
    double least(size_t k, size_t n) const {
        const double size = square_ + squares_[k];
        const double error = 8 * static_cast<double>(n + 4) * std::numeric_limits<double>::epsilon() * size;
        return size - 2 * products_[k] - error;
    }

private:
    std::vector<size_t> starts_, rows_;
    std::vector<double> cells_, squares_, products_;
    double square_ = 0;
};

// Squared differences are bounded by products first: the values themselves are computed only where they may be among
// the nearest, so that the answers are those of all pairs.
template <class T>
[[gnu::noipa]] void sparse_nearest(SparseValue<T> value, bool are_squares, SparseRows<T> X, SparseRows<T> Y,
                                   NearestQuery asked, NearestOutput out, InterruptPoll poll) {
    std::vector<Neighbor> storage(asked.k);
    std::optional<SparseProducts<T>> products;
    if (are_squares && X.rows > 3) products.emplace(Y);
    for (size_t i = 0; i < X.rows; ++i) {
        NearestHeap heap(storage.data(), asked.k);
        if (products) poll(8 * products->set(X, i));
        for (size_t k = 0; k < Y.rows; ++k) {
            const std::int64_t row = asked.first + static_cast<std::int64_t>(k);
            const size_t stored = X.stored(i) + Y.stored(k);
            if (products && products->least(k, stored) > heap.limit()) continue;
            if (!asked.skips(i, row)) heap.offer(value(X, i, Y, k), row);
            poll(8 * (stored + 1));
        }
        heap.write(out.raw + i * asked.k, out.rows + i * asked.k);
    }
}

template <class T, class Space>
void sparse_pairwise(const Space& space, SparseRows<T> X, SparseRows<T> Y, double* out, InterruptPoll poll) {
    const auto value = sparse_value_in<T>(space);
    sparse_pairwise<T>(SparseValue<T>(value), X, Y, out, poll);
}

template <class T, class Space>
void sparse_nearest(const Space& space, SparseRows<T> X, SparseRows<T> Y, NearestQuery asked, NearestOutput out,
                    InterruptPoll poll) {
    const auto value = sparse_value_in<T>(space);
    sparse_nearest<T>(SparseValue<T>(value), std::is_same_v<Space, SquaredDifferences>, X, Y, asked, out, poll);
}

}  // namespace lyceum::distances
