// Categories of coded columns: the cell x of column j is row offsets[j] + x of a stacked table of categories.
// A cell that is NaN, negative or beyond its column's categories has none.
#pragma once
#include <algorithm>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/scratch.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::rows {

inline constexpr std::int32_t no_category = -1;

struct CodedColumns {
    const std::int32_t* columns;  // (m,)
    const std::int64_t* offsets;  // (m + 1,)
    size_t m;

    std::int64_t size(size_t j) const { return offsets[j + 1] - offsets[j]; }
};

template <class T>
inline std::int32_t category_row(T x, std::int64_t offset, std::int64_t size) {
    if constexpr (std::is_floating_point_v<T>) {
        const bool known = x >= T{0} && x < static_cast<T>(size);
        const auto code = static_cast<std::int32_t>(known ? x : T{0});
        return known ? static_cast<std::int32_t>(offset) + code : no_category;
    } else {
        const auto code = static_cast<std::int64_t>(x);
        const bool known = code >= 0 && code < size;
        return known ? static_cast<std::int32_t>(offset + code) : no_category;
    }
}

// The table rows of one row of data. Columns that follow one another need no gathering.
template <bool Consecutive, class T>
inline void category_rows(const T* x, CodedColumns coded, std::int32_t* rows) {
    const T* first = x + (Consecutive ? coded.columns[0] : 0);
#pragma omp simd
    for (size_t j = 0; j < coded.m; ++j) {
        const T value = Consecutive ? first[j] : x[coded.columns[j]];
        rows[j] = category_row(value, coded.offsets[j], coded.size(j));
    }
}

// The table rows of some rows of data.
template <class T>
void category_tile(Matrix<const T> X, size_t begin, size_t count, CodedColumns coded, bool consecutive,
                   std::int32_t* rows) {
    for (size_t r = 0; r < count; ++r) {
        if (consecutive)
            category_rows<true>(X.row(begin + r), coded, rows + r * coded.m);
        else
            category_rows<false>(X.row(begin + r), coded, rows + r * coded.m);
    }
}

// Rows of cells of any type: only the look at the cells is compiled for every type.
class CodedRows {
public:
    template <class T>
    CodedRows(Matrix<const T> X)
        : rows(X.rows),
          data_(X.data),
          cols_(X.cols),
          tile_([](const CodedRows& of, size_t begin, size_t count, CodedColumns coded, bool consecutive,
                   std::int32_t* table_rows) {
              const Matrix<const T> cells{static_cast<const T*>(of.data_), of.rows, of.cols_};
              category_tile(cells, begin, count, coded, consecutive, table_rows);
          }) {}

    void tile(size_t begin, size_t count, CodedColumns coded, bool consecutive, std::int32_t* table_rows) const {
        tile_(*this, begin, count, coded, consecutive, table_rows);
    }

    size_t rows;

private:
    const void* data_;
    size_t cols_;
    void (*tile_)(const CodedRows&, size_t, size_t, CodedColumns, bool, std::int32_t*);
};

// Calls visit(first row, rows, table rows [rows][m]) for tile after tile of X.
template <class Visit>
void visit_categories(const CodedRows& X, CodedColumns coded, InterruptPoll& poll, Visit&& visit) {
    const size_t m = coded.m, step = std::max<size_t>(1, 4096 / std::max<size_t>(1, m));
    bool consecutive = m > 0;
    for (size_t j = 1; j < m; ++j) consecutive &= coded.columns[j] == coded.columns[j - 1] + 1;
    auto* rows = scratch<struct CategoryRows, std::int32_t>(step * m);
    for (size_t begin = 0; begin < X.rows; begin += step) {
        const size_t count = std::min(step, X.rows - begin);
        X.tile(begin, count, coded, consecutive, rows);
        visit(begin, count, rows);
        poll(count * m * 16);
    }
}

}  // namespace lyceum::rows
