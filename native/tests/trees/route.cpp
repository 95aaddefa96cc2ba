#include <lyceum/trees/route/packed_forest.hpp>
#include <lyceum/trees/route/visited_nodes.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::trees;

// A random tree over two columns of numbers and one of categories, all kinds of nodes, no fractions by default.
struct Made {
    std::vector<std::int32_t> feature, child, n_children, table, n_codes, missing, branches;
    std::vector<std::uint8_t> kind;
    Doubles1 threshold, cuts, weight, value;

    void add() {
        feature.push_back(-1), child.push_back(-1), n_children.push_back(0), table.push_back(-1), n_codes.push_back(0);
        missing.push_back(-1), kind.push_back(0), threshold.push_back(nan_cell), weight.push_back(1);
        value.push_back(double(value.size()) / 7);
    }

    TreeView view() const {
        return {feature.size(),   feature.data(),  kind.data(),     child.data(),   n_children.data(),
                threshold.data(), table.data(),    n_codes.data(),  missing.data(), cuts.data(),
                cuts.size(),      branches.data(), branches.size(), weight.data()};
    }
};

Made made(std::mt19937& engine, size_t splits, bool two_way, bool fractions) {
    const auto draw = [&](int from, int to) { return std::uniform_int_distribution<>(from, to - 1)(engine); };
    Made tree;
    tree.add();
    std::vector<size_t> open{0};
    for (size_t s = 0; s < splits; ++s) {
        const auto place = open.begin() + draw(0, int(open.size()));
        const size_t i = *place;
        open.erase(place);
        const int kind = two_way ? 1 : draw(1, 5), count = kind == 1 || kind == 4 ? 2 : draw(2, 5);
        tree.kind[i] = std::uint8_t(kind);
        tree.feature[i] = kind <= 2 ? draw(0, 2) : 2;
        tree.child[i] = std::int32_t(tree.feature.size());
        tree.n_children[i] = count;
        tree.missing[i] = fractions && draw(0, 2) ? -1 : draw(0, count);
        if (kind == 1) tree.threshold[i] = draw(-8, 9) / 4.0;
        if (kind == 2) {
            tree.table[i] = std::int32_t(tree.cuts.size());
            for (int c = 0; c + 1 < count; ++c) tree.cuts.push_back(draw(-8, -4) / 4.0 + c);
        }
        if (kind > 2) {
            tree.table[i] = std::int32_t(tree.branches.size());
            tree.n_codes[i] = draw(1, 7);
            for (int c = 0; c < tree.n_codes[i]; ++c) tree.branches.push_back(draw(-1, count));
        }
        for (int c = 0; c < count; ++c) {
            open.push_back(tree.feature.size());
            tree.add();
            tree.weight.back() = draw(0, 4);
        }
    }
    return tree;
}

template <class T>
std::vector<T> cells(std::mt19937& engine, size_t n, bool gaps) {
    std::vector<T> X(n * 3);
    for (size_t i = 0; i < X.size(); ++i) {
        const int x = std::uniform_int_distribution<>(-10, 10)(engine);
        X[i] = i % 3 == 2 ? T(x / 2) : T(x) / 4;
        if (gaps && x == 7) X[i] = T(nan_cell);
    }
    return X;
}

template <class T>
void test_all_ways_lead_to_the_same_ends(size_t n, size_t splits, bool two_way, bool gaps) {
    std::mt19937 engine(unsigned(n + splits));
    std::vector<Made> trees;
    for (int t = 0; t < 5; ++t) trees.push_back(made(engine, splits, two_way, false));
    std::vector<TreeView> views;
    std::vector<TreeValues> values;
    for (const auto& tree : trees) {
        views.push_back(tree.view());
        values.push_back({{tree.value.data(), tree.value.size(), 1}, 0});
    }
    const auto X = cells<T>(engine, n, gaps);
    std::vector<std::int32_t> want(n);
    Doubles1 sums(n);
    std::vector<std::vector<std::int32_t>> ends;
    for (size_t t = 0; t < 5; ++t) {
        visit_ends<T>(views[t], matrix_of(X, n, 3), want.data(), 1, InterruptPoll());
        add_visit_values<T>(views[t], matrix_of(X, n, 3), values[t].values, sums.data(), 1, InterruptPoll());
        ends.push_back(want);
    }
    for (const auto engine_ : {Engine::walk, Engine::fastest, Engine::scan}) {
        if (engine_ == Engine::scan && splits > 1000) continue;  // deep trees: levels scanned, then walked
        const Forest<T> forest(views, values, 3, engine_);
        std::vector<std::int32_t> got(n * 5);
        Doubles1 out(n);
        forest.leaves(matrix_of(X, n, 3), 0, 5, got.data(), InterruptPoll());
        forest.add_values(matrix_of(X, n, 3), 0, 5, {out.data(), n, 1}, InterruptPoll());
        for (size_t i = 0; i < n; ++i) {
            for (size_t t = 0; t < 5; ++t) CHECK(got[i * 5 + t] == ends[t][i]);
            CHECK(out[i] == sums[i]);
        }
    }
}

