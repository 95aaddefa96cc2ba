#include <nanobind/stl/tuple.h>
#include <lyceum/neural/training.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Integers = Array<const std::int32_t, 1>;

template <class E>
E kind_of(const char* name, std::int32_t code, std::int32_t count) {
    expect(code >= 0 && code < count, std::string(name) + " has the code " + std::to_string(code) + ", expected 0 to " +
                                          std::to_string(count - 1));
    return static_cast<E>(code);
}

// widths (layers + 1), and for every layer its activation and integration.
lyceum::neural::Shape shape_of(const Integers& widths, const Integers& activations, const Integers& integrations,
                               double slope) {
    const auto count = activations.shape(0);
    expect(count > 0, "a network has at least one layer");
    expect_shape("widths", widths, {count + 1});
    expect_shape("integrations", integrations, {count});
    lyceum::neural::Shape shape;
    shape.steepness = slope;
    for (std::size_t l = 0, at = 0; l < count; ++l) {
        expect(widths.data()[l] > 0 && widths.data()[l + 1] > 0 && widths.data()[l] < (1 << 22),
               "widths must be positive");
        shape.layers.push_back(
            {static_cast<std::size_t>(widths.data()[l]), static_cast<std::size_t>(widths.data()[l + 1]), at,
             kind_of<lyceum::neural::Activation>("activation", activations.data()[l], lyceum::neural::activations),
             kind_of<lyceum::neural::Integration>("integration", integrations.data()[l],
                                                  lyceum::neural::integrations)});
        at += shape.layers.back().size();
    }
    return shape;
}

class Network {
public:
    Network(Integers widths, Integers activations, Integers integrations, double slope, std::int32_t loss)
        : shape(shape_of(widths, activations, integrations, slope)),
          loss(kind_of<lyceum::neural::Loss>("loss", loss, lyceum::neural::losses)) {}
    lyceum::neural::Shape shape;
    lyceum::neural::Loss loss;
};

template <class T>
lyceum::neural::PackedRows<T> packed_rows(const Network& net, const Array<const T, 2>& rows,
                                          const Maybe<Array<const std::int64_t, 1>>& order = {}) {
    const auto n = rows.shape(0), d = net.shape.inputs(), outputs = net.shape.outputs();
    // a class code, or a number per output
    const bool softmax = net.loss == lyceum::neural::Loss::softmax;
    const bool codes = softmax || (takes_classes(net.loss) && outputs > 1 && rows.shape(1) == d + 2);
    expect_shape("rows", rows, {n, d + (codes ? 1 : outputs) + 1});
    lyceum::neural::PackedRows<T> data{matrix(rows), d, nullptr};
    for (std::size_t i = 0; i < n; ++i) {
        expect(data.weight(i) > 0, "weights must be above zero");
        if (codes)
            expect(*data.target(i) >= 0 && *data.target(i) < static_cast<T>(outputs), "a class code is out of range");
    }
    data.order = data_or_null("order", order, {n});
    for (std::size_t i = 0; data.order && i < n; ++i)
        expect(data.order[i] >= 0 && static_cast<std::size_t>(data.order[i]) < n, "order is out of range");
    return data;
}

template <class T>
const T* parameters_of(const Network& net, const Array<const T, 1>& theta) {
    expect_shape("theta", theta, {net.shape.size()});
    return theta.data();
}

lyceum::neural::Optimizer descent_of(std::int32_t rule, double rate, double decay, double decay_squares, double epsilon,
                                     double penalty) {
    return {kind_of<lyceum::neural::Rule>("rule", rule, lyceum::neural::rules),
            rate,
            decay,
            decay_squares,
            epsilon,
            penalty};
}

lyceum::neural::Chance chance_of(double dropout, double noise, std::uint64_t seed) {
    expect(dropout >= 0 && dropout < 1, "dropout must be from 0 to below 1");
    expect(noise >= 0, "noise must not be negative");
    return {dropout, noise, seed};
}

using Rule = std::tuple<std::int32_t, double, double, double, double, double>;
using Draw = std::tuple<double, double, std::uint64_t>;

template <class T>
double gradient(const Network& net, Array<const T, 1> theta, Array<const T, 2> rows, Array<double, 1> out, Draw chance,
                std::size_t first) {
    expect_shape("out", out, {net.shape.size()});
    return lyceum::neural::network_gradient<T>(net.shape, net.loss, parameters_of(net, theta), packed_rows(net, rows),
                                               std::apply(chance_of, chance), first, out.data(), signals());
}

