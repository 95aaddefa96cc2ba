#include <algorithm>
#include <lyceum/density/fast_gauss_transform.hpp>
#include <lyceum/density/kernel_sums.hpp>
#include <numeric>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Line = Array<const double, 1>;
using Indices = Array<std::int64_t, 1>;

class PackedRows {
public:
    PackedRows(Array<const double, 2> Z, Weights w) : leaves_(matrix(Z), data_or_null("w", w, {Z.shape(0)})) {
        expect(Z.shape(0) > 0 && Z.shape(1) > 0, "there must be rows and columns");
    }

    // `Near` takes the place of `Window` where the tolerance allows for its error.
    template <class Window, class Near = Window>
    void sums(Array<const double, 2> Z, Maybe<Array<const std::int64_t, 1>> own_rows, double tolerance,
              Array<double, 1> log_sums) const {
        const auto n = Z.shape(0);
        expect_shape("Z", Z, {n, leaves_.axes});
        expect_shape("log_sums", log_sums, {n});
        const auto* own = data_or_null("own_rows", own_rows, {n});
        expect(!own || std::all_of(own, own + n, [&](auto i) { return i >= 0 && std::size_t(i) < leaves_.rows; }),
               "own_rows must hold row numbers");
        if (tolerance >= 1e-6)
            sum<Near>(matrix(Z), own, tolerance - 1e-8, log_sums.data());
        else
            sum<Window>(matrix(Z), own, tolerance, log_sums.data());
    }

private:
    template <class Window>
    [[gnu::noinline]] void sum(lyceum::Matrix<const double> Z, const std::int64_t* own, double tolerance,
                               double* log_sums) const {
        lyceum::density::KernelSums<Window>(leaves_, tolerance, signals())(Z, own, log_sums);
    }

    lyceum::density::Leaves leaves_;
};

void leaf_order(Array<const double, 2> Z, std::size_t leaf, Indices order) {
    expect(leaf > 0, "a leaf must have at least one row");
    expect(Z.shape(1) > 0, "Z must have at least one column");
    expect_shape("order", order, {Z.shape(0)});
    std::iota(order.data(), order.data() + Z.shape(0), std::int64_t{0});
    auto poll = signals();
    lyceum::density::leaf_order(matrix(Z), order.data(), 0, Z.shape(0), leaf, poll);
}

lyceum::density::GaussCells cells_of(double origin, const Array<double, 2>& coefficients,
                                     const Array<double, 1>& weight) {
    const auto count = weight.shape(0);
    expect(count > 2 * lyceum::density::cell_margin, "there must be more cells than those of the margins");
    expect_shape("coefficients", coefficients, {lyceum::density::hermite_terms, count});
    return {origin, count, coefficients.data(), weight.data()};
}

void gauss_cells(Line z, Weights w, double origin, Array<double, 2> coefficients, Array<double, 1> weight) {
    const auto n = z.shape(0);
    const auto cells = cells_of(origin, coefficients, weight);
    const auto last = static_cast<double>(cells.count - lyceum::density::cell_margin);
    const auto place = [&](std::size_t i) { return (z.data()[i] - origin) / lyceum::density::cell_width; };
    expect(std::is_sorted(z.data(), z.data() + n) &&
               (n == 0 || (place(0) >= double(lyceum::density::cell_margin) && place(n - 1) < last)),
           "z must be ascending and lie within the margins of the cells");
    lyceum::density::gauss_cells(z.data(), data_or_null("w", w, {n}), n, cells, signals());
}

void gauss_cell_sums(Line x, Weights own, double origin, Array<double, 2> coefficients, Array<double, 1> weight,
                     double total, double tolerance, Array<double, 1> sums) {
    const auto n = x.shape(0);
    expect_shape("sums", sums, {n});
    lyceum::density::gauss_cell_sums(x.data(), data_or_null("own", own, {n}), n, cells_of(origin, coefficients, weight),
                                     total, tolerance, sums.data(), signals());
}

template <class Window, class Near = Window>
void bind(nb::class_<PackedRows>& rows, const char* name) {
    rows.def(name, &PackedRows::sums<Window, Near>, "Z"_a.noconvert(), "own_rows"_a.noconvert().none(), "tolerance"_a,
             "log_sums"_a.noconvert(), ReleaseGil(),
             "Set log_sums to the log of the weighted sum of kernels, value 1 at 0, without the query's own row.");
}

}  // namespace

void bind_density(nb::module_& m) {
    nb::class_<PackedRows> rows(m, "PackedRows", "Rows in leaf order, packed for sums of kernels.");
    rows.def(nb::init<Array<const double, 2>, Weights>(), "Z"_a.noconvert(), "w"_a.noconvert().none());
    bind<lyceum::density::BoxWindow>(rows, "parzen");
    bind<lyceum::density::GaussianWindow, lyceum::density::NearGaussianWindow>(rows, "gaussian");
    bind<lyceum::density::LaplaceWindow, lyceum::density::NearLaplaceWindow>(rows, "laplace");
    bind<lyceum::density::CauchyWindow>(rows, "cauchy");
    bind<lyceum::density::SincWindow>(rows, "sinc2");
    bind<lyceum::density::EpanechnikovWindow>(rows, "epanechnikov");
    bind<lyceum::density::RadialEpanechnikovWindow>(rows, "radial_epanechnikov");
    bind<lyceum::density::TricubeWindow>(rows, "tricube");
    bind<lyceum::density::TriangleWindow>(rows, "triangular");
    m.attr("leaf_rows") = lyceum::density::leaf_rows;
    m.attr("query_tile") = lyceum::density::query_tile;
    m.attr("cell_margin") = lyceum::density::cell_margin;
    m.attr("cell_width") = lyceum::density::cell_width;
    m.attr("hermite_terms") = lyceum::density::hermite_terms;
    m.def("leaf_order", &leaf_order, "Z"_a.noconvert(), "leaf"_a, "order"_a.noconvert(), ReleaseGil(),
          "Set order to one in which every `leaf` consecutive rows lie close together.");
    m.def("gauss_cells", &gauss_cells, "z"_a.noconvert(), "w"_a.noconvert().none(), "origin"_a,
          "coefficients"_a.noconvert(), "weight"_a.noconvert(), ReleaseGil(),
          "Add ascending rows on a line to the expansions of their cells.");
    m.def("gauss_cell_sums", &gauss_cell_sums, "x"_a.noconvert(), "own"_a.noconvert().none(), "origin"_a,
          "coefficients"_a.noconvert(), "weight"_a.noconvert(), "total"_a, "tolerance"_a, "sums"_a.noconvert(),
          ReleaseGil(), "Set sums to those of Gaussians at x without own, NaN where the tolerance is not certain.");
}
