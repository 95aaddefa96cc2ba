// Kernel machines: Gram blocks, working-set solvers.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <lyceum/kernels/dual_descent.hpp>
#include <lyceum/kernels/kernel_functions.hpp>
#include <lyceum/kernels/kernel_tiles.hpp>
#include <lyceum/kernels/smo.hpp>
#include <lyceum/kernels/working_set_choice.hpp>

#include "arrays.hpp"

using namespace nb::literals;
namespace lk = lyceum::kernels;

namespace {

// `use(kernel)` with the kernel function of that name.
template <class Use>
void with_kernel(const std::string& name, double gamma, double shift, int degree, Use&& use) {
    if (name == "linear") return use(lk::LinearKernel{});
    if (name == "rbf") return use(lk::GaussianKernel{gamma});
    if (name == "sigmoid") return use(lk::SigmoidKernel{gamma, shift});
    expect(name == "polynomial" && degree > 0, "there is no kernel '" + name + "' of this degree");
    use(lk::PolynomialKernel{gamma, shift, degree});
}

template <class T>
void kernel_gram(const std::string& name, double gamma, double shift, int degree, Array<const T, 2> X,
                 Maybe<Array<const T, 2>> Y, Array<T, 2> out, std::size_t threads) {
    const bool same = !Y.has_value();
    const auto other = same ? matrix(X) : matrix(*Y);
    expect(other.cols == X.shape(1), "X and Y have different numbers of columns");
    expect_shape("out", out, {X.shape(0), other.rows});
    with_kernel(name, gamma, shift, degree, [&](const auto& kernel) {
        lk::gram<T>(lk::turn_by<T>(kernel), matrix(X), other, same, out.data(), threads, signals());
    });
}

template <class T>
void kernel_sums(const std::string& name, double gamma, double shift, int degree, Array<const T, 2> X,
                 Array<const double, 2> coef, Array<const T, 2> Y, Array<double, 2> out, std::size_t threads) {
    expect(Y.shape(1) == X.shape(1), "X and Y have different numbers of columns");
    expect_shape("coef", coef, {X.shape(0), coef.shape(1)});
    expect_shape("out", out, {Y.shape(0), coef.shape(1)});
    with_kernel(name, gamma, shift, degree, [&](const auto& kernel) {
        if (Y.shape(0) <= lk::few_rows) {
            const auto few = name == "rbf" ? lk::kernel_sums_of_few<true, T> : lk::kernel_sums_of_few<false, T>;
            return few(lk::turn_by<T>(kernel), matrix(X), matrix(coef), matrix(Y), out.data());
        }
        lk::kernel_sums<T>(lk::turn_by<T>(kernel), matrix(X), matrix(coef), matrix(Y), out.data(), threads, signals());
    });
}

template <class T>
void kernel_from_products(const std::string& name, double gamma, double shift, int degree, Array<T, 2> products,
                          Array<const T, 1> x_squares, Array<const T, 1> y_squares) {
    expect_shape("x_squares", x_squares, {products.shape(0)});
    expect_shape("y_squares", y_squares, {products.shape(1)});
    with_kernel(name, gamma, shift, degree, [&](const auto& kernel) {
        lk::from_products<T>(kernel, matrix(products), x_squares.data(), y_squares.data());
    });
}

using Doubles = Array<const double, 1>;
using Places = Array<const std::int64_t, 1>;

template <class T>
std::int64_t smo_steps(Array<const T, 2> K, Doubles s, Doubles C, Array<double, 1> b, Array<T, 1> v, bool balanced,
                       double tol, std::size_t max_steps) {
    const auto q = K.shape(0);
    expect_shape("K", K, {q, q});
    expect_shape("s", s, {q});
    expect_shape("C", C, {q});
    expect_shape("b", b, {q});
    expect_shape("v", v, {q});
    auto poll = signals();
    lk::WorkingSet<T> set(matrix(K), s.data(), C.data(), b.data(), v.data(), balanced);
    return set.solve(tol, max_steps, poll);
}

lk::Variables variables(const Doubles& v, const Doubles& s, const Doubles& C, const Doubles& b) {
    const auto n = v.shape(0);
    expect_shape("s", s, {n});
    expect_shape("C", C, {n});
    expect_shape("b", b, {n});
    return {v.data(), s.data(), C.data(), b.data(), n};
}

std::pair<double, double> smo_violation(Doubles v, Doubles s, Doubles C, Doubles b) {
    const auto found = variables(v, s, C, b).violation();
    return {found.up, found.low};
}

nb::ndarray<nb::numpy, std::int64_t> smo_working_set(Doubles v, Doubles s, Doubles C, Doubles b, std::size_t size,
                                                     Places kept) {
    const auto x = variables(v, s, C, b);
    for (std::size_t k = 0; k < kept.shape(0); ++k)
        expect(kept.data()[k] >= 0 && static_cast<std::size_t>(kept.data()[k]) < x.count, "kept is out of range");
    return to_numpy(lk::choose_working_set(x, size, kept.data(), kept.shape(0)));
}

template <class T>
void add_rows(Array<const T, 2> rows, Places place, Doubles weight, Array<double, 1> out) {
    expect_shape("weight", weight, {place.shape(0)});
    expect_shape("out", out, {rows.shape(1)});
    for (std::size_t i = 0; i < place.shape(0); ++i)
        expect(place.data()[i] >= 0 && static_cast<std::size_t>(place.data()[i]) < rows.shape(0),
               "place is out of range");
    lk::add_rows<T>(matrix(rows), place.data(), weight.data(), place.shape(0), out.data());
}

lk::DualDescent dual_problem(std::size_t n, const Doubles& y, const Doubles& t, const Doubles& bound,
                             const Doubles& ridge, bool bias) {
    expect_shape("y", y, {n});
    expect_shape("t", t, {n});
    expect_shape("bound", bound, {n});
    expect_shape("ridge", ridge, {n});
    return {y.data(), t.data(), bound.data(), ridge.data(), bias};
}

template <class T>
std::pair<std::size_t, double> dense_dual_descent(Array<const T, 2> X, Doubles y, Doubles t, Doubles bound,
                                                  Doubles ridge, bool bias, Array<double, 1> a, Array<double, 1> w,
                                                  double tol, std::size_t max_epochs) {
    const auto problem = dual_problem(X.shape(0), y, t, bound, ridge, bias);
    expect_shape("a", a, {X.shape(0)});
    expect_shape("w", w, {X.shape(1) + 1});
    const auto found = lk::dual_descent(lk::DenseCells<T>{matrix(X)}, problem, a.data(), w.data(), X.shape(1), tol,
                                        max_epochs, signals());
    return {found.epochs, found.violation};
}

template <class T>
std::pair<std::size_t, double> sparse_dual_descent(Array<const std::int32_t, 1> indptr,
                                                   Array<const std::int32_t, 1> indices, Array<const T, 1> data,
                                                   Doubles y, Doubles t, Doubles bound, Doubles ridge, bool bias,
                                                   Array<double, 1> a, Array<double, 1> w, double tol,
                                                   std::size_t max_epochs) {
    const auto n = y.shape(0), stored = indices.shape(0);
    expect_shape("indptr", indptr, {n + 1});
    expect_shape("data", data, {stored});
    expect(w.shape(0) > 0, "w needs room for the bias");
    const auto* starts = indptr.data();
    expect(std::is_sorted(starts, starts + n + 1) && starts[0] >= 0 && static_cast<std::size_t>(starts[n]) <= stored,
           "indptr must not decrease nor point outside of data");
    for (std::size_t e = 0; e < stored; ++e)
        expect(indices.data()[e] >= 0 && static_cast<std::size_t>(indices.data()[e]) + 1 < w.shape(0),
               "an index is out of range");
    expect_shape("a", a, {n});
    const auto problem = dual_problem(n, y, t, bound, ridge, bias);
    const auto found = lk::dual_descent(lk::SparseCells<T>{starts, indices.data(), data.data(), n}, problem, a.data(),
                                        w.data(), w.shape(0) - 1, tol, max_epochs, signals());
    return {found.epochs, found.violation};
}

template <class T>
void bind(nb::module_& m) {
    m.def("dense_dual_descent", &dense_dual_descent<T>, "X"_a.noconvert(), "y"_a.noconvert(), "t"_a.noconvert(),
          "bound"_a.noconvert(), "ridge"_a.noconvert(), "bias"_a, "a"_a.noconvert(), "w"_a.noconvert(), "tol"_a,
          "max_epochs"_a, ReleaseGil(), "Dual coordinate descent in place; the epochs and the largest violation.");
    m.def("sparse_dual_descent", &sparse_dual_descent<T>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
          "data"_a.noconvert(), "y"_a.noconvert(), "t"_a.noconvert(), "bound"_a.noconvert(), "ridge"_a.noconvert(),
          "bias"_a, "a"_a.noconvert(), "w"_a.noconvert(), "tol"_a, "max_epochs"_a, ReleaseGil(),
          "Dual coordinate descent on sparse rows.");
    m.def("smo_steps", &smo_steps<T>, "K"_a.noconvert(), "s"_a.noconvert(), "C"_a.noconvert(), "b"_a.noconvert(),
          "v"_a.noconvert(), "balanced"_a, "tol"_a, "max_steps"_a, ReleaseGil(),
          "Solve the problem of a working set in place; the number of steps, -1 if there were not enough.");
    m.def("add_rows", &add_rows<T>, "rows"_a.noconvert(), "place"_a.noconvert(), "weight"_a.noconvert(),
          "out"_a.noconvert(), ReleaseGil(), "Add to out the weighted sum of some rows.");
    m.def("kernel_gram", &kernel_gram<T>, "name"_a, "gamma"_a, "shift"_a, "degree"_a, "X"_a.noconvert(),
          "Y"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a, ReleaseGil(),
          "Set out to the kernel values of all pairs of rows; without Y, of X with itself.");
    m.def("kernel_sums", &kernel_sums<T>, "name"_a, "gamma"_a, "shift"_a, "degree"_a, "X"_a.noconvert(),
          "coef"_a.noconvert(), "Y"_a.noconvert(), "out"_a.noconvert(), "threads"_a, ReleaseGil(),
          "Add to out[j, c] the sum of coef[i, c] k(x_i, y_j) over the rows of X.");
    m.def("kernel_from_products", &kernel_from_products<T>, "name"_a, "gamma"_a, "shift"_a, "degree"_a,
          "products"_a.noconvert(), "x_squares"_a.noconvert(), "y_squares"_a.noconvert(), ReleaseGil(),
          "Replace products of rows by kernel values.");
}

}  // namespace

void bind_kernels(nb::module_& m) {
    m.attr("few_kernel_rows") = lk::few_rows;
    bind<float>(m);
    bind<double>(m);
    m.def("smo_violation", &smo_violation, "v"_a.noconvert(), "s"_a.noconvert(), "C"_a.noconvert(), "b"_a.noconvert(),
          ReleaseGil(), "The largest v that can rise, and the smallest that can fall.");
    m.def("smo_working_set", &smo_working_set, "v"_a.noconvert(), "s"_a.noconvert(), "C"_a.noconvert(),
          "b"_a.noconvert(), "size"_a, "kept"_a.noconvert(),
          "The variables to work on next: those in kept, and the most violating.");
}
