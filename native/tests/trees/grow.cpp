#include <lyceum/trees/grow/tree_grower.hpp>

#include <map>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::trees;

// Columns of numbers, then of categories, a code of 1, 2 or 4 bytes.
struct Table {
    size_t n, d;
    std::vector<std::uint32_t> codes;  // (d, n); missing cells have the code that is last
    std::vector<std::int32_t> n_codes;
    std::vector<std::uint8_t> is_category;
    std::vector<std::int64_t> first;
    Doubles1 values;
    std::vector<std::uint8_t> packed;
    int bytes = 2;

    bool missing(size_t j, size_t i) const { return codes[j * n + i] == std::uint32_t(n_codes[j]); }

    TreeColumns view() {
        packed.assign(codes.size() * size_t(bytes), 0);
        for (size_t c = 0; c < codes.size(); ++c)
            std::memcpy(packed.data() + c * size_t(bytes), &codes[c], size_t(bytes));
        return {packed.data(), bytes,        n, d, n_codes.data(), is_category.data(), first.data(),
                values.data(), values.data()};
    }

    // Numbers have `more` codes than occur: another way to the same splits.
    Table wider(std::int32_t more) const {
        Table out = *this;
        out.values.clear();
        for (size_t j = 0; j < d; ++j) {
            if (!is_category[j]) out.n_codes[j] += more;
            for (size_t i = 0; i < n; ++i)
                if (missing(j, i)) out.codes[j * n + i] = std::uint32_t(out.n_codes[j]);
            out.first[j] = std::int64_t(out.values.size());
            for (std::int32_t c = 0; c < out.n_codes[j]; ++c) out.values.push_back(value(c));
        }
        return out;
    }

    static double value(std::int32_t code) { return 0.25 * code * code - 3; }
};

Table made(unsigned seed, size_t n, std::int32_t values, bool has_missing) {
    std::mt19937 engine(seed);
    Table out{n, 4, std::vector<std::uint32_t>(4 * n), {values, values / 2, 3, 5}, {0, 0, 1, 1}, {}, {}, {}};
    for (size_t j = 0; j < 4; ++j)
        for (size_t i = 0; i < n; ++i) {
            const auto cell = std::uint32_t(std::uniform_int_distribution<>(0, out.n_codes[j] - 1)(engine));
            out.codes[j * n + i] = has_missing && engine() % 8 == 0 ? std::uint32_t(out.n_codes[j]) : cell;
        }
    out.first.assign(4, 0);
    return out.wider(0);
}

// What is learned: classes or numbers that depend on the first and the third column, and weights.
struct Lesson {
    std::vector<ClassRow> labeled;
    std::vector<NumberRow> measured;
};

Lesson lesson(const Table& table, unsigned seed, int classes) {
    std::mt19937 engine(seed);
    Lesson out;
    for (std::uint32_t i = 0; i < table.n; ++i) {
        const double signal = table.codes[i] * 2. / table.n_codes[0] + double(table.codes[2 * table.n + i] == 1);
        const double y = signal + std::uniform_real_distribution<>(-1, 1)(engine),
                     w = 0.5 + double(engine() % 1000) / 1000;
        out.labeled.push_back({i, std::clamp(int(std::floor(y * classes / 3)), 0, classes - 1), w});
        out.measured.push_back({i, y, w});
    }
    return out;
}

// -- brute force
// -------------------------------------------------------------------------------------------------------

const Doubles1 losses{0, 4, 1, 1, 0, 1, 2, 6, 0, 1, 1, 1};  // up to four classes, three actions

double impurity(const std::vector<ClassRow>& rows, Criterion criterion, size_t classes) {
    Doubles1 share(classes);
    double n = 0, out = 0;
    for (const auto& row : rows) share[size_t(row.k)] += row.w, n += row.w;
    for (auto& p : share) p /= n;
    switch (criterion) {
        case Criterion::gini:
            for (const double p : share) out += p * (1 - p);
            return out;
        case Criterion::entropy:
            for (const double p : share) out -= p > 0 ? p * std::log2(p) : 0;
            return out;
        case Criterion::misclassification:
            return 1 - *std::max_element(share.begin(), share.end());
        default:
            out = infinity;
            for (size_t a = 0; a < 3; ++a) {
                double risk = 0;
                for (size_t k = 0; k < classes; ++k) risk += share[k] * losses[k * 3 + a];
                out = std::min(out, risk);
            }
            return out;
    }
}

double impurity(std::vector<NumberRow> rows, Criterion criterion, size_t) {
    double n = 0, mean = 0, out = 0, below = 0, median = 0;
    for (const auto& row : rows) n += row.w, mean += row.w * row.y;
    mean /= n;
    if (criterion != Criterion::absolute) {
        for (const auto& row : rows) out += row.w * (row.y - mean) * (row.y - mean) / n;
        return criterion == Criterion::variance ? out : std::sqrt(out);
    }
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
    for (const auto& row : rows) {
        median = row.y;
        if ((below += row.w) >= n / 2) break;
    }
    for (const auto& row : rows) out += row.w * std::abs(row.y - median) / n;
    return out;
}

