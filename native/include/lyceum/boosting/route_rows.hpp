// Routes binned rows through a tree; a row whose category has no side stays at the node.
#pragma once
#include <lyceum/boosting/losses.hpp>
#include <lyceum/boosting/tree_grower.hpp>

namespace lyceum::boosting {

inline constexpr std::uint16_t nowhere = 65535;

struct Routes {
    const std::int32_t *column, *bin, *child;  // column < 0: a leaf
    const std::uint8_t* missing_left;
    const std::uint8_t* sides;  // [nodes][slots]: 0 left, 1 right, 2 stay
    size_t nodes;
};

// node[i] of every row, or with `rest` only of those whose node is `nowhere`.
inline void route(const Table& table, const Routes& tree, bool rest, std::uint16_t* node, ThreadTeam& team) {
    over_blocks(table.n, team, [&](size_t, size_t begin, size_t end) {
        for (size_t row = begin; row < end; ++row) {
            if (rest && node[row] != nowhere) continue;
            size_t at = 0;
            while (tree.column[at] >= 0) {
                const auto column = static_cast<size_t>(tree.column[at]);
                const int code = table.rows[row * table.step + column];
                int side;
                if (code == table.n_bins[column])
                    side = !tree.missing_left[at];
                else if (table.is_category[column])
                    side = tree.sides[at * slots + static_cast<size_t>(code)];
                else
                    side = code > tree.bin[at];
                if (side > 1) break;
                at = static_cast<size_t>(tree.child[at] + side);
            }
            node[row] = static_cast<std::uint16_t>(at);
        }
    });
}

}  // namespace lyceum::boosting
