#include <lyceum/trees/grow/node_histograms.hpp>
#include <lyceum/trees/split/histogram_splits.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::trees;

// Two columns of numbers and one of categories: the split of a node's histograms is that of its rows.
const std::vector<std::int32_t> n_codes{6, 30, 5};
const std::vector<std::uint8_t> is_category{0, 0, 1};
const std::vector<std::int64_t> first{0, 6, 36}, offsets{0, 7, 38, 44};
constexpr size_t d = 3, most_codes = 31;

struct Table {
    std::vector<std::uint8_t> by_row, by_column;  // a few cells are missing
    Doubles1 values, w;

    explicit Table(size_t n, Random& random) : by_row(n * d), by_column(n * d), values(36), w(random.uniform(n)) {
        for (size_t v = 0; v < values.size(); ++v) values[v] = double(v);
        for (size_t j = 0; j < d; ++j) {
            const auto codes = random.codes(n, 0, n_codes[j] + (j == 1));
            for (size_t i = 0; i < n; ++i) by_row[i * d + j] = by_column[j * n + i] = std::uint8_t(codes[i]);
        }
    }
    TreeColumns columns(size_t n) const {
        return {by_column.data(), 1, n, d, n_codes.data(), is_category.data(), first.data(), values.data(),
                values.data()};
    }
};

template <class Target, class Summed, class Instance>
void test_split(Target target, Summed summed, const std::vector<Instance>& rows, const Table& table, TreeRules rules) {
    const size_t n = rows.size(), channels = summed.channels();
    Doubles1 tables(offsets[d] * channels), total(target.size());
    const std::int32_t none[] = {-1}, slot[] = {0};
    const std::int64_t start[] = {0};
    const double share[] = {1};
    const CodedTree root{none, start, none, none, none, share, slot};
    node_histograms(Matrix<const std::uint8_t>{table.by_row.data(), n, d}, CodeCells{offsets.data(), d}, root, summed,
                    table.w.data(), 1, tables.data(), InterruptPoll());
    for (const auto& row : rows) target.add(total.data(), row);

    std::int32_t feature = -1, children = 0, missing = 0, branches[most_codes];
    std::uint8_t kind = 0, dead[d] = {};
    double gain = 0, threshold = 0, cuts[3], considered[d * 3] = {};
    const NodeSplits out{&feature, &children, &missing, &kind,      &gain,     &threshold,
                         cuts,     branches,  3,        most_codes, considered};
    const NodeTables given{tables.data(), offsets.data(), 1, channels, true};
    HistogramSplits<Target>(target, table.columns(n), rules, given)(0, total.data(), 1.0, 5, dead, out);

    const TreeColumns columns = table.columns(n);
    SplitSearch<Target> search(target, columns, rules);
    std::vector<FoundSplit> found(d);
    for (size_t j = 0; j < d; ++j) {
        found[j] = search(rows.data(), n, total.data(), j, nullptr, column_random(5, j));
        CLOSE(considered[j * 3], found[j].gain, 1e-9);
    }
    size_t column = 0;
    const FoundSplit* best = best_column(found, {0, 1, 2}, rules, column);
    CHECK(best && feature == std::int32_t(column) && kind == std::uint8_t(best->kind));
    if (!best || feature != std::int32_t(column)) return;
    CLOSE(gain, best->gain, 1e-9);
    CHECK(children == best->children && missing == best->missing_child &&
          branches[n_codes[column]] == best->missing_child);
    const double expected = threshold_of(*best, columns, rules, column);
    CHECK(threshold == expected || (threshold != threshold && expected != expected));
    for (std::int32_t c = 0; c < n_codes[column]; ++c) {
        if (best->kind == SplitKind::threshold) CHECK(branches[c] == (c > std::int32_t(best->cut)));
        if (best->kind == SplitKind::groups || best->kind == SplitKind::categories)
            CHECK(branches[c] == best->branches[c]);
    }
}

void test_rules(TreeRules rules) {
    constexpr size_t n = 400;
    Random random;
    const Table table(n, random);
    const auto k = random.codes(n, 0, 3);
    const auto y = random.normal<double>(n);
    std::vector<ClassRow> labeled;
    std::vector<NumberRow> measured;
    for (std::uint32_t i = 0; i < n; ++i) {
        labeled.push_back({i, k[i], table.w[i]});
        measured.push_back({i, y[i], table.w[i]});
    }
    const double center[] = {0};
    rules.criterion = Criterion::entropy;
    test_split(Classes<0>{3, Criterion::entropy, {}}, ClassTarget{{k.data(), 3}, true}, labeled, table, rules);
    rules.criterion = Criterion::variance;
    test_split(Numbers<2>{Criterion::variance}, NumberTarget{y.data(), center}, measured, table, rules);
}

int main() {
    for (const bool fractions : {false, true})
        for (const bool random : {false, true})
            for (const auto categorical : {Categorical::groups, Categorical::multiway, Categorical::one_vs_rest}) {
                TreeRules rules;
                rules.fractions = fractions;
                rules.random = random;
                rules.categorical = categorical;
                rules.min_leaf = 5;
                test_rules(rules);
            }
    return failures;
}
