// Histograms, splits and trees of boosting against sums taken row by row.
#include <lyceum/boosting/bin_codes.hpp>
#include <lyceum/boosting/integer_gradients.hpp>
#include <lyceum/boosting/route_rows.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::boosting;

namespace {

struct Data {
    size_t n, d, step;
    std::vector<std::uint8_t> rows, columns, is_category;
    std::vector<std::int32_t> n_bins;

    Data(size_t n, size_t d, int bins, Random& random)
        : n(n), d(d), step(d + 3), rows(n * step), columns(n * d), is_category(d), n_bins(d, bins) {
        is_category[d - 1] = 1;
        for (size_t j = 0; j < d; ++j) {
            const auto codes = random.codes(n, 0, bins + 1);
            for (size_t i = 0; i < n; ++i)
                rows[i * step + j] = columns[j * n + i] = static_cast<std::uint8_t>(codes[i]);
        }
    }
    Table table() const { return {rows.data(), columns.data(), n_bins.data(), is_category.data(), n, d, step}; }
};

// Gradients in units of 2^-10, so that sums are exact in floating point too.
Doubles1 whole(size_t n, Random& random, double from) {
    auto x = random.uniform(n);
    for (double& v : x) v = std::floor((v + from) * 1024) / 1024;
    return x;
}

void histograms_are_sums(size_t n, size_t d, int bins, bool exact, bool with_hessians, size_t threads) {
    Random random;
    const Data data(n, d, bins, random);
    const auto g = whole(n, random, -.5), h = whole(n, random, 0);
    ThreadTeam team(threads);
    UnitBuffers units;
    const auto gradients = in_units(g.data(), with_hessians ? h.data() : nullptr, n, exact, 0, 0, units, team);
    GrowBuffers buffers;
    const std::vector<std::uint8_t> in_use(d, 1);
    const Table table = data.table();
    Grower grower(table, {6, 1000, {.5, 2., 1e-3, 3}}, gradients, in_use.data(), n, false, buffers, team,
                  InterruptPoll());
    const auto& nodes = grower.grow();
    CHECK(nodes.size() > 1);
    std::vector<size_t> seen(n, 0);
    for (const Node& node : nodes) {
        double G = 0, H = 0;
        for (size_t i = node.begin; i < node.end; ++i) {
            const size_t row = buffers.numbers[i];
            G += g[row];
            H += with_hessians ? h[row] : 1;
            if (node.child < 0) ++seen[row];
            if (i > node.begin) CHECK(buffers.numbers[i - 1] < buffers.numbers[i] || node.child >= 0);
        }
        CHECK(node.total.n == static_cast<Sum>(node.end - node.begin));
        CHECK(static_cast<double>(node.total.g) * gradients.g_unit == G);
        if (with_hessians) CHECK(static_cast<double>(node.total.h) * gradients.h_unit == H);
        if (node.child < 0) continue;
        const auto child = static_cast<size_t>(node.child);
        CHECK(nodes[child].begin == node.begin && nodes[child].end == nodes[child + 1].begin &&
              nodes[child + 1].end == node.end);
        CHECK(nodes[child].total.n >= 3 && nodes[child + 1].total.n >= 3 && node.split.gain > 0);
    }
    for (size_t count : seen) CHECK(count == 1);

    // rows find the leaves that they were in
    std::vector<std::int32_t> column, bin, child;
    std::vector<std::uint8_t> missing_left, sides;
    std::vector<std::uint16_t> node(n, nowhere);
    for (const Node& one : nodes) {
        column.push_back(one.child < 0 ? -1 : one.split.column);
        bin.push_back(one.split.bin);
        child.push_back(one.child);
        missing_left.push_back(one.split.missing_left);
        for (size_t b = 0; b < slots; ++b) sides.push_back(one.split.is_category ? one.split.sides[b] : 0);
    }
    route(table, {column.data(), bin.data(), child.data(), missing_left.data(), sides.data(), nodes.size()}, false,
          node.data(), team);
    for (size_t k = 0; k < nodes.size(); ++k)
        for (size_t i = nodes[k].begin; nodes[k].child < 0 && i < nodes[k].end; ++i)
            CHECK(node[buffers.numbers[i]] == k);
}

void a_split_is_the_best_of_all() {
    Random random;
    for (int trial = 0; trial < 20; ++trial) {
        const size_t n = 60;
        const Data data(n, 1, 5, random);
        const auto g = whole(n, random, -.5);
        ThreadTeam team(1);
        UnitBuffers units;
        const auto gradients = in_units(g.data(), nullptr, n, true, 0, 0, units, team);
        Sum histogram[3 * 6] = {};
        Totals total;
        for (size_t i = 0; i < n; ++i) {
            histogram[data.columns[i]] += gradients.wide[i].g;
            histogram[6 + data.columns[i]] += 1;
            total.g += gradients.wide[i].g;
            ++total.n;
        }
        Split split;
        SplitFinder({.3, 0, 1e-3, 4}, gradients).find(histogram, 5, 0, false, total, split);
        double best = 0;
        for (int cut = 0; cut < 5; ++cut)
            for (int side = 0; side < 2; ++side) {
                double gl = 0, gr = 0, nl = 0, nr = 0;
                for (size_t i = 0; i < n; ++i) {
                    const bool left = data.columns[i] == 5 ? side == 0 : data.columns[i] <= cut;
                    (left ? gl : gr) += g[i];
                    (left ? nl : nr) += 1;
                }
                if (nl < 4 || nr < 4) continue;
                const double G = gl + gr;
                best = std::max(best, .5 * (gl * gl / (nl + .3) + gr * gr / (nr + .3) - G * G / (n + .3)));
            }
        CLOSE(split.gain, best, 1e-12);
    }
}

void bins_count_the_edges_below() {
    constexpr size_t n = 333, d = 2;
    Random random;
    auto X = random.normal<float>(n * d);
    X[5] = static_cast<float>(nan_cell);
    std::vector<float> edges(d * edge_slots, static_cast<float>(infinity));
    for (size_t j = 0; j < d; ++j)
        for (size_t k = 0; k < 100 + 154 * j; ++k) edges[j * edge_slots + k] = -3 + .02f * static_cast<float>(k);
    edges[0] = X[0];  // a value on an edge is below it
    std::sort(edges.begin(), edges.begin() + 100);
    const std::int32_t n_bins[] = {101, 255};
    const std::int64_t start[] = {0, 0, 0};
    std::vector<std::uint8_t> out(n * d), columns(n * d);
    bin_codes<float>(matrix_of(X, n, d), {edges.data(), n_bins, start, nullptr}, out.data(), d, 1, columns.data(), n,
                     InterruptPoll());
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < d; ++j) {
            int below = 0;
            for (int k = 0; k + 1 < n_bins[j]; ++k)
                below += edges[j * edge_slots + static_cast<size_t>(k)] < X[i * d + j];
            CHECK(out[i * d + j] == (X[i * d + j] == X[i * d + j] ? below : n_bins[j]));
            CHECK(out[i * d + j] == columns[j * n + i]);
        }
}

}  // namespace

int main() {
    for (size_t threads : {1, 2, 3})
        for (bool exact : {false, true})
            for (bool with_hessians : {false, true}) {
                histograms_are_sums(30000, 5, 20, exact, with_hessians, threads);
                histograms_are_sums(5000, 19, 254, exact, with_hessians, threads);
                histograms_are_sums(100, 3, 3, exact, with_hessians, threads);
            }
    a_split_is_the_best_of_all();
    bins_count_the_edges_below();
    return failures;
}
