// Rows through many small trees without walking: cells become ranks among the thresholds of the forest once, then every
// node of a tree is tested for a tile of rows at a time.
//
// The ends of a tree (leaves, and nodes where a row may stay) are numbered from left to right. A row's place is the
// number of the first end that it can still reach. A test moves the rows at place `from` whose rank is above `cut` to
// place `to`; a node's tests come before those of its children, so that in the end the places are the ends. Nodes with
// several children are chains of such tests; nodes with categories test a branch that is looked up.
// Cost: rows · (columns · log thresholds + nodes / lanes + trees).
#pragma once
#include <limits>
#include <lyceum/core/simd.hpp>
#include <lyceum/trees/route/threshold_ranks.hpp>
#include <lyceum/trees/route/tree_view.hpp>
#include <vector>

namespace lyceum::trees {

inline constexpr size_t scan_tile = 256;

// R: int8_t or int16_t. Ranks are stored less `rank_bias`, so that comparisons are of signed numbers.
template <class R>
inline constexpr int rank_bias = -int{std::numeric_limits<R>::min()};
template <class R>
inline constexpr size_t most_ranks = size_t{1} << (8 * sizeof(R));

template <class R>
struct ScanTest {
    std::int32_t table;  // where the branches of the codes start, for a lookup; −1 for a test
    std::uint16_t column;
    R cut, from, to;
};

// The columns of ranks of one column of the table. A missing cell has the lowest rank in `low` and the highest in
// `high`: a test uses the one that sends it where it must go. `codes` has the categories, then unknown, then missing.
template <class T>
struct RankedColumn {
    std::vector<double> thresholds;
    ThresholdRanks<T> ranks;
    std::int32_t n_codes = -1;
    int low = -1, high = -1, codes = -1;
};

template <class T, class R>
class ScanForest {
public:
    static constexpr int lookup = 0;  // the column that branches are looked up into

    // Whether ranks and places of these trees fit into R.
    static bool fits(const std::vector<TreeView>& trees, size_t columns) {
        std::vector<std::vector<double>> thresholds(columns);
        for (const auto& tree : trees) {
            if (ends(tree) > most_ranks<R>) return false;
            for (size_t i = 0; i < tree.nodes; ++i) {
                each_threshold(tree, i, [&](double t) { thresholds[tree.feature[i]].push_back(t); });
                if (tree.split(i) > SplitKind::intervals && size_t(tree.n_codes[i]) + 2 > most_ranks<R>) return false;
                if (tree.split(i) != SplitKind::leaf && size_t(tree.n_children[i]) + 1 > most_ranks<R>) return false;
            }
        }
        return 3 * columns < 65535 && std::all_of(thresholds.begin(), thresholds.end(),
                                                  [](auto& list) { return sorted(list).size() < most_ranks<R>; });
    }

    ScanForest(const std::vector<TreeView>& trees, size_t columns) : ranked_(columns) {
        for (const auto& tree : trees)
            for (size_t i = 0; i < tree.nodes; ++i) learn_column(tree, i);
        for (auto& column : ranked_) column.ranks = ThresholdRanks<T>(sorted(column.thresholds));
        starts_.push_back(0);
        end_starts_.push_back(0);
        for (const auto& tree : trees) append(tree);
    }

    size_t n_columns() const { return static_cast<size_t>(next_column_); }
    // The nodes of a tree in the order of its places.
    const std::int32_t* ends_of(size_t tree) const { return ends_.data() + end_starts_[tree]; }
    size_t n_ends(size_t tree) const { return end_starts_[tree + 1] - end_starts_[tree]; }

    // columns (n_columns, scan_tile) = the ranks of `count` rows of d cells.
    void rank(const T* cells, size_t count, size_t d, R* columns) const {
        T line[scan_tile] = {};
        for (size_t j = 0; j < ranked_.size(); ++j) {
            const auto& column = ranked_[j];
            if (column.low < 0 && column.high < 0 && column.codes < 0) continue;
            for (size_t i = 0; i < count; ++i) line[i] = cells[i * d + j];
            if (column.codes >= 0) code_line(column, line, columns + column.codes * scan_tile);
            if (column.low >= 0 || column.high >= 0) rank_line(column, line, columns);
        }
    }

    // places (scan_tile) = the ends of the rows of a tile in one tree.
    void scan(size_t tree, R* columns, R* places) const {
        constexpr int L = vector_bytes / static_cast<int>(sizeof(R)), at_once = 4;
        static_assert(scan_tile % (L * at_once) == 0);
        for (size_t first = 0; first < scan_tile; first += L * at_once)
            scan_part<L, at_once>(tests_.data() + starts_[tree], tests_.data() + starts_[tree + 1], columns + first,
                                  places + first);
    }

    // How many ends a tree has; nodes below a leaf are ignored.
    static size_t ends(const TreeView& tree) {
        size_t count = 1;
        for (size_t i = 0; i < tree.nodes; ++i)
            if (tree.split(i) != SplitKind::leaf) count += size_t(tree.n_children[i]) - 1 + may_stay(tree, i);
        return count;
    }

private:
    static std::vector<double>& sorted(std::vector<double>& list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        return list;
    }

    // A category without a branch, or unknown, ends at the node.
    static bool may_stay(const TreeView& tree, size_t i) { return tree.split(i) > SplitKind::intervals; }

    template <class Function>
    static void each_threshold(const TreeView& tree, size_t i, Function function) {
        if (tree.split(i) == SplitKind::threshold) function(tree.threshold[i]);
        if (tree.split(i) == SplitKind::intervals)
            for (int c = 0; c + 1 < tree.n_children[i]; ++c) function(tree.cuts[tree.table[i] + c]);
    }

