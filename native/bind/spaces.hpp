// The spaces of lyceum.distances by their names.
#pragma once
#include <lyceum/distances/spaces.hpp>
#include <string>

#include "arrays.hpp"

using Bytes = Maybe<Array<const std::uint8_t, 1>>;

// `use(space)` with the space of that name.
template <class Use>
void with_differences(const std::string& space, double p, Use&& use) {
    namespace ld = lyceum::distances;
    if (space == "squares") return use(ld::SquaredDifferences{});
    if (space == "absolute") return use(ld::AbsoluteDifferences{});
    if (space == "largest") return use(ld::LargestDifference{});
    expect(space == "powers" && p > 0, "there is no space '" + space + "' of this power");
    use(ld::PowersOfDifferences(p));
}

template <class Use>
void with_space(const std::string& space, double p, Use&& use) {
    if (space == "mismatches") return use(lyceum::distances::Mismatches{});
    if (space == "sets") return use(lyceum::distances::SetDifference{});
    with_differences(space, p, use);
}

inline lyceum::distances::KnownColumns known_columns(const Weights& weight, const Bytes& matched, std::size_t d) {
    expect(weight.has_value() && matched.has_value(), "known columns need weight and matched");
    return {data_or_null("weight", weight, {d}), data_or_null("matched", matched, {d})};
}

// Any space, that of mixed columns too.
template <class Use>
void with_any_space(const std::string& space, double p, const Weights& weight, const Bytes& matched, std::size_t d,
                    Use&& use) {
    if (space == "known columns") return use(known_columns(weight, matched, d));
    with_space(space, p, use);
}
