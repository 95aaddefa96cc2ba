#include <nanobind/stl/string.h>

#include <lyceum/distances/leaf_tree.hpp>
#include <lyceum/distances/nearest_euclidean.hpp>
#include <lyceum/distances/pairwise.hpp>
#include <lyceum/distances/sparse_pairs.hpp>
#include <string>

#include "spaces.hpp"

using namespace nb::literals;
namespace ld = lyceum::distances;

namespace {

using Numbers = Array<const std::int64_t, 1>;
using Indices = Array<const std::int32_t, 1>;
using Found = Array<std::int64_t, 2>;

ld::NearestOutput output(const Array<double, 2>& raw, const Found& rows, std::size_t n) {
    expect(raw.shape(1) > 0, "there must be room for at least one neighbor");
    expect_shape("raw", raw, {n, raw.shape(1)});
    expect_shape("rows", rows, {n, raw.shape(1)});
    return {raw.data(), rows.data()};
}

template <class T>
void pairwise(const std::string& space, double p, Weights weight, Bytes matched, Array<const T, 2> X,
              Array<const T, 2> Y, Array<double, 2> out) {
    const auto d = X.shape(1);
    expect_shape("Y", Y, {Y.shape(0), d});
    expect_shape("out", out, {X.shape(0), Y.shape(0)});
    const auto use = [&](const auto& one) { ld::pairwise(one, matrix(X), matrix(Y), out.data(), signals()); };
    with_any_space(space, p, weight, matched, d, use);
}

template <class T>
void nearest(const std::string& space, double p, Weights weight, Bytes matched, Array<const T, 2> X,
             Array<const T, 2> Y, Maybe<Numbers> skip, std::int64_t first, Array<double, 2> raw, Found rows) {
    const auto n = X.shape(0), d = X.shape(1);
    expect_shape("Y", Y, {Y.shape(0), d});
    const auto out = output(raw, rows, n);
    const ld::NearestQuery asked{raw.shape(1), first, data_or_null("skip", skip, {n})};
    const auto use = [&](const auto& one) { ld::nearest(one, matrix(X), matrix(Y), asked, out, signals()); };
    if (space == "squares")
        ld::EuclideanNearest<T>(matrix(X), matrix(Y), asked, signals())(out);
    else
        with_any_space(space, p, weight, matched, d, use);
}

template <class T>
ld::SparseRows<T> sparse_rows(const Indices& indptr, const Indices& indices, const Array<const T, 1>& data) {
    expect(indptr.shape(0) > 0, "indptr is empty");
    const auto n = indptr.shape(0) - 1, stored = indices.shape(0);
    expect_shape("data", data, {stored});
    const auto* starts = indptr.data();
    expect(std::is_sorted(starts, starts + n + 1) && starts[0] >= 0 && static_cast<std::size_t>(starts[n]) <= stored,
           "indptr must not decrease nor point outside of data");
    return {starts, indices.data(), data.data(), n};
}

template <class T>
void sparse_pairwise(const std::string& space, double p, Indices x_indptr, Indices x_indices, Array<const T, 1> x_data,
                     Indices y_indptr, Indices y_indices, Array<const T, 1> y_data, Array<double, 2> out) {
    const auto X = sparse_rows(x_indptr, x_indices, x_data), Y = sparse_rows(y_indptr, y_indices, y_data);
    expect_shape("out", out, {X.rows, Y.rows});
    with_space(space, p, [&](const auto& one) { ld::sparse_pairwise(one, X, Y, out.data(), signals()); });
}

template <class T>
void sparse_nearest(const std::string& space, double p, Indices x_indptr, Indices x_indices, Array<const T, 1> x_data,
                    Indices y_indptr, Indices y_indices, Array<const T, 1> y_data, Maybe<Numbers> skip,
                    std::int64_t first, Array<double, 2> raw, Found rows) {
    const auto X = sparse_rows(x_indptr, x_indices, x_data), Y = sparse_rows(y_indptr, y_indices, y_data);
    const auto out = output(raw, rows, X.rows);
    const ld::NearestQuery asked{raw.shape(1), first, data_or_null("skip", skip, {X.rows})};
    with_space(space, p, [&](const auto& one) { ld::sparse_nearest(one, X, Y, asked, out, signals()); });
}

class LeafTree {
public:
    LeafTree(Array<const double, 2> Z, Numbers numbers) : tree_(checked(Z, numbers), numbers.data()) {}

    void nearest(const std::string& space, double p, Array<const double, 2> Z, Maybe<Numbers> skip,
                 Array<double, 2> raw, Found rows) const {
        const auto n = Z.shape(0);
        expect_shape("Z", Z, {n, tree_.columns()});
        const auto out = output(raw, rows, n);
        const ld::NearestQuery asked{raw.shape(1), 0, data_or_null("skip", skip, {n})};
        with_differences(space, p, [&](const auto& one) { tree_.nearest(one, matrix(Z), asked, out, signals()); });
    }