template <class T>
void step(const Network& net, Array<T, 1> theta, Array<T, 2> memory, Array<const T, 1> slopes, Rule rule,
          std::int64_t number) {
    const auto descent = std::apply(descent_of, rule);
    expect_shape("theta", theta, {net.shape.size()});
    expect_shape("gradient", slopes, {net.shape.size()});
    expect_shape("memory", memory, {lyceum::neural::memories(descent.rule), net.shape.size()});
    lyceum::neural::step<T>(net.shape, descent, theta.data(), memory.data(), slopes.data(), number);
}

template <class T>
double descend(const Network& net, Array<T, 1> theta, Array<T, 2> memory, Array<const T, 2> rows,
               Maybe<Array<const std::int64_t, 1>> order, std::size_t batch, Rule rule, Draw chance,
               std::int64_t done) {
    const auto descent = std::apply(descent_of, rule);
    expect(batch > 0, "batch must be positive");
    expect_shape("theta", theta, {net.shape.size()});
    expect_shape("memory", memory, {lyceum::neural::memories(descent.rule), net.shape.size()});
    return lyceum::neural::network_descend<T>(net.shape, net.loss, descent, theta.data(), memory.data(),
                                              packed_rows(net, rows, order), batch, std::apply(chance_of, chance), done,
                                              signals());
}

template <class T>
void forward(const Network& net, Array<const T, 1> theta, Array<const T, 2> X, Array<double, 2> out) {
    const auto n = X.shape(0);
    expect_shape("X", X, {n, net.shape.inputs()});
    expect_shape("out", out, {n, net.shape.outputs()});
    lyceum::neural::network_forward<T>(net.shape, parameters_of(net, theta), matrix(X), matrix(out), signals());
}

template <class T>
void input_gradient(const Network& net, Array<const T, 1> theta, Array<const T, 2> X, Array<const T, 2> direction,
                    Array<double, 2> out) {
    const auto n = X.shape(0);
    expect_shape("X", X, {n, net.shape.inputs()});
    expect_shape("direction", direction, {n, net.shape.outputs()});
    expect_shape("out", out, {n, net.shape.inputs()});
    lyceum::neural::network_input_gradient<T>(net.shape, parameters_of(net, theta), matrix(X), matrix(direction),
                                              matrix(out), signals());
}

template <class T>
void bind(nb::class_<Network>& c) {
    c.def("gradient", &gradient<T>, "theta"_a.noconvert(), "rows"_a.noconvert(), "out"_a.noconvert(), "chance"_a,
          "first"_a = 0, ReleaseGil(),
          "Add the gradient of the sum of weight * loss over packed rows; return the sum.");
    c.def("step", &step<T>, "theta"_a.noconvert(), "memory"_a.noconvert(), "gradient"_a.noconvert(), "rule"_a,
          "number"_a, ReleaseGil(), "One step by the gradient, in place.");
    c.def("descend", &descend<T>, "theta"_a.noconvert(), "memory"_a.noconvert(), "rows"_a.noconvert(),
          "order"_a.noconvert().none(), "batch"_a, "rule"_a, "chance"_a, "done"_a, ReleaseGil(),
          "Pass through the rows once, one step per batch, in place; return the sum of weight * loss on the way.");
    c.def("forward", &forward<T>, "theta"_a.noconvert(), "X"_a.noconvert(), "out"_a.noconvert(), ReleaseGil(),
          "Set out to the outputs of every row.");
    c.def("input_gradient", &input_gradient<T>, "theta"_a.noconvert(), "X"_a.noconvert(), "direction"_a.noconvert(),
          "out"_a.noconvert(), ReleaseGil(), "Set out to the derivative of direction . outputs by the inputs.");
}

}  // namespace

void bind_neural(nb::module_& m) {
    nb::class_<Network> c(m, "Network",
                          "A feed-forward network's shape and loss; parameters are passed to every call.");
    c.def(nb::init<Integers, Integers, Integers, double, std::int32_t>(), "widths"_a.noconvert(),
          "activations"_a.noconvert(), "integrations"_a.noconvert(), "slope"_a, "loss"_a);
    c.def_prop_ro("size", [](const Network& net) { return net.shape.size(); });
    bind<float>(c);
    bind<double>(c);
}
