// A tile is 96 rows of a design, converted, shifted, scaled and padded with zeros, in one of two layouts:
//   panels      [panel][row][lane]: `lane` runs over columns; what a sum over rows reads (gram.hpp);
//   transposed  [row group][column][lane]: `lane` runs over rows; what a sum over columns reads (dots.hpp).
#pragma once
#include <algorithm>

#include <lyceum/core/simd.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum {

inline constexpr size_t tile_rows = 96;  // a multiple of three vectors of rows at every level

// Prefetches the data of the next tile line by line while this one is summed.
struct Prefetch {
    const char *at = nullptr, *end = nullptr;

    template <class T>
    static Prefetch of(Matrix<const T> X, size_t from) {
        const size_t to = std::min(X.rows, from + tile_rows);
        return {reinterpret_cast<const char*>(X.row(from)), reinterpret_cast<const char*>(X.row(to))};
    }
    void fetch(size_t lines = 1) {
        for (; lines && at < end; --lines, at += 64) __builtin_prefetch(at, 0, 2);
    }
};

template <class U>
constexpr size_t panels_of(size_t columns) {
    return (columns + lanes<U> - 1) / lanes<U>;
}
template <class U>
constexpr size_t padded(size_t columns) {
    return panels_of<U>(columns) * lanes<U>;
}
template <class U>
constexpr size_t tile_size(size_t columns) {
    return tile_rows * padded<U>(columns);
}

// The cell of a row and a column in panel layout.
template <class U>
inline U& cell(U* panels, size_t row, size_t column) {
    constexpr size_t L = lanes<U>;
    return panels[(column / L) * tile_rows * L + row * L + column % L];
}

// Writes (x - shift) * scale for one row of d cells; `shift` is padded. The data that x points into stop at `end`.
template <class U, class T>
inline void pack_row(const T* x, const T* end, size_t d, const U* shift, U scale, U* panels, size_t row) {
    constexpr size_t L = lanes<U>, step = tile_rows * L;
    U* out = panels + row * L;
    size_t j = 0;
    for (; j + L <= d; j += L, out += step) store<U>(out, (load_as<U>(x + j) - load(shift + j)) * scale);
    if (j == d) return;
    Vec<U> tail{};
    if (x + j + L <= end) {
        tail = (load_as<U>(x + j) - load(shift + j)) * scale;
        Vec<Int<U>> index;
        for (size_t i = 0; i < L; ++i) index[i] = static_cast<Int<U>>(i);
        tail = index < static_cast<Int<U>>(d - j) ? tail : Vec<U>{};
    } else {
        for (size_t i = 0; j + i < d; ++i) tail[i] = (static_cast<U>(x[j + i]) - shift[j + i]) * scale;
    }
    store(out, tail);
}

// Sets rows [from, tile_rows) of a tile to zero.
template <class U>
inline void clear_rows(U* panels, size_t columns, size_t from) {
    constexpr size_t L = lanes<U>;
    for (size_t p = 0; p < panels_of<U>(columns); ++p)
        std::fill(panels + p * tile_rows * L + from * L, panels + (p + 1) * tile_rows * L, U{});
}

template <class U>
inline void transpose_tile(const U* panels, size_t columns, U* out) {
    constexpr size_t L = lanes<U>;
    const size_t count = panels_of<U>(columns);
    for (size_t group = 0; group < tile_rows / L; ++group)
        for (size_t p = 0; p < count; ++p) {
            Vec<U> v[L];
            const U* from = panels + p * tile_rows * L + group * L * L;
            for (size_t i = 0; i < L; ++i) v[i] = load(from + i * L);
            transpose<U>(v);
            U* to = out + (group * count + p) * L * L;
            for (size_t i = 0; i < L; ++i) store(to + i * L, v[i]);
        }
}

}  // namespace lyceum
