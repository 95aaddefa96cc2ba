// Vectors of the width that this build targets, by GCC's vector extensions: no intrinsics, every level from one source.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace lyceum {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
inline constexpr int registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
inline constexpr int registers = 16;
#else
inline constexpr int vector_bytes = 16;
inline constexpr int registers = 16;
#endif

template <class T>
inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

template <class T, int Lanes>
struct VectorOf {
    typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
};
template <class T>
using Vec = typename VectorOf<T, lanes<T>>::type;
template <class T>
using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <class T>
inline Vec<T> load(const T* p) {
    Vec<T> v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

// Loads as many `T` as a vector of `U` has lanes, and converts.
template <class U, class T>
inline Vec<U> load_as(const T* p) {
    typename VectorOf<T, lanes<U>>::type v;
    std::memcpy(&v, p, sizeof v);
    if constexpr (std::is_same_v<T, U>)
        return v;
    else
        return __builtin_convertvector(v, Vec<U>);
}

template <class T>
inline void store(T* p, Vec<T> v) {
    std::memcpy(p, &v, sizeof v);
}

// x - 0 is x, signed zeros too, and one broadcast; a loop over lanes becomes a masked move for each.
template <class T>
inline Vec<T> splat(T x) {
    return x - Vec<T>{};
}

template <class T>
inline Vec<T> vmax(Vec<T> a, Vec<T> b) {
    return a > b ? a : b;
}

template <class T>
inline T sum_lanes(Vec<T> v) {
    T total{};
    for (int i = 0; i < lanes<T>; ++i) total += v[i];
    return total;
}

// One bit per lane of the result of a comparison. A vector extension has no word for it, hence the built-ins.
template <class Mask>
inline unsigned lane_bits(Mask mask) {
    constexpr int count = sizeof(Mask) / sizeof(mask[0]);
#if defined(__AVX512DQ__)
    if constexpr (count == 8) return static_cast<unsigned char>(__builtin_ia32_cvtq2mask512((Vec<long long>)mask));
    if constexpr (count == 16) return static_cast<unsigned short>(__builtin_ia32_cvtd2mask512((Vec<int>)mask));
#elif defined(__AVX__)
    if constexpr (count == 4) return static_cast<unsigned>(__builtin_ia32_movmskpd256((Vec<double>)mask));
    if constexpr (count == 8) return static_cast<unsigned>(__builtin_ia32_movmskps256((Vec<float>)mask));
#elif defined(__SSE2__)
    if constexpr (count == 2) return static_cast<unsigned>(__builtin_ia32_movmskpd((Vec<double>)mask));
    if constexpr (count == 4) return static_cast<unsigned>(__builtin_ia32_movmskps((Vec<float>)mask));
#endif
    unsigned bits = 0;
    for (int i = 0; i < count; ++i) bits |= static_cast<unsigned>(mask[i] != 0) << i;
    return bits;
}

// Interleaves the low (Half = 0) or the high (Half = 1) halves of a and b.
template <class T, int Half>
inline Vec<T> interleave(Vec<T> a, Vec<T> b) {
    constexpr int L = lanes<T>;
    return [&]<int... I>(std::integer_sequence<int, I...>) {
        return __builtin_shuffle(a, b, Vec<Int<T>>{(I / 2 + Half * L / 2 + (I % 2) * L)...});
    }(std::make_integer_sequence<int, L>{});
}

// Transposes an L x L block held in L vectors: log2(L) perfect shuffles.
template <class T>
inline void transpose(Vec<T> (&v)[lanes<T>]) {
    constexpr int L = lanes<T>;
#pragma GCC unroll 4
    for (int step = 1; step < L; step *= 2) {
        Vec<T> u[L];
#pragma GCC unroll 8
        for (int i = 0; i < L / 2; ++i) {
            u[2 * i] = interleave<T, 0>(v[i], v[i + L / 2]);
            u[2 * i + 1] = interleave<T, 1>(v[i], v[i + L / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i) v[i] = u[i];
    }
}

}  // namespace lyceum
