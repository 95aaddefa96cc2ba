// The shape of a feed-forward network, and the random numbers of its training.
// A layer maps its inputs x to net inputs z by one of
//   weighted   z_i = sum_j w_ji x_j + b_i
//   quadratic  z_i = sum_j w_ji x_j^2 + b_i
//   spherical  z_i = r_i^2 sum_j (x_j - w_ji)^2 + b_i
// and z to outputs by an activation; the last layer hands out z. Parameters are rows of w, then b, then (spherical) r,
// every row padded with zeros to whole vectors.
#pragma once
#include <algorithm>
#include <vector>

#include <lyceum/core/hash_uniform.hpp>
#include <lyceum/core/matrix_product.hpp>
#include <lyceum/neural/activation.hpp>

namespace lyceum::neural {

enum class Integration : std::int32_t { weighted, quadratic, spherical };
inline constexpr std::int32_t integrations = 3;

struct Layer {
    size_t in, out, at;  // `at`: the place of its first parameter
    Activation activation;
    Integration integration;

    size_t step() const { return round_up(out, wide_columns); }
    size_t weights() const { return in * step(); }
    size_t size() const { return weights() + step() * (integration == Integration::spherical ? 2 : 1); }
};

struct Shape {
    std::vector<Layer> layers;
    double steepness = 1;

    size_t inputs() const { return layers.front().in; }
    size_t outputs() const { return layers.back().out; }
    size_t size() const { return layers.back().at + layers.back().size(); }
    size_t widest() const {
        size_t most = round_up(inputs(), wide_columns);
        for (const Layer& layer : layers) most = std::max(most, layer.step());
        return most;
    }
};

// What is random in training: hidden nodes left out, noise on the inputs. A draw is a hash of seed, layer, row and
// node.
struct Chance {
    double dropout = 0, noise = 0;
    std::uint64_t seed = 0;

    std::uint64_t key(size_t layer) const { return mix(seed + (layer + 1) * 0x9E3779B97F4A7C15u); }
    static std::uint64_t bits(std::uint64_t key, size_t row, size_t node) {
        return mix(key ^ ((static_cast<std::uint64_t>(row) << 24) + node + 1) * 0x9E3779B97F4A7C15u);
    }
    static double normal(std::uint64_t key, size_t row, size_t node) {  // Box and Muller, 1958
        const double u = static_cast<double>((bits(key, row, 2 * node) >> 11) + 1) * 0x1p-53;
        const double angle = static_cast<double>(bits(key, row, 2 * node + 1) >> 11) * (0x1p-53 * 6.283185307179586);
        return std::sqrt(-2 * std::log(u)) * std::cos(angle);
    }
};

}  // namespace lyceum::neural
