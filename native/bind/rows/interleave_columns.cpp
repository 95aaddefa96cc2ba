#include <lyceum/rows/interleave_columns.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class U>
void pack(nb::list columns, Array<U, 2> out) {
    expect(columns.size() == out.shape(1),
           "there are " + std::to_string(columns.size()) + " columns for " + std::to_string(out.shape(1)) + " in out");
    std::vector<AnyColumn> owners;
    std::vector<lyceum::rows::PackedColumn> views;
    for (nb::handle item : columns) {
        auto column = nb::cast<AnyColumn>(item);
        const bool single = column.dtype() == nb::dtype<float>();
        expect(single || column.dtype() == nb::dtype<double>(), "a column is neither float32 nor float64");
        expect_shape("a column", column, {out.shape(0)});
        views.push_back({column.data(), single});
        owners.push_back(std::move(column));
    }
    nb::gil_scoped_release released;
    lyceum::rows::pack(views, matrix(out));
}

}  // namespace

void bind_interleave_columns(nb::module_& m) {
    m.def("pack", &pack<float>, "columns"_a, "out"_a.noconvert());
    m.def("pack", &pack<double>, "columns"_a, "out"_a.noconvert(), "Write float columns side by side into out.");
}