template <class Instance>
double weight(const std::vector<Instance>& rows) {
    double out = 0;
    for (const auto& row : rows) out += row.w;
    return out;
}

// The gain of rows sent to the parts that `side` says; -1 if two parts do not have the least number of rows.
template <class Instance, class Side>
double gain_of(const std::vector<Instance>& rows, const TreeRules& rules, size_t classes, Side&& side) {
    std::map<int, std::vector<Instance>> parts;
    for (const auto& row : rows) parts[side(row.row)].push_back(row);
    size_t enough = 0;
    double rest = 0;
    for (const auto& [_, part] : parts) {
        enough += part.size() >= rules.min_leaf;
        rest += weight(part) * impurity(part, rules.criterion, classes);
    }
    return enough < 2 ? -1 : impurity(rows, rules.criterion, classes) - rest / weight(rows);
}

template <class Instance>
double best_gain(const Table& table, const std::vector<Instance>& rows, const TreeRules& rules, size_t classes) {
    double best = -1;
    for (size_t j = 0; j < table.d; ++j) {
        const auto code = [&](std::uint32_t i) { return int(table.codes[j * table.n + i]); };
        const auto consider = [&](auto side) { best = std::max(best, gain_of(rows, rules, classes, side)); };
        const int count = table.n_codes[j];
        if (!table.is_category[j])
            for (int cut = 0; cut + 1 < count; ++cut) consider([&](std::uint32_t i) { return int(code(i) > cut); });
        else if (rules.categorical == Categorical::multiway)
            consider(code);
        else if (rules.categorical == Categorical::one_vs_rest)
            for (int one = 0; one < count; ++one) consider([&](std::uint32_t i) { return int(code(i) == one); });
        else
            for (int group = 1; group < 1 << count; ++group)
                consider([&](std::uint32_t i) { return group >> code(i) & 1; });
    }
    return best;
}

// -- growth
// ------------------------------------------------------------------------------------------------------------

template <class Target>
Subtree grown(const Target& target, Table& table, const TreeRules& rules, std::vector<typename Target::Instance> rows,
              bool by_columns = false) {
    TreeGrower<Target> grower(target, table.view(), rules, std::move(rows));
    grower.sort(0, table.d);
    for (int splits = 0; by_columns && splits < 5; ++splits) {
        size_t largest = 0;
        for (size_t i = 0; i < grower.n_open(); ++i)
            if (grower.open_rows(i) > grower.open_rows(largest)) largest = i;
        if (!grower.open_rows(largest)) break;
        grower.prepare(largest);
        for (size_t j = table.d; j-- > 0;) grower.search(largest, j, j + 1, InterruptPoll());
        const size_t children = grower.split(largest);
        for (size_t j = table.d; j-- > 0 && children;) grower.deal(largest, children, j, j + 1);
    }
    for (size_t i = grower.n_open(); i-- > 0;) grower.finish(i, InterruptPoll());
    return grower.assemble();
}

template <class Instance>
std::map<int, std::vector<Instance>> sent(const Subtree& tree, const TreeNode& node, const Table& table,
                                          const std::vector<Instance>& rows) {
    std::map<int, std::vector<Instance>> parts;
    for (const auto& row : rows) {
        const auto code = table.codes[size_t(node.feature) * table.n + row.row];
        const int side = node.kind == SplitKind::threshold ? Table::value(int(code)) > node.threshold
                                                           : tree.branches[size_t(node.table) + code];
        CHECK(side >= 0 && side < node.n_children);
        parts[side].push_back(row);
    }
    return parts;
}

template <class Target>
void test_every_split_is_a_best_one(const Target& target, TreeRules rules, unsigned seed) {
    using Instance = typename Target::Instance;
    auto table = made(seed, 120, seed % 2 ? 30 : 150, false);  // few codes are counted, many sorted
    const auto all = lesson(table, seed, int(std::min<size_t>(target.size(), 4)));
    std::vector<Instance> root;
    size_t classes = 0;
    if constexpr (std::is_same_v<Instance, ClassRow>)
        root = all.labeled, classes = target.size();
    else
        root = all.measured;
    rules.criterion = target.criterion;
    const bool groups = rules.categorical == Categorical::groups;
    rules.min_leaf = groups ? 1 : 3;  // a minimum may forbid the best cut of the order of the categories
    rules.max_depth = 4;
    const auto tree = grown(target, table, rules, root);
    CHECK(tree.nodes.size() > 5);
    std::vector<std::vector<Instance>> at(tree.nodes.size());
    std::vector<size_t> depth(tree.nodes.size());
    at[0] = root;
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[i];
        const double now = impurity(at[i], rules.criterion, classes), best = best_gain(table, at[i], rules, classes);
        CHECK(node.n_rows == std::int64_t(at[i].size()));
        CLOSE(node.weight, weight(at[i]), 1e-12);
        CLOSE(node.impurity, now, 1e-9);
        if (node.kind == SplitKind::leaf) {
            CHECK(depth[i] == rules.max_depth || now < 1e-9 || best < 0);
            continue;
        }
        if (groups && rules.criterion == Criterion::absolute)
            CHECK(node.gain < best + 1e-9);  // not all groups are tried
        else
            CLOSE(node.gain, best, 1e-7);
        for (const auto& [side, part] : sent(tree, node, table, at[i])) {
            at[size_t(node.child + side)] = part;
            depth[size_t(node.child + side)] = depth[i] + 1;
        }
    }
}

