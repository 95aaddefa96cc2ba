// A tile of rows forward through a network and back (backpropagation).
// Cost: one multiply-add per weight and row forward, two back.
#pragma once
#include <utility>

#include <lyceum/core/scratch.hpp>
#include <lyceum/neural/network_shape.hpp>

namespace lyceum::neural {

template <class T>
class Tile {
public:
    static constexpr size_t most = 128;  // rows

    explicit Tile(const Shape& shape) : shape_(shape) {
        const size_t wide = shape.widest();
        size_t need = 4 * most * wide + round_up(shape.inputs(), wide_columns) * most;
        for (const Layer& layer : shape.layers) need += 3 * most * layer.step() + layer.out * wide;
        store_.resize(need);
        T* at = store_.data();
        const auto take = [&](size_t count) { return std::exchange(at, at + count); };
        inputs_.push_back(take(most * round_up(shape.inputs(), wide_columns)));
        for (const Layer& layer : shape.layers) {
            inputs_.push_back(take(most * layer.step()));
            slopes_.push_back(take(most * layer.step()));
            spheres_.push_back(take(most * layer.step()));
        }
        delta_ = take(most * wide), before_ = take(most * wide), spare_ = take(most * wide);
        turned_ = at;
    }

    size_t rows = 0;
    T* input() { return inputs_[0]; }  // (rows, padded inputs)
    size_t input_step() const { return round_up(shape_.inputs(), wide_columns); }
    T* output() { return inputs_.back(); }  // (rows, padded outputs): z, and then its delta
    size_t output_step() const { return shape_.layers.back().step(); }

    void forward(const T* theta, const Chance& chance = {}, size_t first = 0) {
        for (size_t l = 0; l < shape_.layers.size(); ++l) {
            integrate(l, theta + shape_.layers[l].at);
            if (l + 1 < shape_.layers.size()) activate(l);
            if (l + 1 < shape_.layers.size() && chance.dropout > 0) drop(l, chance, first);
        }
    }

    // From the derivative of a function by the outputs, in output(), to those by the parameters (`gradient` is set, if
    // it is given) and by the inputs (in `slope_of_inputs`, padded, if it is given).
    void backward(const T* theta, T* gradient, T* slope_of_inputs = nullptr) {
        std::copy_n(output(), rows * output_step(), delta_);
        for (size_t l = shape_.layers.size(); l-- > 0;) {
            const Layer& layer = shape_.layers[l];
            const T* w = theta + layer.at;
            if (gradient) shift_slopes(l, w, gradient + layer.at);
            if (layer.integration == Integration::spherical) scale_delta(layer, w);
            if (gradient) weight_slopes(l, w, gradient + layer.at);
            if (l == 0 && !slope_of_inputs) return;
            go_back(l, w, l ? before_ : slope_of_inputs);
            std::swap(delta_, before_);
        }
    }

private:
    const Shape& shape_;
    std::vector<T, AlignedAllocator<T>> store_;
    std::vector<T*> inputs_, slopes_, spheres_;
    T *delta_, *before_, *spare_, *turned_;

    size_t step_in(size_t l) const { return round_up(shape_.layers[l].in, wide_columns); }

    // The inputs as the weights meet them: squared for the quadratic integration.
    const T* met(size_t l) {
        if (shape_.layers[l].integration != Integration::quadratic) return inputs_[l];
        const T* x = inputs_[l];
        for (size_t i = 0; i < rows * step_in(l); ++i) spare_[i] = x[i] * x[i];
        return spare_;
    }

    void integrate(size_t l, const T* w) {
        const Layer& layer = shape_.layers[l];
        const size_t step = layer.step();
        const T* bias = w + layer.weights();
        const bool sphere = layer.integration == Integration::spherical;
        product<T>({met(l), step_in(l), 1}, rows, w, step, layer.in, step, sphere ? nullptr : bias, inputs_[l + 1],
                   step);
        if (sphere) measure(l, w, bias, bias + step);
    }

    // ||x - w||^2 = ||x||^2 - 2 x.w + ||w||^2
    void measure(size_t l, const T* w, const T* bias, const T* r) {
        const size_t in = shape_.layers[l].in, step = shape_.layers[l].step();
        T* norms = spare_;
        std::fill_n(norms, step, T{});
        for (size_t j = 0; j < in; ++j)
            for (size_t i = 0; i < step; ++i) norms[i] += w[j * step + i] * w[j * step + i];
        for (size_t row = 0; row < rows; ++row) {
            const T* x = inputs_[l] + row * step_in(l);
            T *z = inputs_[l + 1] + row * step, *q = spheres_[l] + row * step, square{};
            for (size_t j = 0; j < in; ++j) square += x[j] * x[j];
            for (size_t i = 0; i < step; ++i) {
                q[i] = square - 2 * z[i] + norms[i];
                z[i] = r[i] * r[i] * q[i] + bias[i];
            }
        }
    }

