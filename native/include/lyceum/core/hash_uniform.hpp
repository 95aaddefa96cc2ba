// Counter-based uniforms in (0, 1]: a 64-bit mix of the seed and the row's global number, so that a row draws the same
// number in whatever block it comes. The mix is the SplitMix64 finaliser (Steele, Lea and Flood, OOPSLA 2014).
#pragma once
#include <lyceum/core/views.hpp>

namespace lyceum {

inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

inline void hash_uniform(std::int64_t start, std::uint64_t seed, double* out, size_t n) {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15u;
    const std::uint64_t key = mix(seed + golden);
    for (size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = mix(key ^ ((static_cast<std::uint64_t>(start) + i + 1) * golden));
        out[i] = static_cast<double>(static_cast<std::int64_t>(bits >> 11) + 1) * 0x1p-53;
    }
}

}  // namespace lyceum
