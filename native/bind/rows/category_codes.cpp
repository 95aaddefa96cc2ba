#include <nanobind/stl/variant.h>

#include <lyceum/bayes/table_log_joint.hpp>
#include <lyceum/moments/class_counts.hpp>
#include <lyceum/moments/soft_counts.hpp>
#include <lyceum/rows/integer_presence.hpp>
#include <lyceum/rows/one_of_c.hpp>
#include <variant>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

using Columns = Array<const std::int32_t, 1>;
using Offsets = Array<const std::int64_t, 1>;
template <class... T>
using Rows = std::variant<HeldArray<T, 2>...>;
// Codes of any type: one binding looks at it, instead of one for each.
using AnyRows = Rows<const std::int8_t, const std::uint8_t, const std::int16_t, const std::int32_t, const std::int64_t,
                     const float, const double>;

std::size_t axis(const AnyRows& X, std::size_t i) {
    return std::visit([&](const auto& cells) { return cells.shape(i); }, X);
}

lyceum::rows::CodedRows coded_rows(const AnyRows& X) {
    return std::visit([](const auto& cells) { return lyceum::rows::CodedRows(matrix(cells)); }, X);
}

void expect_columns(const Columns& columns, std::size_t d) {
    for (std::size_t j = 0; j < columns.shape(0); ++j)
        expect(columns.data()[j] >= 0 && static_cast<std::size_t>(columns.data()[j]) < d,
               "columns[" + std::to_string(j) + "] is " + std::to_string(columns.data()[j]) + ", but X has " +
                   std::to_string(d) + " columns");
}

lyceum::rows::CodedColumns checked_levels(const Columns& columns, const Offsets& offsets, std::size_t d) {
    const std::size_t m = columns.shape(0);
    expect_columns(columns, d);
    expect_shape("offsets", offsets, {m + 1});
    const std::int64_t* at = offsets.data();
    expect(at[0] >= 0, "offsets must not be negative");
    for (std::size_t j = 0; j < m; ++j) expect(at[j] <= at[j + 1], "offsets must not decrease");
    expect(at[m] <= std::numeric_limits<std::int32_t>::max(), "offsets must stay below 2**31");
    return {columns.data(), at, m};
}

void class_counts(const AnyRows& X, CodesArray codes, Weights w, Columns columns, Offsets offsets,
                  Array<double, 2> counts) {
    const auto n = axis(X, 0), K = counts.shape(1);
    const auto levels = checked_levels(columns, offsets, axis(X, 1));
    expect_shape("codes", codes, {n});
    expect_shape("counts", counts, {static_cast<std::size_t>(levels.offsets[levels.m]), K});
    const double* weights = data_or_null("w", w, {n});
    lyceum::moments::class_counts(coded_rows(X), lyceum::Codes{codes.data(), K}, weights, levels, counts.data(),
                                  signals());
}

void soft_counts(const AnyRows& X, Array<const double, 2> R, Weights w, Columns columns, Offsets offsets,
                 Array<double, 2> counts) {
    const auto n = axis(X, 0), K = R.shape(1);
    const auto levels = checked_levels(columns, offsets, axis(X, 1));
    expect_shape("R", R, {n, K});
    expect_shape("counts", counts, {static_cast<std::size_t>(levels.offsets[levels.m]), K});
    const double* weights = data_or_null("w", w, {n});
    lyceum::moments::soft_counts(coded_rows(X), matrix(R), weights, levels, counts.data(), signals());
}

void table_log_joint(const AnyRows& X, Columns columns, Offsets offsets, Array<const double, 2> log_table,
                     Array<double, 2> out) {
    const auto K = log_table.shape(1);
    const auto levels = checked_levels(columns, offsets, axis(X, 1));
    expect_shape("log_table", log_table, {static_cast<std::size_t>(levels.offsets[levels.m]), K});
    expect_shape("out", out, {axis(X, 0), K});
    lyceum::bayes::table_log_joint(coded_rows(X), levels, matrix(log_table), out.data(), signals());
}

void integer_presence(const AnyRows& X, Columns columns, Array<std::uint8_t, 2> seen, Array<std::uint8_t, 1> regular) {
    const auto m = columns.shape(0);
    expect_columns(columns, axis(X, 1));
    expect_shape("seen", seen, {m, seen.shape(1)});
    expect_shape("regular", regular, {m});
    std::visit(
        [&](const auto& cells) {
            lyceum::rows::integer_presence(matrix(cells), columns.data(), matrix(seen), regular.data(), signals());
        },
        X);
}

template <class U>
void expand(const AnyRows& X, Columns start, Columns size, Columns first, Array<U, 2> out) {
    const auto d = axis(X, 1), m = out.shape(1);
    expect_shape("start", start, {d});
    expect_shape("size", size, {d});
    expect_shape("first", first, {d});
    expect_shape("out", out, {axis(X, 0), m});
    for (std::size_t j = 0; j < d; ++j) {
        const std::int64_t from = start.data()[j], wide = size.data()[j] ? size.data()[j] : 1;
        expect(from >= 0 && wide > 0 && from + wide <= static_cast<std::int64_t>(m),
               "column " + std::to_string(j) + " does not fit in out, which has " + std::to_string(m) + " columns");
    }
    const lyceum::rows::Design design{start.data(), size.data(), first.data()};
    std::visit([&](const auto& cells) { lyceum::rows::expand(matrix(cells), design, matrix(out), signals()); }, X);
}

}  // namespace

void bind_category_codes(nb::module_& m) {
    m.def("class_counts", &class_counts, "X"_a.noconvert(), "codes"_a.noconvert(), "w"_a.noconvert().none(),
          "columns"_a.noconvert(), "offsets"_a.noconvert(), "counts"_a.noconvert(), ReleaseGil(),
          "Add w to counts[offsets[j] + x, code] for every cell that has a category.");
    m.def("soft_counts", &soft_counts, "X"_a.noconvert(), "R"_a.noconvert(), "w"_a.noconvert().none(),
          "columns"_a.noconvert(), "offsets"_a.noconvert(), "counts"_a.noconvert(), ReleaseGil(),
          "class_counts with responsibilities R (n, K) in place of class codes.");
    m.def("table_log_joint", &table_log_joint, "X"_a.noconvert(), "columns"_a.noconvert(), "offsets"_a.noconvert(),
          "log_table"_a.noconvert(), "out"_a.noconvert(), ReleaseGil(),
          "Add log_table[offsets[j] + x] to out's row for every cell that has a category.");
    m.def("integer_presence", &integer_presence, "X"_a.noconvert(), "columns"_a.noconvert(), "seen"_a.noconvert(),
          "regular"_a.noconvert(), ReleaseGil(),
          "Mark the whole numbers in [0, limit) that occur; set regular to whether a column has nothing else but NaN.");
    m.def("expand", &expand<float>, "X"_a.noconvert(), "start"_a.noconvert(), "size"_a.noconvert(),
          "first"_a.noconvert(), "out"_a.noconvert(), ReleaseGil());
    m.def("expand", &expand<double>, "X"_a.noconvert(), "start"_a.noconvert(), "size"_a.noconvert(),
          "first"_a.noconvert(), "out"_a.noconvert(), ReleaseGil(),
          "Write the one-of-C design of coded columns; size 0 copies the column.");
}
