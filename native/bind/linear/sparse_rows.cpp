#include <algorithm>
#include <lyceum/linear/sparse_rows.hpp>
#include <lyceum/rows/one_of_c.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Vector = Array<const double, 1>;
using Indices = Array<const std::int32_t, 1>;

template <class T>
lyceum::linear::Csr<T> checked(const Indices& indptr, const Indices& indices, const Array<const T, 1>& data,
                               std::size_t d) {
    expect(indptr.shape(0) > 0, "indptr is empty");
    const std::size_t n = indptr.shape(0) - 1, stored = indices.shape(0);
    expect_shape("data", data, {stored});
    expect(std::is_sorted(indptr.data(), indptr.data() + n + 1), "indptr must not decrease");
    expect(indptr.data()[0] >= 0 && static_cast<std::size_t>(indptr.data()[n]) <= stored,
           "indptr points outside of data");
    bool inside = true;
    for (std::size_t e = 0; e < stored; ++e) inside &= static_cast<std::uint32_t>(indices.data()[e]) < d;
    expect(inside, "indices must lie in [0, " + std::to_string(d) + ")");
    return {indptr.data(), indices.data(), data.data(), n, d};
}

template <class T>
void sparse_gram(Indices indptr, Indices indices, Array<const T, 1> data, Weights w, Array<double, 2> gram) {
    const auto d = gram.shape(0);
    expect_shape("gram", gram, {d, d});
    const auto X = checked(indptr, indices, data, d);
    lyceum::linear::sparse_gram(X, data_or_null("w", w, {X.rows}), gram.data(), signals());
}

template <class T>
double sparse_logistic(Indices indptr, Indices indices, Array<const T, 1> data, Vector y, Weights w, Vector coef,
                       Array<double, 1> gradient, Maybe<Array<double, 2>> hessian) {
    expect(coef.shape(0) > 0, "coef needs the intercept");
    const auto p = coef.shape(0);
    const auto X = checked(indptr, indices, data, p - 1);
    expect_shape("y", y, {X.rows});
    expect_shape("gradient", gradient, {p});
    return lyceum::linear::sparse_logistic(X, y.data(), data_or_null("w", w, {X.rows}), coef.data(), gradient.data(),
                                           data_or_null("hessian", hessian, {p, p}), signals());
}

template <class T>
std::size_t expand_sparse(Array<const T, 2> X, Indices start, Indices size, Indices first,
                          Array<std::int32_t, 1> indptr, Array<std::int32_t, 1> indices, Array<double, 1> data) {
    const auto n = X.shape(0), d = X.shape(1);
    expect_shape("start", start, {d});
    expect_shape("size", size, {d});
    expect_shape("first", first, {d});
    expect_shape("indptr", indptr, {n + 1});
    expect_shape("indices", indices, {n * d});
    expect_shape("data", data, {n * d});
    for (std::size_t j = 0; j < d; ++j)
        expect(start.data()[j] >= 0 && size.data()[j] >= 0, "start and size must not be negative");
    return lyceum::rows::expand_sparse(matrix(X), {start.data(), size.data(), first.data()}, indptr.data(),
                                       indices.data(), data.data());
}

template <class T>
void bind(nb::module_& m) {
    m.def("sparse_gram", &sparse_gram<T>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
          "w"_a.noconvert().none(), "gram"_a.noconvert(), ReleaseGil(), "Add sum w x'x over CSR rows to gram.");
    m.def("sparse_logistic", &sparse_logistic<T>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
          "y"_a.noconvert(), "w"_a.noconvert().none(), "coef"_a.noconvert(), "gradient"_a.noconvert(),
          "hessian"_a.noconvert().none(), ReleaseGil(),
          "Return the logistic loss over CSR rows; add its gradient and, when given, its Hessian. The intercept is "
          "last.");
    m.def("expand_sparse", &expand_sparse<T>, "X"_a.noconvert(), "start"_a.noconvert(), "size"_a.noconvert(),
          "first"_a.noconvert(), "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), ReleaseGil(),
          "Write the one-of-C design of coded columns as CSR and return the number of stored cells.");
}

}  // namespace

void bind_sparse_rows(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
