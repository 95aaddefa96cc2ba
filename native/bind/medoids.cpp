// k-medoids, and sums of distances to clusters.
#include <nanobind/stl/string.h>

#include <lyceum/cluster/cluster_sums.hpp>
#include <lyceum/cluster/medoids.hpp>

#include "spaces.hpp"

using namespace nb::literals;
namespace lc = lyceum::cluster;

namespace {

template <class T>
void medoids_build(Array<const T, 2> D, Weights w, std::size_t threads, Array<std::int64_t, 1> medoids) {
    const auto n = D.shape(0), k = medoids.shape(0);
    expect_shape("D", D, {n, n});
    expect(k > 0 && k <= n, "there must be from 1 to n medoids");
    lc::Medoids<T>(matrix(D), data_or_null("w", w, {n}), k, threads, signals()).build(medoids.data());
}

template <class T>
nb::ndarray<nb::numpy, double> medoids_swap(Array<const T, 2> D, Weights w, std::size_t most, std::size_t threads,
                                            Array<std::int64_t, 1> medoids) {
    const auto n = D.shape(0), k = medoids.shape(0);
    expect_shape("D", D, {n, n});
    expect(k > 0 && k <= n, "there must be from 1 to n medoids");
    std::vector<bool> seen(n);
    for (std::size_t m = 0; m < k; ++m) {
        const auto row = medoids.data()[m];
        expect(row >= 0 && static_cast<std::size_t>(row) < n && !seen[static_cast<std::size_t>(row)],
               "medoids must be different rows");
        seen[static_cast<std::size_t>(row)] = true;
    }
    const double* weights = data_or_null("w", w, {n});
    std::vector<double> losses;
    {
        nb::gil_scoped_release release;
        lc::Medoids<T>(matrix(D), weights, k, threads, signals()).swap(medoids.data(), most, losses);
    }
    return to_numpy(std::move(losses));
}

void cluster_sums(const std::string& space, double p, Weights weight, Bytes matched, Array<const double, 2> X,
                  Array<const double, 2> Y, Weights w, Array<const std::int64_t, 1> starts, bool rooted, double scale,
                  Array<double, 2> out) {
    const auto n = X.shape(0), d = X.shape(1), m = Y.shape(0);
    expect(starts.shape(0) > 0, "starts is empty");
    const auto k = starts.shape(0) - 1;
    expect_shape("Y", Y, {m, d});
    expect_shape("out", out, {n, k});
    const auto* at = starts.data();
    expect(std::is_sorted(at, at + k + 1) && at[0] >= 0 && static_cast<std::size_t>(at[k]) <= m,
           "starts must not decrease nor point outside of Y");
    const lc::ClusteredRows rows{matrix(Y), data_or_null("w", w, {m}), at, k};
    with_any_space(space, p, weight, matched, d, [&](const auto& one) {
        lc::cluster_sums(one, matrix(X), rows, rooted, scale, out.data(), signals());
    });
}

template <class T>
void bind(nb::module_& m) {
    m.def("medoids_build", &medoids_build<T>, "D"_a.noconvert(), "w"_a.noconvert().none(), "threads"_a,
          "medoids"_a.noconvert(), ReleaseGil(), "Set medoids to rows, each the one that lowers the loss most.");
    m.def("medoids_swap", &medoids_swap<T>, "D"_a.noconvert(), "w"_a.noconvert().none(), "most"_a, "threads"_a,
          "medoids"_a.noconvert(),
          "Swap medoids for other rows until no swap lowers the loss; the loss at the start and after every round.");
}

}  // namespace

void bind_medoids(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    m.def("cluster_sums", &cluster_sums, "space"_a, "p"_a, "weight"_a.noconvert().none(),
          "matched"_a.noconvert().none(), "X"_a.noconvert(), "Y"_a.noconvert(), "w"_a.noconvert().none(),
          "starts"_a.noconvert(), "rooted"_a, "scale"_a, "out"_a.noconvert(), ReleaseGil(),
          "Set out to the weighted sums of the distances of every row of X to the rows of every cluster of Y.");
}
