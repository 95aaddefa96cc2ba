// Splits of a categorical column: one branch per category, or two groups of categories.
#pragma once
#include <lyceum/trees/split/group_cuts.hpp>

namespace lyceum::trees {

template <class Target>
class CategorySplits {
public:
    using Instance = typename Target::Instance;
    using OnLeft = std::vector<std::uint8_t>;  // of every group, whether it is in the first part

    CategorySplits(SplitNode<Target>& node, CutSearch<Target>& cut_search) : node_(node), cut_search_(cut_search) {}

    void operator()(FoundSplit& found, NodeRandom& random) {
        if (node_.learns_missing()) separate_missing();
        const auto& rules = node_.rules();
        if (rules.categorical == Categorical::multiway)
            multiway(found);
        else if (rules.random)
            random_groups(found, random);
        else if (rules.categorical == Categorical::one_vs_rest)
            one_vs_rest(found);
        else
            two_groups(found);
    }

private:
    static constexpr size_t exhaustive = 10;  // up to this many categories all pairs of groups are tried

    // Missing cells that are to take a side become one more category, whose code is the last.
    void separate_missing() {
        const Groups& groups = node_.groups();
        const size_t g = groups.count, size = node_.size();
        extended_ = groups;
        extended_.code.resize(g + 1);
        extended_.rows.resize(g + 1);
        extended_.sums.resize((g + 1) * size);
        extended_.code[g] = node_.columns().missing(node_.column());
        extended_.rows[g] = groups.missing_rows;
        std::copy_n(groups.missing_sums.data(), size, extended_.sums.data() + g * size);
        extended_.missing_rows = 0;
        extended_.missing_sums.assign(size, 0.);
        extended_.count = g + 1;
        node_.set_groups(extended_);
    }

    void multiway(FoundSplit& found) {
        const Groups& groups = node_.groups();
        double merit = 0.;
        size_t enough = 0;
        std::vector<Sums> parts;
        for (size_t g = 0; g < groups.count; ++g) {
            const double* sums = groups.of(g, node_.size());
            parts.emplace_back(sums, sums + node_.size());
            merit += node_.part_merit(g, g + 1, parts.back(), false);
            enough +=
                groups.rows[g] >= node_.rules().min_leaf && node_.target().weight(sums) >= node_.rules().min_weight;
        }
        if (enough < 2) return;
        found.kind = SplitKind::categories;
        found.children = static_cast<std::int32_t>(groups.count);
        assign_branches(found, [](size_t g) { return static_cast<std::int32_t>(g); });
        node_.score_split(found, merit, parts);
    }

    // Every category on a random side, at least one on each; or a random one against the others.
    void random_groups(FoundSplit& found, NodeRandom& random) {
        const size_t count = node_.groups().count;
        OnLeft on_left(count);
        const size_t forced = random.below(count);
        if (node_.rules().categorical == Categorical::one_vs_rest) {
            on_left[forced] = 1;
            const double merit = merit_of_groups(on_left);
            if (merit != no_split) score_split(found, merit, on_left);
            return;
        }
        for (size_t g = 0; g < count; ++g) on_left[g] = static_cast<std::uint8_t>(random.next() >> 63);
        const size_t other = (forced + 1 + random.below(count - 1)) % count;
        on_left[forced] = 1;
        on_left[other] = 0;
        const double merit = merit_of_groups(on_left);
        if (merit != no_split) score_split(found, merit, on_left);
    }

    void one_vs_rest(FoundSplit& found) {
        double best = no_split;
        OnLeft on_left(node_.groups().count), best_left;
        for (size_t g = 0; g < on_left.size(); ++g) {
            std::fill(on_left.begin(), on_left.end(), 0);
            on_left[g] = 1;
            replace_if_better(on_left, best, best_left);
        }
        if (best != no_split) score_split(found, best, best_left);
    }

    // Ordered by the share of a class or by the mean, some cut is the best of all pairs of groups for two classes and
    // for the variance (Breiman et al. 1984, 4.2.2). For the absolute error only the cuts of the order by median are
    // tried. Else all pairs of groups are while there are few categories, and after that the cuts of every class's
    // order.
    void two_groups(FoundSplit& found) {
        const auto criterion = node_.rules().criterion;
        const bool ordered = criterion != Criterion::deviation && criterion != Criterion::gain_ratio &&
                             criterion != Criterion::loss && (Target::fixed != 0 || node_.size() <= 2);
        double best = no_split;
        OnLeft best_left;
        if (ordered || node_.by_medians() || node_.groups().count > exhaustive)
            by_orders(best, best_left);
        else
            by_all_pairs(best, best_left);
        if (best == no_split) return;
        if (!best_left[0])
            for (auto& side : best_left) side = !side;  // the first category that occurs is in the first group
        score_split(found, best, best_left);
    }

