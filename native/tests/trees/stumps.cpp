#include <lyceum/trees/split/stumps.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::trees;

double gini(const Doubles1& w) {
    double W = 0., S = 0.;
    for (double x : w) W += x;
    for (double x : w) S += x * x;
    return W > 0. ? 1. - S / (W * W) : 0.;
}

// The best gain of one column over the thresholds from one code to another, from the definition.
double best_gain(const std::vector<std::int32_t>& codes, const Doubles1& w, const std::vector<std::int32_t>& y,
                 size_t K, int from = 0, int to = 39) {
    double best = 0., W = 0.;
    Doubles1 all(K);
    for (size_t i = 0; i < w.size(); ++i) all[y[i]] += w[i], W += w[i];
    for (int cut = from; cut <= to; ++cut) {
        Doubles1 left(K), right(K);
        double L = 0.;
        for (size_t i = 0; i < w.size(); ++i) {
            (codes[i] <= cut ? left : right)[y[i]] += w[i];
            L += codes[i] <= cut ? w[i] : 0.;
        }
        best = std::max(best, gini(all) - (L * gini(left) + (W - L) * gini(right)) / W);
    }
    return best;
}

std::vector<WeightOfClass> with_classes(const Doubles1& w, const std::vector<std::int32_t>& y) {
    std::vector<WeightOfClass> cells;
    for (size_t i = 0; i < w.size(); ++i) cells.push_back({w[i], y[i]});
    return cells;
}

void test_gains(size_t n, size_t K) {
    Random random;
    std::vector<std::uint32_t> order(2 * n * stump_lanes);
    std::vector<std::vector<std::int32_t>> columns;
    for (size_t c = 0; c < 2 * stump_lanes; ++c) {
        columns.push_back(random.codes(n, 0, c == 3 ? 1 : 40));  // column 3 is constant
        const std::vector<std::uint16_t> codes(columns[c].begin(), columns[c].end());
        stump_order(codes.data(), n, order.data() + c / stump_lanes * n * stump_lanes + c % stump_lanes);
    }
    const auto y = random.codes(n, 0, int(K));
    Doubles1 w = random.uniform(n), totals(K), got(2 * stump_lanes);
    std::vector<std::int64_t> ends(2 * stump_lanes), others(2 * stump_lanes);
    for (size_t i = 0; i < n; i += 5) w[i] = 0.;
    for (size_t i = 0; i < n; ++i) totals[y[i]] += w[i];
    const auto cells = with_classes(w, y);
    for (size_t g = 0; g < 2; ++g)
        stump_gains(order.data() + g * n * stump_lanes, n, cells.data(), totals.data(), K, got.data() + g * stump_lanes,
                    ends.data() + g * stump_lanes);
    for (size_t c = 0; c < got.size(); ++c) {
        CLOSE(got[c], best_gain(columns[c], w, y, K), 1e-12);
        const size_t group = c / stump_lanes;
        const auto row = order[(group * n + size_t(ends[c])) * stump_lanes + c % stump_lanes] & ~tied;
        const int code = columns[c][row];
        if (got[c] > 1e-9) CLOSE(got[c], best_gain(columns[c], w, y, K, code, code), 1e-12);
    }
    if (K > 2) return;
    Doubles1 both(2 * stump_lanes), one(stump_lanes), signs = w;
    for (size_t i = 0; i < n; ++i) signs[i] = y[i] ? w[i] : -w[i];
    stump_gains_of_two<2>(order.data(), n, signs.data(), totals[0], totals[1], both.data(), others.data());
    stump_gains_of_two<1>(order.data(), n, signs.data(), totals[0], totals[1], one.data(), others.data());
    for (size_t c = stump_lanes; c < both.size(); ++c) CHECK(others[c] == ends[c]);
    for (size_t c = 0; c < both.size(); ++c) CLOSE(both[c], best_gain(columns[c], w, y, K), 1e-12);
    for (size_t c = 0; c < stump_lanes; ++c) CLOSE(one[c], both[c], 1e-15);
}

// Rows whose weights are next to nothing are last: what is left of the sums there is rounding.
void test_next_to_nothing_on_the_right(size_t K) {
    Random random;
    const size_t n = 20000;
    std::vector<std::uint32_t> codes(n), order(n * stump_lanes);
    for (size_t i = 0; i < n; ++i) codes[i] = static_cast<std::uint32_t>(i);
    for (size_t c = 0; c < stump_lanes; ++c) stump_order(codes.data(), n, order.data() + c);
    auto y = random.codes(n, 0, int(K));
    Doubles1 w = random.uniform(n), totals(K), gains(stump_lanes);
    for (size_t i = n / 2; i < n; ++i) w[i] *= 1e-18;
    for (size_t i = 0; i < n / 4; ++i) y[i] = 0;
    for (size_t i = 0; i < n; ++i) totals[y[i]] += w[i];
    std::vector<std::int64_t> ends(stump_lanes);
    const auto cells = with_classes(w, y);
    stump_gains(order.data(), n, cells.data(), totals.data(), K, gains.data(), ends.data());
    CHECK(std::abs(ends[0] - double(n / 4)) < 200);
    for (size_t i = 0; i < n; ++i) w[i] = y[i] == 1 ? w[i] : -w[i];
    if (K == 2) stump_gains_of_two<1>(order.data(), n, w.data(), totals[0], totals[1], gains.data(), ends.data());
    CHECK(std::abs(ends[0] - double(n / 4)) < 200);
}

int main() {
    test_next_to_nothing_on_the_right(2);
    test_next_to_nothing_on_the_right(4);
    test_next_to_nothing_on_the_right(11);
    for (size_t n : {2, 3, 60, 500})
        for (size_t K : {2, 3, 5, 7, 10, 11}) test_gains(n, K);
    return failures;
}
