#include <lyceum/boost_bins.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::device::cpu>;  // of any strides

template <class T>
void bin_codes(Array<const T, 2> X, Array<const T, 2> edges, Array<const std::int32_t, 1> n_bins,
               Array<const std::int64_t, 1> start, Array<const std::uint8_t, 1> table, std::size_t first, Bytes out) {
    const auto d = n_bins.shape(0);
    expect_shape("X", X, {X.shape(0), d});
    expect_shape("edges", edges, {d, lyceum::edge_slots});
    expect_shape("start", start, {d + 1});
    expect_shape("out", out, {X.shape(0), out.shape(1)});
    expect(first + out.shape(1) <= d, "the columns asked for are not in X");
    for (std::size_t j = 0; j < d; ++j) {
        expect(n_bins.data()[j] >= 0 && n_bins.data()[j] < 256, "a column has more than 255 bins");
        expect(start.data()[j] >= 0 && start.data()[j] <= start.data()[j + 1], "start must not decrease");
    }
    expect(static_cast<std::size_t>(start.data()[d]) == table.shape(0), "start does not end where the table does");
    lyceum::bin_codes<T>(matrix(X), {edges.data(), n_bins.data(), start.data(), table.data()}, first, out.shape(1),
                         out.data(), out.stride(0), out.stride(1), signals());
}

template <class T>
void bind(nb::module_& m) {
    m.def("bin_codes", &bin_codes<T>, "X"_a.noconvert(), "edges"_a.noconvert(), "n_bins"_a.noconvert(),
          "start"_a.noconvert(), "table"_a.noconvert(), "first"_a, "out"_a.noconvert(), ReleaseGil(),
          "Write the bins of out.shape[1] columns of X, from `first` on; out may have any strides.");
}

}  // namespace

void bind_boosting(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
