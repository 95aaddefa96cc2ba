#include <lyceum/cluster/lloyd.hpp>

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
void bind(nb::module_& m) {
    m.def("lloyd", &lloyd<T>, "X"_a.noconvert(), "centers"_a.noconvert(), "w"_a.noconvert().none(),
          "sums"_a.noconvert(), "weights"_a.noconvert(), "labels"_a.noconvert().none() = nb::none(),
          "distances"_a.noconvert().none() = nb::none(), ReleaseGil(),
          "Add every row to the sums and weights of its nearest centre; set labels and squared distances; "
          "return the weighted sum of squared distances.");
}

}  // namespace

void bind_cluster(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