void check_same(const Subtree& a, const Subtree& b) {
    CHECK(a.nodes.size() == b.nodes.size());
    if (a.nodes.size() != b.nodes.size()) return;
    for (size_t i = 0; i < a.nodes.size(); ++i) {
        const auto &x = a.nodes[i], &y = b.nodes[i];
        CHECK(x.feature == y.feature && x.kind == y.kind && x.child == y.child && x.missing == y.missing &&
              x.n_rows == y.n_rows);
        CHECK(x.threshold == y.threshold || (std::isnan(x.threshold) && std::isnan(y.threshold)));
        CLOSE(x.weight, y.weight, 1e-12);
        CLOSE(x.impurity, y.impurity, 1e-9);
    }
    CHECK(a.branches == b.branches);
    CHECK(a.cuts.size() == b.cuts.size());
}

// Columns counted, sorted once, sorted at the node; by one thread or many; codes of any size.
template <class Target>
void test_all_ways_grow_the_same_tree(const Target& target, TreeRules rules, unsigned seed) {
    auto table = made(seed, 400, 50, true);
    const auto all = lesson(table, seed, int(std::min<size_t>(target.size(), 4)));
    std::vector<typename Target::Instance> rows;
    if constexpr (std::is_same_v<typename Target::Instance, ClassRow>)
        rows = all.labeled;
    else
        rows = all.measured;
    rules.criterion = target.criterion;
    rules.min_leaf = 12;
    for (const bool fractions : {false, true}) {
        rules.fractions = fractions;
        rules.max_depth = fractions ? 4 : 9;
        const auto counted = grown(target, table, rules, rows);
        CHECK(counted.nodes.size() > 5);
        auto many = table.wider(60);
        const auto sorted = grown(target, many, rules, rows);
        check_same(counted, sorted);
        check_same(sorted, grown(target, many, rules, rows, true));
        check_same(counted, grown(target, table, rules, rows, true));
        for (const int bytes : {1, 4}) {
            many.bytes = bytes;
            check_same(sorted, grown(target, many, rules, rows));
        }
        auto best_first = rules;
        best_first.max_leaves = 1000;
        check_same(counted, grown(target, table, best_first, rows));
    }
}

void test_limits_and_one_row() {
    auto table = made(1, 200, 100, true);
    const auto all = lesson(table, 1, 3);
    const Classes<0> target{3, Criterion::gini, {}};
    TreeRules rules;
    CHECK(
        grown(target, table, rules, std::vector<ClassRow>(all.labeled.begin(), all.labeled.begin() + 1)).nodes.size() ==
        1);
    CHECK(grown(target, table, rules, std::vector<ClassRow>{}).nodes.size() == 1);
    rules.max_leaves = 5;
    const auto few = grown(target, table, rules, all.labeled);
    CHECK(std::count_if(few.nodes.begin(), few.nodes.end(), [](const auto& n) { return n.kind == SplitKind::leaf; }) ==
          5);
    rules = {};
    rules.max_depth = 1;
    CHECK(grown(target, table, rules, all.labeled).nodes.size() == 3);
    rules = {};
    rules.max_p = 0;
    CHECK(grown(target, table, rules, all.labeled).nodes.size() == 1);
    rules = {};
    rules.random = true;
    const auto once = grown(target, table, rules, all.labeled);
    check_same(once, grown(target, table, rules, all.labeled));
    rules.seed = 1;
    CHECK(grown(target, table, rules, all.labeled).nodes[0].threshold != once.nodes[0].threshold);
    rules = {};
    rules.record = true;
    rules.max_depth = 1;
    CHECK(grown(target, table, rules, all.labeled).record.size() == table.d);
}

template <class Test>
void with_all_targets(Test&& test) {
    for (const auto criterion : {Criterion::gini, Criterion::entropy, Criterion::misclassification, Criterion::loss}) {
        test(Classes<2>{2, criterion, {losses.data(), 3}});
        test(Classes<0>{4, criterion, {losses.data(), 3}});
    }
    test(Numbers<2>{Criterion::variance});
    test(Numbers<3>{Criterion::deviation});
    test(Numbers<3>{Criterion::absolute});
}

int main() {
    for (const auto form : {Categorical::groups, Categorical::multiway, Categorical::one_vs_rest}) {
        TreeRules rules;
        rules.categorical = form;
        for (const unsigned seed : {1u, 2u})
            with_all_targets([&](const auto& target) { test_every_split_is_a_best_one(target, rules, seed); });
        with_all_targets([&](const auto& target) { test_all_ways_grow_the_same_tree(target, rules, 7); });
    }
    test_limits_and_one_row();
    return failures;
}