    void activate(size_t l) {
        const Layer& layer = shape_.layers[l];
        T *z = inputs_[l + 1], *slope = slopes_[l];
        for (size_t i = 0; i < rows * layer.step(); i += lanes<T>) {
            const auto [a, s] = respond<T>(layer.activation, load(z + i), static_cast<T>(shape_.steepness));
            store<T>(z + i, a);
            store<T>(slope + i, s);
        }
    }

    // Nodes that stay are scaled up, so that the mean input of the next layer stays.
    void drop(size_t l, const Chance& chance, size_t first) {
        const size_t step = shape_.layers[l].step();
        const std::uint64_t key = chance.key(l + 1), limit = static_cast<std::uint64_t>(chance.dropout * 0x1p32);
        const T scale = static_cast<T>(1 / (1 - chance.dropout));
        for (size_t row = 0; row < rows; ++row) {
            T *a = inputs_[l + 1] + row * step, *slope = slopes_[l] + row * step;
            for (size_t i = 0; i < step; ++i) {
                const T keep = (Chance::bits(key, first + row, i) >> 32) < limit ? T{} : scale;
                a[i] *= keep;
                slope[i] *= keep;
            }
        }
    }

    void shift_slopes(size_t l, const T* w, T* g) {
        const Layer& layer = shape_.layers[l];
        const size_t step = layer.step();
        T *bias = g + layer.weights(), *radius = bias + step;
        column_sums(delta_, nullptr, step, bias);
        if (layer.integration != Integration::spherical) return;
        column_sums(delta_, spheres_[l], step, radius);
        for (size_t i = 0; i < step; ++i) radius[i] *= 2 * w[layer.weights() + step + i];
    }

    // From the derivative by z to that by the squared distance.
    void scale_delta(const Layer& layer, const T* w) {
        const size_t step = layer.step();
        const T* r = w + layer.weights() + step;
        for (size_t row = 0; row < rows; ++row)
            for (size_t i = 0; i < step; ++i) delta_[row * step + i] *= r[i] * r[i];
    }

    void weight_slopes(size_t l, const T* w, T* g) {
        const Layer& layer = shape_.layers[l];
        const size_t step = layer.step();
        product<T>({met(l), 1, step_in(l)}, layer.in, delta_, step, rows, step, nullptr, g, step);
        if (layer.integration != Integration::spherical) return;
        T* sums = spare_;
        column_sums(delta_, nullptr, step, sums);
        for (size_t j = 0; j < layer.in; ++j)
            for (size_t i = 0; i < step; ++i) g[j * step + i] = 2 * (w[j * step + i] * sums[i] - g[j * step + i]);
    }

    void column_sums(const T* a, const T* factor, size_t step, T* sums) {
        std::fill_n(sums, step, T{});
        for (size_t row = 0; row < rows; ++row)
            for (size_t i = 0; i < step; ++i) sums[i] += a[row * step + i] * (factor ? factor[row * step + i] : T{1});
    }

    // delta of the layer before: through the weights, and through the slopes of its activation.
    void go_back(size_t l, const T* w, T* to) {
        const Layer& layer = shape_.layers[l];
        const size_t step = layer.step(), wide = step_in(l);
        transpose_padded(w, layer.in, layer.out, step, turned_);
        product<T>({delta_, step, 1}, rows, turned_, wide, layer.out, wide, nullptr, to, wide);
        const T *x = inputs_[l], *slope = l ? slopes_[l - 1] : nullptr;
        if (layer.integration == Integration::quadratic)
            for (size_t i = 0; i < rows * wide; ++i) to[i] *= 2 * x[i];
        if (layer.integration == Integration::spherical)
            for (size_t row = 0; row < rows; ++row) {
                T sum{};
                for (size_t i = 0; i < layer.out; ++i) sum += delta_[row * step + i];
                for (size_t j = 0; j < layer.in; ++j)
                    to[row * wide + j] = 2 * (x[row * wide + j] * sum - to[row * wide + j]);
            }
        if (slope)
            for (size_t i = 0; i < rows * wide; ++i) to[i] *= slope[i];
    }
};

}  // namespace lyceum::neural
