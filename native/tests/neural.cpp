#include <lyceum/neural/training.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::neural;

Shape shape_of(const std::vector<size_t>& widths, Activation activation, Integration integration) {
    Shape shape;
    shape.steepness = 1.5;
    for (size_t l = 0, at = 0; l + 1 < widths.size(); ++l) {
        const bool last = l + 2 == widths.size();
        shape.layers.push_back({widths[l], widths[l + 1], at, last ? Activation::linear : activation,
                                last ? Integration::weighted : integration});
        at += shape.layers.back().size();
    }
    return shape;
}

// Random parameters, what is padded zero.
template <class T>
std::vector<T> parameters(const Shape& shape, Random& random) {
    std::vector<T> theta(shape.size());
    for (const Layer& layer : shape.layers)
        for (size_t r = 0; r < layer.size() / layer.step(); ++r) {
            const auto row = random.template normal<T>(layer.out, 0, .5);
            std::copy(row.begin(), row.end(), theta.begin() + static_cast<long>(layer.at + r * layer.step()));
        }
    return theta;
}

template <class T>
std::vector<T> packed(size_t n, size_t d, size_t classes, Random& random, size_t targets = 1) {
    const size_t step = d + targets + 1;
    std::vector<T> cells = random.template normal<T>(n * step);
    const auto codes = random.codes(n * targets, 0, static_cast<int>(classes));
    const auto w = random.uniform(n);
    for (size_t i = 0; i < n; ++i) {
        for (size_t t = 0; t < targets; ++t) cells[i * step + d + t] = static_cast<T>(codes[i * targets + t]);
        cells[i * step + step - 1] = static_cast<T>(w[i] + .1);
    }
    return cells;
}

template <class T>
void test_a_product_is_the_sum_of_products(size_t M, size_t N, size_t K) {
    Random random;
    const auto a = random.template normal<T>(M * K), b = random.template normal<T>(K * N),
               start = random.template normal<T>(N);
    std::vector<T> c(M * N), turned(M * N), a_turned(M * K);
    for (size_t i = 0; i < M; ++i)
        for (size_t k = 0; k < K; ++k) a_turned[k * M + i] = a[i * K + k];
    product<T>({a.data(), K, 1}, M, b.data(), N, K, N, start.data(), c.data(), N);
    product<T>({a_turned.data(), 1, M}, M, b.data(), N, K, N, start.data(), turned.data(), N);
    CHECK(c == turned);
    for (size_t i = 0; i < M; ++i)
        for (size_t j = 0; j < N; ++j) {
            double want = start[j];
            for (size_t k = 0; k < K; ++k) want += double(a[i * K + k]) * double(b[k * N + j]);
            CLOSE(c[i * N + j], want, sizeof(T) == 4 ? 1e-4 : 1e-12);
        }
}

// A row has the same bits alone and among others.
template <class T>
void test_a_row_does_not_depend_on_its_neighbors(size_t M, size_t K) {
    Random random;
    const auto a = random.template normal<T>(M * K), b = random.template normal<T>(K * 16);
    std::vector<T> c(M * 16), alone(16);
    product<T>({a.data(), K, 1}, M, b.data(), 16, K, 16, nullptr, c.data(), 16);
    for (size_t i = 0; i < M; ++i) {
        product<T>({a.data() + i * K, K, 1}, 1, b.data(), 16, K, 16, nullptr, alone.data(), 16);
        CHECK(std::equal(alone.begin(), alone.end(), c.begin() + static_cast<long>(i * 16)));
    }
}

void test_the_gradient_is_that_of_finite_differences(Activation activation, Integration integration, Loss loss,
                                                     size_t targets) {
    Random random;
    const size_t n = 150, K = takes_classes(loss) ? 3 : targets;
    const Shape shape = shape_of({5, 17, 4, K}, activation, integration);
    auto theta = parameters<double>(shape, random);
    const auto cells = packed<double>(n, 5, takes_classes(loss) && targets == 1 ? 3 : 2, random, targets);
    const PackedRows<double> data{{cells.data(), n, 6 + targets}, 5, nullptr};
    const Chance chance{.2, .1, 9};
    Doubles1 gradient(shape.size()), unused(shape.size());
    network_gradient<double>(shape, loss, theta.data(), data, chance, 0, gradient.data(), InterruptPoll());
    const auto at = [&](size_t i, double move) {
        const double was = theta[i];
        theta[i] += move;
        const double value =
            network_gradient<double>(shape, loss, theta.data(), data, chance, 0, unused.data(), InterruptPoll());
        theta[i] = was;
        return value;
    };
    for (size_t i = 0; i < shape.size(); i += 7) {
        if (theta[i] == 0) {
            CHECK(gradient[i] == 0);
            continue;
        }
        const double h = 1e-5;
        CLOSE(gradient[i] / 100, (at(i, h) - at(i, -h)) / (2 * h) / 100, 1e-5);
    }
}