    // The raw values and numbers of all rows within `limit` of every query, one query after another.
    nb::object within(const std::string& space, double p, Array<const double, 2> Z, double limit,
                      Array<std::int64_t, 1> counts) const {
        const auto n = Z.shape(0);
        expect_shape("Z", Z, {n, tree_.columns()});
        expect_shape("counts", counts, {n});
        auto* raw = new std::vector<double>;
        auto* rows = new std::vector<std::int64_t>;
        nb::capsule raw_owner(raw, [](void* v) noexcept { delete static_cast<std::vector<double>*>(v); });
        nb::capsule rows_owner(rows, [](void* v) noexcept { delete static_cast<std::vector<std::int64_t>*>(v); });
        {
            nb::gil_scoped_release release;
            auto poll = signals();
            with_differences(space, p, [&](const auto& one) {
                for (std::size_t q = 0; q < n; ++q) {
                    const auto before = rows->size();
                    tree_.within(one, matrix(Z).row(q), limit,
                                 [&](double value, std::int64_t row) { raw->push_back(value), rows->push_back(row); });
                    counts.data()[q] = static_cast<std::int64_t>(rows->size() - before);
                    poll(4096 + 16 * (rows->size() - before));
                }
            });
        }
        const auto raw_array = nb::ndarray<nb::numpy, double, nb::ndim<1>>(raw->data(), {raw->size()}, raw_owner);
        const auto rows_array =
            nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(rows->data(), {rows->size()}, rows_owner);
        return nb::make_tuple(raw_array, rows_array);
    }

private:
    static lyceum::Matrix<const double> checked(const Array<const double, 2>& Z, const Numbers& numbers) {
        expect(Z.shape(0) > 0 && Z.shape(1) > 0, "there must be rows and columns");
        expect_shape("numbers", numbers, {Z.shape(0)});
        return matrix(Z);
    }

    ld::LeafTree tree_;
};

template <class T>
void bind(nb::module_& m) {
    m.def("pairwise", &pairwise<T>, "space"_a, "p"_a, "weight"_a.noconvert().none(), "matched"_a.noconvert().none(),
          "X"_a.noconvert(), "Y"_a.noconvert(), "out"_a.noconvert(), ReleaseGil(),
          "Set out to the raw values of all pairs of rows.");
    m.def(
        "nearest", &nearest<T>, "space"_a, "p"_a, "weight"_a.noconvert().none(), "matched"_a.noconvert().none(),
        "X"_a.noconvert(), "Y"_a.noconvert(), "skip"_a.noconvert().none(), "first"_a, "raw"_a.noconvert(),
        "rows"_a.noconvert(), ReleaseGil(),
        "Set raw and rows to the nearest rows of Y for every row of X, numbered from `first`, without those in skip.");
    m.def("sparse_pairwise", &sparse_pairwise<T>, "space"_a, "p"_a, "x_indptr"_a.noconvert(), "x_indices"_a.noconvert(),
          "x_data"_a.noconvert(), "y_indptr"_a.noconvert(), "y_indices"_a.noconvert(), "y_data"_a.noconvert(),
          "out"_a.noconvert(), ReleaseGil(), "Set out to the raw values of all pairs of sparse rows.");
    m.def("sparse_nearest", &sparse_nearest<T>, "space"_a, "p"_a, "x_indptr"_a.noconvert(), "x_indices"_a.noconvert(),
          "x_data"_a.noconvert(), "y_indptr"_a.noconvert(), "y_indices"_a.noconvert(), "y_data"_a.noconvert(),
          "skip"_a.noconvert().none(), "first"_a, "raw"_a.noconvert(), "rows"_a.noconvert(), ReleaseGil(),
          "Set raw and rows to the nearest sparse rows of Y for every row of X.");
}

}  // namespace

void bind_distances(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    nb::class_<LeafTree>(m, "LeafTree", "Rows in leaf order under a tree of boxes, for exact nearest rows.")
        .def(nb::init<Array<const double, 2>, Numbers>(), "Z"_a.noconvert(), "numbers"_a.noconvert())
        .def("nearest", &LeafTree::nearest, "space"_a, "p"_a, "Z"_a.noconvert(), "skip"_a.noconvert().none(),
             "raw"_a.noconvert(), "rows"_a.noconvert(), ReleaseGil(),
             "Set raw and rows to the nearest rows for every query, without those in skip.")
        .def("within", &LeafTree::within, "space"_a, "p"_a, "Z"_a.noconvert(), "limit"_a, "counts"_a.noconvert(),
             "Raw values and numbers of the rows within limit of every query; counts says how many each has.");
}
