// A threshold drawn between the smallest and the largest value of a column.
#pragma once
#include <lyceum/trees/split/cut_positions.hpp>

namespace lyceum::trees {

template <class Target>
class DrawnThresholds {
public:
    using Instance = typename Target::Instance;

    DrawnThresholds(SplitNode<Target>& node, Cutting<Target>& cutting) : node_(node), cutting_(cutting) {}

    void of_rows(Found& found, NodeRandom& random) {
        const size_t m = node_.m;
        const std::uint32_t* code = node_.grouping.codes(node_.rows, m, node_.j);
        const auto missing = node_.columns.missing(node_.j);
        std::uint32_t least = missing, most = 0, absent_rows = 0;  // the code of missing cells is above all others
        for (size_t i = 0; i < m; ++i) {
            least = std::min(least, code[i]);
            most = std::max(most, code[i] == missing ? 0 : code[i]);
            absent_rows += code[i] == missing;
        }
        found.constant = least >= most && absent_rows == 0;
        if (least >= most) return;
        draw(found, random, least, most);
        node_.absent.assign(node_.size(), 0.);
        const size_t left_rows = sum_left(code, found.cut);
        for (size_t i = 0; i < m && absent_rows; ++i)
            if (code[i] == missing) node_.target.add(node_.absent.data(), node_.rows[i]);
        settle(found, left_rows, m - absent_rows, absent_rows);
    }

    void of_groups(Found& found, NodeRandom& random) {
        const Groups& groups = *node_.groups;
        found.constant = groups.count + (groups.absent_rows ? 1 : 0) < 2;
        if (groups.count < 2) return;
        draw(found, random, groups.code[0], groups.code[groups.count - 1]);
        cutting_.left.assign(node_.size(), 0.);
        size_t left_rows = 0, known_rows = 0;
        for (size_t g = 0; g < groups.count; ++g) {
            known_rows += groups.rows[g];
            if (groups.code[g] > found.cut) continue;
            node_.collect(cutting_.left, g, g + 1);
            left_rows += groups.rows[g];
        }
        node_.absent = groups.absent;
        settle(found, left_rows, known_rows, groups.absent_rows);
    }

private:
    void draw(Found& found, NodeRandom& random, std::uint32_t least, std::uint32_t most) const {
        const double *low = node_.columns.smallest(node_.j), *high = node_.columns.largest(node_.j);
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
        found.drawn = drawn >= high[found.cut] && drawn < low[found.next] ? drawn : high[found.cut];
    }

    // The sums of rows up to a code, into `cutting_.left`, and how many they are.
    size_t sum_left(const std::uint32_t* code, std::uint32_t cut) {
        const Instance* rows = node_.rows;
        const size_t m = node_.m;
        Sums& left = cutting_.left;
        left.assign(node_.size(), 0.);
        size_t count = 0;
        if constexpr (Target::fixed == 2 && std::is_same_v<Instance, Labelled>) {
            // right or left, class: four rows in turn, so that no sum waits for the one before
            double cells[4][4] = {};
            for (size_t i = 0; i < m; ++i) cells[i % 4][2 * (code[i] <= cut) + (rows[i].k != 0)] += rows[i].w;
            for (size_t i = 0; i < m; ++i) count += code[i] <= cut;
            for (const auto& some : cells) left[0] += some[2], left[1] += some[3];
        } else {
            for (size_t i = 0; i < m; ++i)
                if (code[i] <= cut) node_.target.add(left.data(), rows[i]), ++count;
        }
        return count;
    }

    // One place, whose left part has the sums `cutting_.left`.
    void settle(Found& found, size_t left_rows, size_t known_rows, size_t absent_rows) {
        node_.know(node_.absent.data());
        Places& places = cutting_.places;
        for (size_t k = 0; k < node_.size(); ++k) places.sums[k * Places::most] = cutting_.left[k];
        places.rows[0] = static_cast<double>(left_rows);
        places.left[0] = found.cut;
        places.right[0] = found.next;
        Cut best;
        const Whole whole{node_.known.data(), static_cast<double>(known_rows),
                          absent_rows && !node_.rules.fractions ? node_.absent.data() : nullptr,
                          static_cast<double>(absent_rows), node_.rules.min_weight};
        cutting_.weigh(1, 0, whole, best);
        if (best.merit != never) cutting_.settle(found, best, absent_rows ? &node_.absent : nullptr);
    }

    SplitNode<Target>& node_;
    Cutting<Target>& cutting_;
};

}  // namespace lyceum::trees
