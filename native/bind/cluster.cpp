#include <nanobind/stl/pair.h>

#include <lyceum/cluster/lloyd.hpp>
#include <lyceum/cluster/lloyd_bounds.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

template <class T>
double lloyd(Array<const T, 2> X, Array<const T, 2> centers, Weights w, Array<double, 2> sums, Array<double, 1> weights,
             Maybe<Array<std::int32_t, 1>> labels, Maybe<Array<double, 1>> distances) {
    const auto n = X.shape(0), d = X.shape(1), k = centers.shape(0);
    expect(k > 0, "centers must have at least one row");
    expect_shape("centers", centers, {k, d});
    expect_shape("sums", sums, {k, d});
    expect_shape("weights", weights, {k});
    const lyceum::cluster::LloydOutput out{sums.data(), weights.data(), data_or_null("labels", labels, {n}),
                                           data_or_null("distances", distances, {n})};
    return lyceum::cluster::lloyd(matrix(X), matrix(centers), data_or_null("w", w, {n}), out, signals());
}

template <class T>
std::pair<double, std::size_t> bounded_lloyd(Array<const T, 2> X, Array<const T, 2> centers, Weights w,
                                             Array<std::int32_t, 1> labels, Array<double, 1> lower,
                                             Array<const double, 1> moves, Array<double, 2> sums,
                                             Array<double, 1> weights) {
    const auto n = X.shape(0), d = X.shape(1), k = centers.shape(0);
    expect(k > 0, "centers must have at least one row");
    expect_shape("centers", centers, {k, d});
    expect_shape("labels", labels, {n});
    expect_shape("lower", lower, {n});
    expect_shape("moves", moves, {k});
    expect_shape("sums", sums, {k, d});
    expect_shape("weights", weights, {k});
    for (std::size_t i = 0; i < n; ++i)
        expect(labels.data()[i] < static_cast<std::int64_t>(k), "a label names a center that does not exist");
    std::size_t compared = 0;
    lyceum::cluster::BoundedLloyd<T> pass(matrix(centers), {labels.data(), lower.data(), moves.data()});
    const double inertia = pass(matrix(X), data_or_null("w", w, {n}), sums.data(), weights.data(), compared, signals());
    return {inertia, compared};
}

template <class T>
void bind(nb::module_& m) {
    m.def("lloyd", &lloyd<T>, "X"_a.noconvert(), "centers"_a.noconvert(), "w"_a.noconvert().none(),
          "sums"_a.noconvert(), "weights"_a.noconvert(), "labels"_a.noconvert().none() = nb::none(),
          "distances"_a.noconvert().none() = nb::none(), ReleaseGil(),
          "Add every row to the sums and weights of its nearest center; set labels and squared distances; "
          "return the weighted sum of squared distances.");
    m.def("bounded_lloyd", &bounded_lloyd<T>, "X"_a.noconvert(), "centers"_a.noconvert(), "w"_a.noconvert().none(),
          "labels"_a.noconvert(), "lower"_a.noconvert(), "moves"_a.noconvert(), "sums"_a.noconvert(),
          "weights"_a.noconvert(), ReleaseGil(),
          "The same with bounds, which are updated: rows that cannot have changed their center are not compared. "
          "Return the weighted sum of squared distances and how many rows were compared.");
}

}  // namespace

void bind_cluster(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
