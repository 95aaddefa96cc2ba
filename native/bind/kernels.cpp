// Kernel machines: Gram blocks, working-set solvers.
#include <nanobind/stl/string.h>

#include <lyceum/kernels/kernel_functions.hpp>
#include <lyceum/kernels/kernel_tiles.hpp>

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
        lk::gram<T>(kernel, matrix(X), other, same, out.data(), threads, signals());
    });
}

template <class T>
void kernel_sums(const std::string& name, double gamma, double shift, int degree, Array<const T, 2> X,
                 Array<const double, 2> coef, Array<const T, 2> Y, Array<double, 2> out, std::size_t threads) {
    expect(Y.shape(1) == X.shape(1), "X and Y have different numbers of columns");
    expect_shape("coef", coef, {X.shape(0), coef.shape(1)});
    expect_shape("out", out, {Y.shape(0), coef.shape(1)});
    with_kernel(name, gamma, shift, degree, [&](const auto& kernel) {
        lk::kernel_sums<T>(kernel, matrix(X), matrix(coef), matrix(Y), out.data(), threads, signals());
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

template <class T>
void bind(nb::module_& m) {
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
    bind<float>(m);
    bind<double>(m);
}
