#include <lyceum/core/midpoint.hpp>
#include <lyceum/trees/stopping_rules.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::trees;

void test_a_midpoint_is_at_least_the_lower_and_below_the_upper() {
    const double most = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
    CHECK(midpoint(1, 2) == 1.5);
    CHECK(midpoint(0, tiny) == 0);
    CHECK(midpoint(1, std::nextafter(1., 2.)) == 1);
    CHECK(midpoint(-most, most) == 0);
    CHECK(midpoint(-tiny, 0) == -tiny);
    Random random;
    const auto a = random.normal<double>(1000), b = random.normal<double>(1000);
    for (size_t i = 0; i < a.size(); ++i) {
        const double low = std::min(a[i], b[i]), high = std::max(a[i], b[i]), middle = midpoint(low, high);
        CHECK(low <= middle && middle < high);
    }
}

void test_the_spread_of_numbers_does_not_depend_on_the_center() {
    CLOSE(spread(Criterion::variance, 4, 0, 8), 2, 1e-15);
    CLOSE(spread(Criterion::deviation, 4, 0, 16), 2, 1e-15);
    CLOSE(spread(Criterion::variance, 4, 40, 408), 2, 1e-13);
    CHECK(spread(Criterion::variance, 3, 3 * 0.1, 3 * 0.1 * 0.1) == 0);  // equal numbers, but for rounding
    CHECK(spread(Criterion::variance, 0, 0, 0) == 0);
}

void test_a_node_may_be_split_by_every_rule() {
    TreeRules rules;
    rules.min_split = 4, rules.min_leaf = 3, rules.max_depth = 2, rules.floor = 0.1;
    CHECK(may_split(rules, 6, 1, 0.5, 0, 0.5));
    CHECK(!may_split(rules, 5, 1, 0.5, 0, 0.5));  // two leaves of three rows
    CHECK(!may_split(rules, 6, 2, 0.5, 0, 0.5));
    CHECK(!may_split(rules, 6, 1, 0.1, 0, 0.5));
    rules = TreeRules{};
    CHECK(!may_split(rules, 10, 0, 1e-15, 0, 0.5));
    CHECK(!may_split(rules, 1, 0, 0.5, 0, 0.5));
    rules.criterion = Criterion::variance;
    CHECK(may_split(rules, 10, 0, 1e-15, 0, 0.5));
    CHECK(!may_split(rules, 10, 0, 1e-15, 1e7, 0.5));  // the rounding of numbers of ten million
    rules.criterion = Criterion::deviation;
    CHECK(!may_split(rules, 10, 0, 1e-15, 1, 0.5));
}

int main() {
    test_a_midpoint_is_at_least_the_lower_and_below_the_upper();
    test_the_spread_of_numbers_does_not_depend_on_the_center();
    test_a_node_may_be_split_by_every_rule();
    return failures;
}
