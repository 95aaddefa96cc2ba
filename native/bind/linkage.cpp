// Agglomerative clustering and minimum spanning trees.
#include <nanobind/stl/string.h>

#include <lyceum/cluster/linkage_centroid.hpp>
#include <lyceum/cluster/linkage_matrix.hpp>
#include <lyceum/cluster/linkage_ward.hpp>
#include <lyceum/cluster/spanning_tree_boruvka.hpp>
#include <lyceum/cluster/spanning_tree_prim.hpp>
#include <string>

#include "spaces.hpp"

using namespace nb::literals;
namespace lc = lyceum::cluster;

namespace {

using Rows64 = Array<std::int64_t, 1>;

lc::Merges merges_of(const Rows64& a, const Rows64& b, const Array<double, 1>& height, std::size_t n) {
    const auto count = n ? n - 1 : 0;
    expect_shape("a", a, {count});
    expect_shape("b", b, {count});
    expect_shape("height", height, {count});
    return {a.data(), b.data(), height.data()};
}

template <class T>
void linkage_matrix(const std::string& rule, Array<T, 1> distances, std::size_t n, Weights sizes, std::size_t threads,
                    Rows64 a, Rows64 b, Array<double, 1> height) {
    expect_shape("distances", distances, {n ? n * (n - 1) / 2 : 0});
    const double* weights = data_or_null("sizes", sizes, {n});
    const auto out = merges_of(a, b, height, n);
    const auto run = [&]<class Rule>(Rule) {
        lc::MatrixLinkage<T, Rule>(distances.data(), n, weights, threads, signals())(out);
    };
    if (rule == "single") return run(lc::Single{});
    if (rule == "complete") return run(lc::Complete{});
    if (rule == "average") return run(lc::Average{});
    if (rule == "centroid") return run(lc::Centroid{});
    if (rule == "weighted") return run(lc::Weighted{});
    if (rule == "median") return run(lc::Median{});
    expect(rule == "ward", "there is no rule '" + rule + "'");
    run(lc::Ward{});
}

void ward_points(Array<const double, 2> X, Weights sizes, std::size_t threads, Rows64 a, Rows64 b,
                 Array<double, 1> height) {
    const auto n = X.shape(0);
    const auto out = merges_of(a, b, height, n);
    lc::WardPoints(matrix(X), data_or_null("sizes", sizes, {n}), threads, signals())(out);
}

void centroid_points(Array<const double, 2> X, Weights sizes, std::size_t threads, Rows64 a, Rows64 b,
                     Array<double, 1> height) {
    const auto n = X.shape(0);
    const auto out = merges_of(a, b, height, n);
    lc::CentroidPoints(matrix(X), data_or_null("sizes", sizes, {n}), threads, signals())(out);
}

void spanning_tree(const std::string& space, double p, Weights weight, Bytes matched, Array<const double, 2> X,
                   Weights core, std::size_t threads, Rows64 a, Rows64 b, Array<double, 1> height) {
    const auto n = X.shape(0), d = X.shape(1);
    const auto out = merges_of(a, b, height, n);
    const double* cores = data_or_null("core", core, {n});
    with_any_space(space, p, weight, matched, d,
                   [&](const auto& one) { lc::PrimTree(one, matrix(X), cores, threads, signals())(out); });
}

void spanning_tree_of_leaves(const std::string& space, double p, Array<const double, 2> Z,
                             Array<const std::int64_t, 1> numbers, Weights core, std::size_t threads, Rows64 a,
                             Rows64 b, Array<double, 1> height) {
    const auto n = Z.shape(0);
    expect_shape("numbers", numbers, {n});
    for (std::size_t i = 0; i < n; ++i)
        expect(numbers.data()[i] >= 0 && static_cast<std::size_t>(numbers.data()[i]) < n, "numbers must be of rows");
    const auto out = merges_of(a, b, height, n);
    const double* cores = data_or_null("core", core, {n});
    with_differences(space, p, [&](const auto& one) {
        lc::BoruvkaTree(one, matrix(Z), numbers.data(), cores, threads, signals())(out);
    });
}

// Merges of rows, in order, as merges of clusters: those of one row are 0 ... n - 1, merge t makes cluster n + t.
void number_merges(Array<const std::int64_t, 1> a, Array<const std::int64_t, 1> b, Weights sizes,
                   Array<double, 2> out) {
    const auto count = a.shape(0), n = count + 1;
    expect_shape("b", b, {count});
    expect_shape("out", out, {count, 3});
    const double* weights = data_or_null("sizes", sizes, {n});
    std::vector<std::size_t> parent(2 * n - 1);
    std::vector<double> size(2 * n - 1);
    for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = i;
    for (std::size_t i = 0; i < n; ++i) size[i] = lyceum::weight_of(weights, i);
    const auto find = [&](std::int64_t row) {
        expect(row >= 0 && static_cast<std::size_t>(row) < n, "a merge names a row that does not exist");
        auto i = static_cast<std::size_t>(row);
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    for (std::size_t t = 0; t < count; ++t) {
        const auto one = find(a.data()[t]), two = find(b.data()[t]);
        expect(one != two, "a merge joins a cluster with itself");
        parent[one] = parent[two] = n + t;
        size[n + t] = size[one] + size[two];
        double* row = out.data() + 3 * t;
        row[0] = static_cast<double>(std::min(one, two)), row[1] = static_cast<double>(std::max(one, two));
        row[2] = size[n + t];
    }
}

template <class T>
void bind(nb::module_& m) {
    m.def("linkage_matrix", &linkage_matrix<T>, "rule"_a, "distances"_a.noconvert(), "n"_a,
          "sizes"_a.noconvert().none(), "threads"_a, "a"_a.noconvert(), "b"_a.noconvert(), "height"_a.noconvert(),
          ReleaseGil(), "Merge the closest clusters until one is left; distances of all pairs i < j are overwritten.");
}

}  // namespace

void bind_linkage(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    m.def("ward_points", &ward_points, "X"_a.noconvert(), "sizes"_a.noconvert().none(), "threads"_a, "a"_a.noconvert(),
          "b"_a.noconvert(), "height"_a.noconvert(), ReleaseGil(),
          "Ward's merges of points, in the order in which chains of nearest neighbors find them; squared heights.");
    m.def("centroid_points", &centroid_points, "X"_a.noconvert(), "sizes"_a.noconvert().none(), "threads"_a,
          "a"_a.noconvert(), "b"_a.noconvert(), "height"_a.noconvert(), ReleaseGil(),
          "The merges of centroid linkage of points, in order; squared heights.");
    m.def("spanning_tree", &spanning_tree, "space"_a, "p"_a, "weight"_a.noconvert().none(),
          "matched"_a.noconvert().none(), "X"_a.noconvert(), "core"_a.noconvert().none(), "threads"_a,
          "a"_a.noconvert(), "b"_a.noconvert(), "height"_a.noconvert(), ReleaseGil(),
          "The edges of the minimum spanning tree of all rows, by Prim's algorithm.");
    m.def("spanning_tree_of_leaves", &spanning_tree_of_leaves, "space"_a, "p"_a, "Z"_a.noconvert(),
          "numbers"_a.noconvert(), "core"_a.noconvert().none(), "threads"_a, "a"_a.noconvert(), "b"_a.noconvert(),
          "height"_a.noconvert(), ReleaseGil(),
          "The edges of the minimum spanning tree of rows in leaf order, by Boruvka's algorithm.");
    m.def("number_merges", &number_merges, "a"_a.noconvert(), "b"_a.noconvert(), "sizes"_a.noconvert().none(),
          "out"_a.noconvert(), ReleaseGil(),
          "Set the rows of out to the two clusters of every merge, the lower number first, and the size of both.");
}
