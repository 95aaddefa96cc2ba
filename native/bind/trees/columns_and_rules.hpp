// Columns and rules of trees as Python holds them: what several bindings take.
#pragma once
#include <lyceum/trees/split/column_choice.hpp>
#include <string>
#include <vector>

#include "arrays.hpp"

using AnyCodes = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu, nb::ro>;
using Reals = HeldArray<const double, 1>;
using Ints = HeldArray<const std::int32_t, 1>;
using Longs = HeldArray<const std::int64_t, 1>;
using Flags = HeldArray<const std::uint8_t, 1>;

struct BoundColumns {
    AnyCodes codes;
    Ints n_codes;
    Flags is_category;
    Longs first;
    Reals lower, upper;

    BoundColumns(const AnyCodes& codes_, const Ints& n_codes_, const Flags& is_category_, const Longs& first_,
                 const Reals& lower_, const Reals& upper_)
        : codes(codes_), n_codes(n_codes_), is_category(is_category_), first(first_), lower(lower_), upper(upper_) {
        const auto d = codes.shape(0);
        const auto bytes = codes.dtype().bits / 8;
        expect(codes.dtype().code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt) &&
                   (bytes == 1 || bytes == 2 || bytes == 4),
               "codes must be uint8, uint16 or uint32");
        expect_shape("n_codes", n_codes, {d});
        expect_shape("is_category", is_category, {d});
        expect_shape("first", first, {d});
        expect_shape("upper", upper, {lower.shape(0)});
        for (std::size_t j = 0; j < d; ++j) {
            expect(n_codes.data()[j] >= 0, "n_codes must not be negative");
            const auto at = first.data()[j];
            expect(is_category.data()[j] ||
                       (at >= 0 && static_cast<std::size_t>(at + n_codes.data()[j]) <= lower.shape(0)),
                   "first must lie inside of lower");
            expect(view().with_codes(j,
                                     [&](const auto* column) {
                                         std::uint32_t most = 0;
                                         for (std::size_t i = 0; i < codes.shape(1); ++i)
                                             most = std::max<std::uint32_t>(most, column[i]);
                                         return most <= static_cast<std::uint32_t>(n_codes.data()[j]);
                                     }),
                   "a code is above n_codes");
        }
    }

    lyceum::trees::TreeColumns view() const {
        return {codes.data(),       codes.dtype().bits / 8, codes.shape(1), codes.shape(0), n_codes.data(),
                is_category.data(), first.data(),           lower.data(),   upper.data()};
    }
};

// The rules with the arrays that they point to.
struct BoundRules : lyceum::trees::TreeRules {
    std::vector<double> cost, loss;
    std::vector<std::int8_t> direction;
    std::size_t actions = 0;
};
