// Training a network: its losses, its gradient over many rows, and optimizer steps batch by batch.
// A packed row is d inputs, the target (a class code, or a number) or one number per output, and a weight above zero.
#pragma once
#include <lyceum/core/interrupt.hpp>
#include <lyceum/neural/backpropagation.hpp>
#include <lyceum/neural/optimizer_steps.hpp>

namespace lyceum::neural {

//   softmax   -log p_y,  p = softmax(z)
//   logistic  sum_k log(1 + exp z_k) - y_k z_k,  y_k in {0, 1}
//   squares   sum_k (z_k - y_k)^2 / 2
//   sigmoid_squares  sum_k (h_k - y_k)^2 / 2,  h = 1 / (1 + exp -z),  y_k in {0, 1}, or 1 for the class of the row
//   poisson   sum_k exp z_k - y_k z_k + y_k log y_k - y_k,  y_k >= 0
// Where y is a class code, its row has one target for all outputs; else a target per output.
enum class Loss : std::int32_t { softmax, logistic, squares, sigmoid_squares, poisson };
inline constexpr std::int32_t losses = 5;

inline constexpr bool takes_classes(Loss loss) { return loss == Loss::softmax || loss == Loss::sigmoid_squares; }

template <class T>
struct PackedRows {
    Matrix<const T> cells;      // (n, d + targets + 1)
    size_t inputs;              // d
    const std::int64_t* order;  // null: as they come

    const T* row(size_t i) const { return cells.row(order ? static_cast<size_t>(order[i]) : i); }
    size_t targets() const { return cells.cols - inputs - 1; }
    const T* target(size_t i) const { return row(i) + inputs; }
    double weight(size_t i) const { return static_cast<double>(row(i)[cells.cols - 1]); }
    double weight(size_t from, size_t to) const {
        double sum = 0;
        for (size_t i = from; i < to; ++i) sum += weight(i);
        return sum;
    }
};

// z to posteriors, in place, what is beyond the K classes zero; returns log sum exp z.
template <class T>
inline double softmax_row(T* z, size_t K, size_t step) {
    constexpr size_t L = lanes<T>;
    const T best = *std::max_element(z, z + K);
    std::fill(z + K, z + step, -std::numeric_limits<T>::infinity());
    Vec<T> sum{};
    for (size_t k = 0; k < step; k += L) {
        const Vec<T> odds = texp(load(z + k) - splat(best));
        sum += odds;
        store<T>(z + k, odds);
    }
    const T total = sum_lanes<T>(sum);
    for (size_t k = 0; k < step; ++k) z[k] /= total;
    return static_cast<double>(best) + std::log(static_cast<double>(total));
}

inline double sigmoid_of(double z) {
    const double odds = std::exp(-std::abs(z)), high = 1 / (1 + odds);
    return z < 0 ? odds * high : high;
}

// The loss of one output beside its target; z becomes its derivative by z.
template <class T>
inline double output_loss(Loss loss, T& z, double y) {
    const double score = static_cast<double>(z);
    if (loss == Loss::squares) {
        z -= static_cast<T>(y);
        return (score - y) * (score - y) / 2;
    }
    if (loss == Loss::poisson) {
        const double mean = std::exp(score);
        z = static_cast<T>(mean - y);
        return mean - y * score + (y > 0 ? y * std::log(y) - y : 0);
    }
    const double odds = std::exp(-std::abs(score)), high = 1 / (1 + odds), h = score < 0 ? odds * high : high;
    if (loss == Loss::sigmoid_squares) {
        z = static_cast<T>((h - y) * h * (1 - h));
        return (h - y) * (h - y) / 2;
    }
    z = static_cast<T>((score < 0 ? 1 - high : high) - y);
    return std::log1p(odds) + std::max(score, 0.) - y * score;
}

// The loss of one row; z becomes its derivative by z.
template <class T>
inline double row_loss(Loss loss, T* z, size_t K, size_t step, const T* y, size_t targets) {
    if (loss == Loss::softmax) {
        const auto code = static_cast<size_t>(*y);
        const double chosen = static_cast<double>(z[code]), level = softmax_row(z, K, step);
        z[code] -= 1;
        return level - chosen;
    }
    double sum = 0;
    for (size_t k = 0; k < K; ++k) {
        const bool is_code = targets < K;
        const double target = is_code ? (static_cast<size_t>(*y) == k ? 1. : 0.) : static_cast<double>(y[k]);
        sum += output_loss(loss, z[k], target);
    }
    return sum;
}

template <class T>
class Training {
public:
    Training(const Shape& shape, Loss loss) : shape_(shape), loss_(loss), tile_(shape) {}

    // Sets `gradient` to that of the sum over rows [from, from + count) of scale * weight * loss; returns the sum of
    // weight * loss.
    double tile(const T* theta, const PackedRows<T>& data, size_t from, size_t count, size_t place, double scale,
                const Chance& chance, T* gradient) {
        enter(data, from, count, place, chance);
        tile_.forward(theta, chance, place);
        double total = 0;
        for (size_t r = 0; r < count; ++r) {
            T* z = tile_.output() + r * tile_.output_step();
            const double weight = data.weight(from + r);
            total += weight *
                     row_loss(loss_, z, shape_.outputs(), tile_.output_step(), data.target(from + r), data.targets());
            const T factor = static_cast<T>(weight * scale);
            for (size_t k = 0; k < tile_.output_step(); ++k) z[k] *= factor;
        }
        tile_.backward(theta, gradient);
        return total;
    }

private:
    const Shape& shape_;
    Loss loss_;
    Tile<T> tile_;

