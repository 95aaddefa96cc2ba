// A random threshold between the smallest and the largest value of a column.
#pragma once
#include <lyceum/trees/split/group_cuts.hpp>

namespace lyceum::trees {

template <class Target>
class RandomThresholds {
public:
    using Instance = typename Target::Instance;

    RandomThresholds(SplitNode<Target>& node, CutSearch<Target>& cut_search) : node_(node), cut_search_(cut_search) {}

    void of_rows(FoundSplit& found, NodeRandom& random) {
        const size_t m = node_.n_rows();
        const std::uint32_t* code = node_.grouping().codes(node_.rows(), m, node_.column());
        const auto missing = node_.columns().missing(node_.column());
        std::uint32_t least = missing, most = 0, missing_rows = 0;  // the code of missing cells is above all others
        for (size_t i = 0; i < m; ++i) {
            least = std::min(least, code[i]);
            most = std::max(most, code[i] == missing ? 0 : code[i]);
            missing_rows += code[i] == missing;
        }
        found.constant = (least >= most && missing_rows == 0) || missing_rows == m;
        if (found.constant) return;
        missing_sums_.assign(node_.size(), 0.);
        if (least < most) draw(found, random, least, most);
        const size_t left_rows = least < most ? sum_left(code, found.cut) : 0;
        for (size_t i = 0; i < m && missing_rows; ++i)
            if (code[i] == missing) node_.target().add(missing_sums_.data(), node_.rows()[i]);
        score_split(found, left_rows, m - missing_rows, missing_rows);
    }

    void of_groups(FoundSplit& found, NodeRandom& random) {
        const Groups& groups = node_.groups();
        found.constant = groups.count + (groups.missing_rows ? 1 : 0) < 2;
        if (found.constant || !groups.count) return;
        if (groups.count > 1) draw(found, random, groups.code[0], groups.code[groups.count - 1]);
        cut_search_.left.assign(node_.size(), 0.);
        size_t left_rows = 0, known_rows = 0;
        for (size_t g = 0; g < groups.count; ++g) {
            known_rows += groups.rows[g];
            if (groups.count < 2 || groups.code[g] > found.cut) continue;
            node_.add_groups(cut_search_.left, g, g + 1);
            left_rows += groups.rows[g];
        }
        missing_sums_ = groups.missing_sums;
        score_split(found, left_rows, known_rows, groups.missing_rows);
    }

    // For the absolute error, from the groups on either side.
    void of_medians(FoundSplit& found, NodeRandom& random) {
        const Groups& groups = node_.groups();
        size_t last = 0;  // the last group on the left
        if (groups.count > 1) {
            draw(found, random, groups.code[0], groups.code[groups.count - 1]);
            while (groups.code[last + 1] <= found.cut) ++last;
        }
        const Cut best = best_median_cut(
            node_, {nullptr, 0, groups.count, node_.known(), node_.learns_missing(), node_.rules().min_weight, last});
        if (best.merit == no_split) return;
        if (best.right == node_.columns().missing(node_.column())) put_known_apart(found, best);
        cut_search_.left.assign(node_.size(), 0.);
        node_.add_groups(cut_search_.left, 0, best.at + 1);
        cut_search_.score_split(found, best, groups.missing_rows ? &groups.missing_sums : nullptr);
    }

private:
    // All known cells on the left and the missing ones on the right.
    static void put_known_apart(FoundSplit& found, const Cut& best) {
        found.cut = best.left;
        found.next = best.right;
        found.random_threshold = std::numeric_limits<double>::infinity();
    }

    void draw(FoundSplit& found, NodeRandom& random, std::uint32_t least, std::uint32_t most) const {
        const double *low = node_.columns().smallest(node_.column()), *high = node_.columns().largest(node_.column());
        const double drawn = high[least] + random.uniform() * (low[most] - high[least]);
        // the last code that is not above, without a branch to guess
        const double* at = high + least;
        for (size_t n = most - least; n > 1;) {
            const size_t half = n / 2;
            at = at[half] <= drawn ? at + half : at;
            n -= half;
        }
        found.cut = static_cast<std::uint32_t>(at - high);
        found.next = found.cut + 1;
        found.random_threshold = drawn >= high[found.cut] && drawn < low[found.next] ? drawn : high[found.cut];
    }

    // Sums the rows up to a code into `cut_search_.left`; returns how many they are.
    size_t sum_left(const std::uint32_t* code, std::uint32_t cut) {
        const Instance* rows = node_.rows();
        const size_t m = node_.n_rows();
        Sums& left = cut_search_.left;
        left.assign(node_.size(), 0.);
        size_t count = 0;
        if constexpr (Target::fixed == 2 && std::is_same_v<Instance, ClassRow>) {
            // right or left, class: four rows in turn, so that no sum waits for the one before
            double cells[4][4] = {};
            for (size_t i = 0; i < m; ++i) cells[i % 4][2 * (code[i] <= cut) + (rows[i].k != 0)] += rows[i].w;
            for (size_t i = 0; i < m; ++i) count += code[i] <= cut;
            for (const auto& some : cells) left[0] += some[2], left[1] += some[3];
        } else {
            for (size_t i = 0; i < m; ++i)
                if (code[i] <= cut) node_.target().add(left.data(), rows[i]), ++count;
        }
        return count;
    }

    // One position, whose left part has the sums `cut_search_.left` if it has rows; or known cells against missing
    // ones.
    void score_split(FoundSplit& found, size_t left_rows, size_t known_rows, size_t missing_rows) {
        node_.set_missing(missing_sums_);
        CutPositions& positions = cut_search_.positions;
        for (size_t k = 0; left_rows && k < node_.size(); ++k)
            positions.sums[k * CutPositions::most] = cut_search_.left[k];
        positions.rows[0] = static_cast<double>(left_rows);
        positions.left[0] = found.cut;
        positions.right[0] = found.next;
        Cut best;
        const CutLimits limits{node_.known().data(), static_cast<double>(known_rows),
                               missing_rows && !node_.rules().fractions ? missing_sums_.data() : nullptr,
                               static_cast<double>(missing_rows), node_.rules().min_weight};
        if (left_rows) cut_search_.evaluate(1, 0, limits, best);
        const auto missing = node_.columns().missing(node_.column());
        cut_search_.evaluate_missing(limits, missing, best);
        if (best.merit != no_split && best.right == missing) put_known_apart(found, best);
        if (best.merit != no_split) cut_search_.score_split(found, best, missing_rows ? &missing_sums_ : nullptr);
    }

    SplitNode<Target>& node_;
    CutSearch<Target>& cut_search_;
    Sums missing_sums_;
};

}  // namespace lyceum::trees
