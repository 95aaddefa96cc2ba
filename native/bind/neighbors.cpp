// Instance-based learning.
#include <lyceum/neighbors/local_fits.hpp>

#include "arrays.hpp"

using namespace nb::literals;
namespace ln = lyceum::neighbors;

namespace {

using Numbers = HeldArray<const std::int64_t, 1>;
using Reals = HeldArray<const double, 1>;

// The neighbors of all queries, with the arrays that hold them.
struct BoundLists {
    Numbers offsets, rows;
    Reals kernel;
    Maybe<Reals> count;

    BoundLists(const Numbers& offsets_, const Numbers& rows_, const Reals& kernel_, const Maybe<Reals>& count_)
        : offsets(offsets_), rows(rows_), kernel(kernel_), count(count_) {
        const auto listed = rows.shape(0);
        expect(offsets.shape(0) > 0, "offsets is empty");
        expect_shape("kernel", kernel, {listed});
        data_or_null("count", count, {listed});
        const auto* starts = offsets.data();
        expect(std::is_sorted(starts, starts + queries() + 1) && starts[0] >= 0 &&
                   static_cast<std::size_t>(starts[queries()]) <= listed,
               "offsets must not decrease nor point outside of rows");
    }

    std::size_t queries() const { return offsets.shape(0) - 1; }

    // The lists of rows of a table of n.
    ln::WeightedLists view(std::size_t n) const {
        const auto* at = rows.data();
        expect(std::all_of(at, at + rows.shape(0), [&](auto i) { return i >= 0 && static_cast<std::size_t>(i) < n; }),
               "rows must hold row numbers");
        return {offsets.data(), at, kernel.data(), count ? count->data() : nullptr};
    }
};

struct LocalRules {
    int degree;
    ln::Descent descent;

    LocalRules(int degree_, std::int64_t steps, double rate, double tolerance)
        : degree(degree_), descent{steps, rate, tolerance} {
        expect(degree >= 0 && degree <= 2, "the degree must be 0, 1 or 2");
    }
};

nb::tuple local_fits(Array<const double, 2> X, Array<const double, 1> y, Array<const double, 2> Q,
                     const BoundLists& lists, const LocalRules& rules) {
    const auto d = X.shape(1), m = lists.queries();
    expect_shape("y", y, {X.shape(0)});
    expect_shape("Q", Q, {m, d});
    std::vector<double> value(m), norm(m), inverse(m), gradient(m * d);
    std::vector<std::uint8_t> degenerate(m);
    {
        nb::gil_scoped_release release;
        const ln::LocalOutput out{
            value.data(), norm.data(), inverse.data(), {gradient.data(), m, d}, degenerate.data()};
        auto poll = signals();
        ln::LocalFits(matrix(X), y.data(), rules.degree, rules.descent)(matrix(Q), lists.view(X.shape(0)), out, poll);
    }
    return nb::make_tuple(to_numpy(std::move(value)), to_numpy(std::move(norm)), to_numpy(std::move(inverse)),
                          to_numpy(std::move(gradient), d), to_numpy(std::move(degenerate)));
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    nb::class_<BoundLists>(m, "WeightedLists", "Rows near every query, with their weights: from offset to offset.")
        .def(nb::init<const Numbers&, const Numbers&, const Reals&, const Maybe<Reals>&>(), "offsets"_a.noconvert(),
             "rows"_a.noconvert(), "kernel"_a.noconvert(), "count"_a.noconvert().none());
    nb::class_<LocalRules>(m, "LocalRules", "How a neighborhood is fitted; without steps, directly.")
        .def(nb::init<int, std::int64_t, double, double>(), "degree"_a, "steps"_a, "rate"_a, "tolerance"_a);
    m.def("local_fits", &local_fits, "X"_a.noconvert(), "y"_a.noconvert(), "Q"_a.noconvert(), "lists"_a, "rules"_a,
          "Fit the neighborhood of every query by least squares. Return value, norm, inverse, gradient, degenerate.");
}