    void by_all_pairs(double& best, OnLeft& best_left) {
        const size_t count = node_.groups().count;
        OnLeft on_left(count);
        for (std::uint32_t set = 1; set < (1u << (count - 1)); ++set) {
            for (size_t g = 0; g < count; ++g) on_left[g] = !((set >> g) & 1);
            replace_if_better(on_left, best, best_left);
        }
    }

    void by_orders(double& best, OnLeft& best_left) {
        const size_t count = node_.groups().count;
        std::vector<std::uint32_t> order(count);
        std::vector<double> key(count);
        const size_t orders = std::is_same_v<Instance, ClassRow> && node_.size() > 2 ? node_.size() : 1;
        for (size_t k = 0; k < orders; ++k) {
            for (size_t g = 0; g < count; ++g) key[g] = order_key(g, k);
            std::iota(order.begin(), order.end(), 0u);
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key[a] < key[b]; });
            const Cut cut =
                best_cut(node_, cut_search_, {order.data(), 0, count, node_.known(), false, node_.rules().min_weight});
            if (!node_.is_better(cut.merit, best)) continue;
            best = cut.merit;
            best_left.assign(count, 0);
            for (size_t p = 0; p <= cut.at; ++p) best_left[order[p]] = 1;
        }
    }

    // The median or the mean of a group, or the share of class k: of two classes, of the second.
    double order_key(size_t g, size_t k) const {
        if (node_.by_medians()) return node_.medians().group_median(g);
        const double* s = node_.groups().of(g, node_.size());
        const size_t which = std::is_same_v<Instance, NumberRow> ? 1 : (node_.size() > 2 ? k : node_.size() - 1);
        return s[which] / node_.target().weight(s);
    }

    void replace_if_better(const OnLeft& on_left, double& best, OnLeft& best_left) {
        const double merit = merit_of_groups(on_left);
        if (node_.is_better(merit, best)) best = merit, best_left = on_left;
    }

    // The merit of two groups, if either has enough rows.
    double merit_of_groups(const OnLeft& on_left) {
        const std::vector<Sums> parts = sums_of(on_left);
        size_t rows[2] = {};
        for (size_t g = 0; g < on_left.size(); ++g) rows[on_left[g] ? 0 : 1] += node_.groups().rows[g];
        for (size_t side = 0; side < 2; ++side)
            if (rows[side] < std::max<size_t>(node_.rules().min_leaf, 1) ||
                node_.target().weight(parts[side].data()) < node_.rules().min_weight)
                return no_split;
        if (!node_.by_medians())
            return merit_of(node_.target(), parts[0].data()) + merit_of(node_.target(), parts[1].data());
        double merit = 0.;
        for (int side = 0; side < 2; ++side) {
            node_.medians().clear();
            for (size_t g = 0; g < on_left.size(); ++g)
                if ((on_left[g] ? 0 : 1) == side) node_.medians().add_group(g);
            merit -= node_.medians().cost();
        }
        return merit;
    }

    std::vector<Sums> sums_of(const OnLeft& on_left) const {
        std::vector<Sums> parts(2, Sums(node_.size(), 0.));
        for (size_t g = 0; g < on_left.size(); ++g) node_.add_groups(parts[on_left[g] ? 0 : 1], g, g + 1);
        return parts;
    }

    void score_split(FoundSplit& found, double merit, const OnLeft& on_left) {
        found.kind = SplitKind::groups;
        found.children = 2;
        found.missing_child = -1;
        assign_branches(found, [&](size_t g) { return on_left[g] ? 0 : 1; });
        std::vector<Sums> parts = sums_of(on_left);
        node_.score_split(found, merit, parts);
    }

    template <class Side>
    void assign_branches(FoundSplit& found, Side&& side) const {
        const Groups& groups = node_.groups();
        found.branches.assign(static_cast<size_t>(node_.columns().n_codes[node_.column()]), -1);
        for (size_t g = 0; g < groups.count; ++g) {
            if (groups.code[g] == node_.columns().missing(node_.column()))
                found.missing_child = side(g);
            else
                found.branches[groups.code[g]] = side(g);
        }
    }

    SplitNode<Target>& node_;
    CutSearch<Target>& cut_search_;
    Groups extended_;
};

}  // namespace lyceum::trees
