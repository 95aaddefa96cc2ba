#include <lyceum/core/hash_uniform.hpp>
#include <lyceum/rows/breaks_in_quotes.hpp>
#include <lyceum/rows/first_nonfinite.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

template <class T>
std::int64_t first_nonfinite(nb::ndarray<const T, nb::c_contig, nb::device::cpu> X, bool allow_nan) {
    return lyceum::rows::first_nonfinite(X.data(), X.size(), allow_nan, signals());
}

void hash_uniform(std::int64_t start, std::uint64_t seed, Array<double, 1> out) {
    lyceum::hash_uniform(start, seed, out.data(), out.shape(0));
}

bool breaks_in_quotes(Array<const std::uint8_t, 1> text, std::uint8_t separator, std::uint8_t quote) {
    return lyceum::rows::breaks_in_quotes(text.data(), text.shape(0), separator, quote, signals());
}

}  // namespace

void bind_checks(nb::module_& m) {
    const char* text = "Flat index of the first NaN or infinity (allow_nan: the first infinity), or -1.";
    m.def("first_nonfinite", &first_nonfinite<float>, "X"_a.noconvert(), "allow_nan"_a = false, ReleaseGil(), text);
    m.def("first_nonfinite", &first_nonfinite<double>, "X"_a.noconvert(), "allow_nan"_a = false, ReleaseGil(), text);
    m.def("hash_uniform", &hash_uniform, "start"_a, "seed"_a, "out"_a.noconvert(), ReleaseGil(),
          "Set out[i] to the uniform in (0, 1] of row number start + i.");
    m.def("breaks_in_quotes", &breaks_in_quotes, "text"_a.noconvert(), "separator"_a, "quote"_a, ReleaseGil(),
          "Whether a quoted cell of CSV text may hold a line break; also true if a quote stands within a plain cell.");
}