    void enter(const PackedRows<T>& data, size_t from, size_t count, size_t place, const Chance& chance) {
        const size_t d = shape_.inputs();
        const std::uint64_t key = chance.key(0);
        tile_.rows = count;
        for (size_t r = 0; r < count; ++r) {
            T* x = tile_.input() + r * tile_.input_step();
            std::copy_n(data.row(from + r), d, x);
            if (chance.noise > 0)
                for (size_t j = 0; j < d; ++j) x[j] += static_cast<T>(chance.noise * Chance::normal(key, place + r, j));
        }
    }
};

// Adds to `gradient` that of the sum of weight * loss over all rows, `first` being the number of the first one for
// `chance`; returns the sum.
template <class T>
double network_gradient(const Shape& shape, Loss loss, const T* theta, const PackedRows<T>& data, const Chance& chance,
                        size_t first, double* gradient, InterruptPoll poll) {
    Training<T> training(shape, loss);
    std::vector<T, AlignedAllocator<T>> part(shape.size());
    double total = 0;
    for (size_t from = 0; from < data.cells.rows; from += Tile<T>::most) {
        const size_t count = std::min(Tile<T>::most, data.cells.rows - from);
        total += training.tile(theta, data, from, count, first + from, 1, chance, part.data());
        for (size_t i = 0; i < part.size(); ++i) gradient[i] += static_cast<double>(part[i]);
        poll(3 * count * shape.size());
    }
    return total;
}

// One step by `gradient` for every layer: weights are penalized, biases and radii are not.
template <class T>
void step(const Shape& shape, const Optimizer& optimizer, T* theta, T* memory, const T* gradient, std::int64_t number) {
    const size_t kept = memories(optimizer.rule);
    const auto part = [&](size_t i, size_t from) { return i < kept ? memory + i * shape.size() + from : nullptr; };
    for (const Layer& layer : shape.layers) {
        const size_t mid = layer.at + layer.weights(), end = layer.at + layer.size();
        for (const auto& [from, to] : {std::pair{layer.at, mid}, std::pair{mid, end}})
            optimizer(theta + from, part(0, from), part(1, from), gradient + from, to - from, from < mid, number);
    }
}

// Goes through the rows once, a step by the gradient of the mean loss after every `batch` of them; returns the sum of
// weight * loss as met on the way. Steps are counted from `done`, and seed their own chance.
template <class T>
double network_descend(const Shape& shape, Loss loss, const Optimizer& optimizer, T* theta, T* memory,
                       const PackedRows<T>& data, size_t batch, Chance chance, std::int64_t done, InterruptPoll poll) {
    Training<T> training(shape, loss);
    std::vector<T, AlignedAllocator<T>> gradient(shape.size()), part(shape.size());
    const std::uint64_t seed = chance.seed;
    double total = 0;
    for (size_t from = 0; from < data.cells.rows; from += batch) {
        const size_t to = std::min(from + batch, data.cells.rows);
        const double scale = 1 / data.weight(from, to);
        chance.seed = mix(seed + static_cast<std::uint64_t>(++done));
        for (size_t at = from; at < to; at += Tile<T>::most) {
            const size_t count = std::min(Tile<T>::most, to - at);
            T* into = at == from ? gradient.data() : part.data();
            total += training.tile(theta, data, at, count, at - from, scale, chance, into);
            if (at > from)
                for (size_t i = 0; i < part.size(); ++i) gradient[i] += part[i];
        }
        step(shape, optimizer, theta, memory, gradient.data(), done);
        poll(3 * (to - from) * shape.size() + 8 * shape.size());
    }
    return total;
}

// out (n, outputs): the outputs z of every row of X.
template <class T>
void network_forward(const Shape& shape, const T* theta, Matrix<const T> X, Matrix<double> out, InterruptPoll poll) {
    Tile<T> tile(shape);
    for (size_t from = 0; from < X.rows; from += Tile<T>::most) {
        tile.rows = std::min(Tile<T>::most, X.rows - from);
        for (size_t r = 0; r < tile.rows; ++r)
            std::copy_n(X.row(from + r), X.cols, tile.input() + r * tile.input_step());
        tile.forward(theta);
        for (size_t r = 0; r < tile.rows; ++r)
            std::copy_n(tile.output() + r * tile.output_step(), out.cols, out.row(from + r));
        poll(tile.rows * shape.size());
    }
}

// out (n, d): the derivative by the inputs of sum_k direction_k z_k, for every row of X.
template <class T>
void network_input_gradient(const Shape& shape, const T* theta, Matrix<const T> X, Matrix<const T> direction,
                            Matrix<double> out, InterruptPoll poll) {
    Tile<T> tile(shape);
    std::vector<T, AlignedAllocator<T>> slopes(Tile<T>::most * tile.input_step());
    for (size_t from = 0; from < X.rows; from += Tile<T>::most) {
        tile.rows = std::min(Tile<T>::most, X.rows - from);
        for (size_t r = 0; r < tile.rows; ++r)
            std::copy_n(X.row(from + r), X.cols, tile.input() + r * tile.input_step());
        tile.forward(theta);
        std::fill_n(tile.output(), tile.rows * tile.output_step(), T{});
        for (size_t r = 0; r < tile.rows; ++r)
            std::copy_n(direction.row(from + r), direction.cols, tile.output() + r * tile.output_step());
        tile.backward(theta, nullptr, slopes.data());
        for (size_t r = 0; r < tile.rows; ++r)
            std::copy_n(slopes.data() + r * tile.input_step(), X.cols, out.row(from + r));
        poll(2 * tile.rows * shape.size());
    }
}

}  // namespace lyceum::neural
