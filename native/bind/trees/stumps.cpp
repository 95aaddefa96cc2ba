#include <lyceum/trees/split/stumps.hpp>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

// The order of the rows in every column, in groups of columns.
class StumpOrder {
public:
    template <class Code>
    explicit StumpOrder(const Array<const Code, 2>& codes)
        : columns_(codes.shape(0)), n_(codes.shape(1)), order_(groups() * n_ * lyceum::trees::stump_lanes) {
        expect(n_ < lyceum::trees::tied, "2**31 rows or more cannot be ordered");
        auto poll = signals();
        // the lanes that are left in the last group hold its last column again
        for (std::size_t lane = 0; columns_ && lane < groups() * lyceum::trees::stump_lanes; ++lane) {
            const Code* column = codes.data() + std::min(lane, columns_ - 1) * n_;
            lyceum::trees::stump_order(column, n_,
                                       group(lane / lyceum::trees::stump_lanes) + lane % lyceum::trees::stump_lanes);
            poll(n_ * 16);
        }
    }

    std::size_t columns() const { return columns_; }
    std::size_t groups() const { return (columns_ + lyceum::trees::stump_lanes - 1) / lyceum::trees::stump_lanes; }

    // The number of the row that is in a place of the order of a column.
    std::uint32_t row(std::size_t column, std::size_t place) const {
        expect(column < columns_ && place < n_, "there is no such column or place");
        const std::size_t lane = column % lyceum::trees::stump_lanes;
        return group(column / lyceum::trees::stump_lanes)[place * lyceum::trees::stump_lanes + lane] &
               ~lyceum::trees::tied;
    }

    void gains(Array<const double, 1> weights, Array<const double, 1> totals, Maybe<CodesArray> classes,
               std::size_t first, std::size_t last, Array<double, 2> out, Array<std::int64_t, 2> ends) const {
        const std::size_t K = totals.shape(0);
        expect_shape("weights", weights, {n_});
        expect_shape("gains", out, {groups(), lyceum::trees::stump_lanes});
        expect_shape("ends", ends, {groups(), lyceum::trees::stump_lanes});
        expect(first <= last && last <= groups(), "there are " + std::to_string(groups()) + " groups of columns");
        const std::int32_t* codes = data_or_null("classes", classes, {n_});
        expect(codes || K == 2, "weights that are below zero for one class and above for the other need two totals");
        std::vector<lyceum::trees::WeightOfClass> cells(codes ? n_ : 0);
        for (std::size_t i = 0; i < cells.size(); ++i) {
            expect(codes[i] >= 0 && static_cast<std::size_t>(codes[i]) < K, "a class code has no total");
            cells[i] = {weights.data()[i], codes[i]};
        }
        auto poll = signals();
        for (std::size_t g = first; g < last;) {
            const std::size_t together = !codes && last - g > 1 ? 2 : 1;
            double* to = out.data() + g * lyceum::trees::stump_lanes;
            std::int64_t* at = ends.data() + g * lyceum::trees::stump_lanes;
            if (codes)
                lyceum::trees::stump_gains(group(g), n_, cells.data(), totals.data(), K, to, at);
            else if (together == 2)
                lyceum::trees::stump_gains_of_two<2>(group(g), n_, weights.data(), totals.data()[0], totals.data()[1],
                                                     to, at);
            else
                lyceum::trees::stump_gains_of_two<1>(group(g), n_, weights.data(), totals.data()[0], totals.data()[1],
                                                     to, at);
            g += together;
            poll(together * n_ * 32);
        }
    }

private:
    std::uint32_t* group(std::size_t g) { return order_.data() + g * n_ * lyceum::trees::stump_lanes; }
    const std::uint32_t* group(std::size_t g) const { return order_.data() + g * n_ * lyceum::trees::stump_lanes; }

    std::size_t columns_, n_;
    std::vector<std::uint32_t> order_;
};

}  // namespace

void bind_stumps(nb::module_& m) {
    nb::class_<StumpOrder>(m, "StumpOrder", "The order of the rows in every column, for stumps of many weights.")
        .def(nb::init<const Array<const std::uint8_t, 2>&>(), "codes"_a.noconvert(), ReleaseGil())
        .def(nb::init<const Array<const std::uint16_t, 2>&>(), "codes"_a.noconvert(), ReleaseGil())
        .def(nb::init<const Array<const std::uint32_t, 2>&>(), "codes"_a.noconvert(), ReleaseGil())
        .def_prop_ro("columns", &StumpOrder::columns)
        .def_prop_ro("groups", &StumpOrder::groups)
        .def("row", &StumpOrder::row, "column"_a, "place"_a, "The row that is in a place of the order of a column.")
        .def(
            "gains", &StumpOrder::gains, "weights"_a.noconvert(), "totals"_a.noconvert(),
            "classes"_a.noconvert().none(), "first"_a, "last"_a, "gains"_a.noconvert(), "ends"_a.noconvert(),
            ReleaseGil(),
            "Write the best Gini gain of every column of groups first up to last, and the place of the last row on its "
            "left. Without classes, the weights of class 0 are below zero.");
}
