// Rows of a node in the order of its columns: sorted once at the root, dealt out to the children at every split.
#pragma once
#include <memory>

#include <lyceum/trees/ranked_columns.hpp>

namespace lyceum::trees {

// Rows of a node in the order of every sorted column: code << 32 | the number of the row in the node. Children share
// the array of their parent, each a part of every column, unless rows came into several of them.
struct SortedRows {
    std::shared_ptr<std::uint64_t[]> keys;
    size_t stride = 0, from = 0;

    SortedRows() = default;
    SortedRows(std::int32_t columns, size_t m)
        : keys(columns ? new std::uint64_t[static_cast<size_t>(columns) * m] : nullptr), stride(m) {}
    std::uint64_t* column(std::int32_t slot) const { return keys.get() + static_cast<size_t>(slot) * stride + from; }
};

// Where the rows of a node went.
struct Dealing {
    std::vector<std::int32_t> child;      // -1: all of them
    std::vector<std::uint32_t> position;  // among the rows of the child; shared rows come after its own
    std::vector<size_t> counts;           // rows of every child, then those shared by all
    bool has_shared = false;              // some rows went to all children
};

// The rows in the order of a column: a counting sort by code.
template <class Instance>
void sort_rows(const TreeColumns& columns, size_t j, const std::vector<Instance>& rows, std::uint64_t* keys) {
    const auto n_codes = columns.missing(j);
    struct Starts;
    auto* start = zeroed<Starts, std::uint32_t>(n_codes + 2);
    columns.with_codes(j, [&](const auto* codes) {
        for (const auto& row : rows) ++start[codes[row.row] + 1u];
        for (size_t c = 1; c <= n_codes; ++c) start[c] += start[c - 1];
        for (size_t i = 0; i < rows.size(); ++i) {
            const std::uint64_t c = codes[rows[i].row];
            keys[start[c]++] = c << 32 | i;
        }
    });
}

// Deals the sorted rows of a node out to the columns `to` of its children, in their order; the pointers move on.
inline void deal_rows(const std::uint64_t* keys, size_t m, const Dealing& dealing, std::uint64_t** to,
                      size_t children) {
    struct Rest;
    constexpr std::uint64_t code = 0xFFFFFFFF00000000u;
    if (!dealing.has_shared && children == 2) {
        std::uint64_t *first = to[0], *rest = scratch<Rest, std::uint64_t>(m + 1);
        size_t left = 0, right = 0;
        for (size_t i = 0; i < m; ++i) {
            const auto at = static_cast<std::uint32_t>(keys[i]);
            const std::uint64_t moved = (keys[i] & code) | dealing.position[at];
            const bool second = dealing.child[at];
            first[left] = moved;  // no_split ahead of what is read
            rest[right] = moved;
            left += !second;
            right += second;
        }
        std::copy_n(rest, right, to[1]);
        return;
    }
    std::uint64_t* all = scratch<Rest, std::uint64_t>(m);
    std::copy_n(keys, m, all);
    for (size_t i = 0; i < m; ++i) {
        const auto at = static_cast<std::uint32_t>(all[i]);
        const auto side = dealing.child[at];
        if (side >= 0)
            *to[static_cast<size_t>(side)]++ = (all[i] & code) | dealing.position[at];
        else
            for (size_t c = 0; c < children; ++c)
                *to[c]++ = (all[i] & code) | (dealing.counts[c] + dealing.position[at]);
    }
}

}  // namespace lyceum::trees