// One batch of all rows is one step by the mean gradient, also where it takes several tiles.
template <class T>
void test_descent_is_gradient_and_step(Rule rule) {
    Random random;
    const size_t n = 300;
    const Shape shape = shape_of({6, 9, 2}, Activation::tanh, Integration::weighted);
    auto one = parameters<T>(shape, random), two = one;
    const auto cells = packed<T>(n, 6, 2, random);
    const PackedRows<T> data{{cells.data(), n, 8}, 6, nullptr};
    const Optimizer descent{rule, .1, .9, .99, 1e-8, .01};
    std::vector<T> memory(memories(rule) * shape.size()), other = memory, mean(shape.size());
    for (std::int64_t t = 0; t < 3; ++t) {
        network_descend<T>(shape, Loss::softmax, descent, one.data(), memory.data(), data, n, {}, t, InterruptPoll());
        Doubles1 gradient(shape.size());
        network_gradient<T>(shape, Loss::softmax, two.data(), data, {}, 0, gradient.data(), InterruptPoll());
        for (size_t i = 0; i < mean.size(); ++i) mean[i] = static_cast<T>(gradient[i] / data.weight(0, n));
        step(shape, descent, two.data(), other.data(), mean.data(), t + 1);
    }
    for (size_t i = 0; i < one.size(); ++i) CLOSE(one[i], two[i], sizeof(T) == 4 ? 2e-3 : 1e-9);
}

void test_the_slope_by_the_inputs(Activation activation, Integration integration) {
    Random random;
    const size_t n = 130, d = 6;
    const Shape shape = shape_of({d, 8, 3}, activation, integration);
    const auto theta = parameters<double>(shape, random);
    auto X = random.normal<double>(n * d);
    const auto direction = random.normal<double>(n * 3);
    Doubles1 slopes(n * d), z(n * 3);
    network_input_gradient<double>(shape, theta.data(), {X.data(), n, d}, {direction.data(), n, 3},
                                   {slopes.data(), n, d}, InterruptPoll());
    const auto at = [&](size_t i, size_t j, double move) {
        X[i * d + j] += move;
        network_forward<double>(shape, theta.data(), {X.data(), n, d}, {z.data(), n, 3}, InterruptPoll());
        X[i * d + j] -= move;
        double value = 0;
        for (size_t k = 0; k < 3; ++k) value += direction[i * 3 + k] * z[i * 3 + k];
        return value;
    };
    for (const size_t i : {0, 77, 129})
        for (size_t j = 0; j < d; ++j) CLOSE(slopes[i * d + j], (at(i, j, 1e-6) - at(i, j, -1e-6)) / 2e-6, 1e-5);
}

void test_exp_of_floats() {
    for (float x = -86; x < 88; x += .37f) CLOSE(texp(splat(x))[0] / std::exp(x), 1, 3e-6);
    CHECK(texp(splat(-200.f))[0] == 0 && texp(splat(-float(infinity)))[0] == 0);
}

int main() {
    for (const size_t M : {1, 5, 13, 128})
        for (const size_t N : {16, 32, 48, 64, 112})
            for (const size_t K : {0, 1, 9}) {
                test_a_product_is_the_sum_of_products<float>(M, N, K);
                test_a_product_is_the_sum_of_products<double>(M, N, K);
            }
    test_a_row_does_not_depend_on_its_neighbors<float>(45, 33);
    test_a_row_does_not_depend_on_its_neighbors<double>(45, 33);
    // ReLU has no derivative at 0, sign none of use: their rules are tested from Python
    for (const auto activation : {Activation::linear, Activation::sigmoid, Activation::tanh})
        for (const auto integration : {Integration::weighted, Integration::quadratic, Integration::spherical}) {
            for (const auto loss :
                 {Loss::softmax, Loss::logistic, Loss::squares, Loss::sigmoid_squares, Loss::poisson}) {
                // exp of a sum of squares is too large a number for differences
                if (loss == Loss::poisson && activation == Activation::linear) continue;
                test_the_gradient_is_that_of_finite_differences(activation, integration, loss, 1);
                if (loss != Loss::softmax)
                    test_the_gradient_is_that_of_finite_differences(activation, integration, loss, 3);
            }
            test_the_slope_by_the_inputs(activation, integration);
        }
    for (const auto rule : {Rule::sgd, Rule::momentum, Rule::nesterov, Rule::adam}) {
        test_descent_is_gradient_and_step<float>(rule);
        test_descent_is_gradient_and_step<double>(rule);
    }
    test_exp_of_floats();
    return failures;
}