void test_shares_add_up_and_contributions_telescope() {
    std::mt19937 engine(3);
    const auto tree = made(engine, 30, false, true);
    const size_t n = 200;
    const auto X = cells<double>(engine, n, true);
    const Matrix<const double> values{tree.value.data(), tree.value.size(), 1};
    Doubles1 sums(n), steps(n * 3);
    add_visit_values<double>(tree.view(), matrix_of(X, n, 3), values, sums.data(), 1, InterruptPoll());
    add_contributions<double>(tree.view(), matrix_of(X, n, 3), values, nullptr, {steps.data(), n, 3}, InterruptPoll());
    const TreeView view = tree.view();
    Visits visits(view);
    for (size_t i = 0; i < n; ++i) {
        double share = 0;
        for (const auto& v : visits.of(X.data() + 3 * i)) share += v.ends ? v.share : 0;
        CLOSE(share, 1, 1e-14);
        CLOSE(tree.value[0] + steps[3 * i] + steps[3 * i + 1] + steps[3 * i + 2], sums[i], 1e-13);
    }
    const auto all = sparse_visits<double>(tree.view(), matrix_of(X, n, 3), InterruptPoll());
    CHECK(all.starts.size() == n + 1 && size_t(all.starts[n]) == all.node.size());
}

void test_ranks_count_thresholds_below() {
    Random random;
    for (const double scale : {1., 1e-30, 1e30}) {
        auto t = random.normal<double>(500, 1, 3);
        for (auto& x : t) x *= scale;
        std::sort(t.begin(), t.end());
        const ThresholdRanks<double> ranks(t);
        Doubles1 x(1024, nan_cell);
        for (size_t i = 0; i < 500; ++i) x[2 * i] = t[i], x[2 * i + 1] = std::nextafter(t[i], infinity);
        x[1000] = infinity, x[1001] = -infinity;
        std::vector<std::int32_t> got(1024);
        ranks.of<1024>(x.data(), got.data());
        for (size_t i = 0; i < 1002; ++i) CHECK(got[i] == std::lower_bound(t.begin(), t.end(), x[i]) - t.begin());
        CHECK(got[1003] == 0);
    }
}

void test_bad_trees_are_refused() {
    std::mt19937 engine(1);
    auto tree = made(engine, 3, true, false);
    tree.view().check(3);
    THROWS(tree.view().check(0));
    tree.child[0] = 0;
    THROWS(tree.view().check(3));
    const auto large = made(engine, 2000, true, false);
    const std::vector<TreeView> views{large.view()};
    THROWS(Forest<float>(views, {{{large.value.data(), large.value.size(), 1}, 0}}, 3, Engine::scan));
}

int main() {
    for (const size_t n : {0, 1, 63, 257, 600})
        for (const size_t splits : {0, 1, 9, 120})
            for (const bool two_way : {true, false})
                for (const bool gaps : {true, false}) {
                    test_all_ways_lead_to_the_same_ends<float>(n, splits, two_way, gaps);
                    test_all_ways_lead_to_the_same_ends<double>(n, splits, two_way, gaps);
                }
    test_all_ways_lead_to_the_same_ends<float>(600, 2000, true, true);
    test_all_ways_lead_to_the_same_ends<double>(600, 2000, true, false);
    test_shares_add_up_and_contributions_telescope();
    test_ranks_count_thresholds_below();
    test_bad_trees_are_refused();
    return failures;
}