    void learn_column(const TreeView& tree, size_t i) {
        if (tree.split(i) == SplitKind::leaf) return;
        auto& column = ranked_[tree.feature[i]];
        each_threshold(tree, i, [&](double t) { column.thresholds.push_back(t); });
        if (may_stay(tree, i)) column.n_codes = std::max(column.n_codes, tree.n_codes[i]);
    }

    std::uint16_t use(int& column) {
        if (column < 0) column = next_column_++;
        return static_cast<std::uint16_t>(column);
    }

    void append(const TreeView& tree) {
        struct Waiting {
            std::int32_t node;
            std::int32_t place;
        };
        const size_t first = end_starts_.back();
        ends_.resize(first + ends(tree));
        std::vector<Waiting> waiting{{0, 0}};
        std::int32_t places = 1;
        while (!waiting.empty()) {
            const auto [node, place] = waiting.back();
            waiting.pop_back();
            const auto i = static_cast<size_t>(node);
            if (tree.split(i) == SplitKind::leaf) {
                ends_[first + place] = node;
                continue;
            }
            if (may_stay(tree, i)) append_lookup(tree, i);
            for (int b = 0; b < tree.n_children[i] + may_stay(tree, i); ++b) {
                const std::int32_t here = b == 0 ? place : places++;
                if (b > 0) append_test(tree, i, b, b == 1 ? place : here - 1, here);
                if (b < tree.n_children[i])
                    waiting.push_back({tree.child[i] + b, here});
                else
                    ends_[first + here] = node;
            }
        }
        starts_.push_back(tests_.size());
        end_starts_.push_back(ends_.size());
    }

    // Rows at `from` that go to branch b or above move on to place `to`.
    void append_test(const TreeView& tree, size_t i, int b, std::int32_t from, std::int32_t to) {
        auto& column = ranked_[tree.feature[i]];
        if (may_stay(tree, i)) {
            tests_.push_back({-1, lookup, R(b - 1 - rank_bias<R>), R(from), R(to)});
            return;
        }
        const double t = tree.split(i) == SplitKind::threshold ? tree.threshold[i] : tree.cuts[tree.table[i] + b - 1];
        const auto& all = column.thresholds;
        const auto cut = std::lower_bound(all.begin(), all.end(), t) - all.begin();
        const auto where = use(tree.missing[i] >= b ? column.high : column.low);
        tests_.push_back({-1, where, R(cut - rank_bias<R>), R(from), R(to)});
    }

    void append_lookup(const TreeView& tree, size_t i) {
        auto& column = ranked_[tree.feature[i]];
        const auto where = use(column.codes);
        tests_.push_back({static_cast<std::int32_t>(tables_.size()), where, 0, 0, 0});
        for (std::int32_t code = 0; code < column.n_codes + 2; ++code) {
            int branch = code < tree.n_codes[i] ? tree.branches[tree.table[i] + code] : stays;
            if (code == column.n_codes + 1) branch = tree.missing[i];
            tables_.push_back(R((branch < 0 ? tree.n_children[i] : branch) - rank_bias<R>));
        }
    }

    static void code_line(const RankedColumn<T>& column, const T* line, R* out) {
        const T most = static_cast<T>(column.n_codes);
        for (size_t i = 0; i < scan_tile; ++i) {
            const T cell = line[i];
            const T code = cell != cell ? most + 1 : cell >= 0 && cell < most ? cell : most;
            out[i] = static_cast<R>(static_cast<std::int32_t>(code));
        }
    }

    void rank_line(const RankedColumn<T>& column, const T* line, R* columns) const {
        std::int32_t ranks[scan_tile];
        column.ranks.template of<scan_tile>(line, ranks);
        const auto highest = static_cast<std::int32_t>(column.thresholds.size());
        if (R* low = columns + column.low * std::ptrdiff_t{scan_tile}; column.low >= 0)
            for (size_t i = 0; i < scan_tile; ++i) low[i] = R(ranks[i] - rank_bias<R>);
        if (R* high = columns + column.high * std::ptrdiff_t{scan_tile}; column.high >= 0)
            for (size_t i = 0; i < scan_tile; ++i)
                high[i] = R((line[i] != line[i] ? highest : ranks[i]) - rank_bias<R>);
    }

    template <int L, int AtOnce>
    void scan_part(const ScanTest<R>* test, const ScanTest<R>* end, R* columns, R* places) const {
        using V = typename VectorOf<R, L>::type;
        using U = std::make_unsigned_t<R>;
        V place[AtOnce] = {};
        for (; test != end; ++test) {
            const R* line = columns + test->column * scan_tile;
            if (test->table >= 0) {
                const R* branches = tables_.data() + test->table;
                for (int i = 0; i < L * AtOnce; ++i) columns[i] = branches[static_cast<U>(line[i])];
                continue;
            }
            const V cut = V{} + test->cut, from = V{} + test->from, change = V{} + R(test->from ^ test->to);
#pragma GCC unroll 4
            for (int v = 0; v < AtOnce; ++v) {
                V cells;
                std::memcpy(&cells, line + v * L, sizeof cells);
                place[v] ^= (cells > cut) & (place[v] == from) & change;
            }
        }
        std::memcpy(places, place, sizeof place);
    }

    std::vector<RankedColumn<T>> ranked_;
    int next_column_ = 1;
    std::vector<ScanTest<R>> tests_;
    std::vector<R> tables_;
    std::vector<size_t> starts_, end_starts_;
    std::vector<std::int32_t> ends_;
};

}  // namespace lyceum::trees
