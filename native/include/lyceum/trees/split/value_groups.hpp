// The rows of a node by the value of one column: the sums of every value that occurs, in the order of the values.
#pragma once
#include <bit>
#include <numeric>

#include <lyceum/trees/ranked_columns.hpp>
#include <lyceum/trees/target_sums.hpp>

namespace lyceum::trees {

struct Groups {
    std::vector<std::uint32_t> code;
    std::vector<std::uint32_t> rows;   // how many
    std::vector<double> sums;          // (groups, size)
    std::vector<double> missing_sums;  // the sums of the rows whose cell is missing
    std::uint32_t missing_rows = 0;
    size_t count = 0;

    const double* of(size_t g, size_t size) const { return sums.data() + g * size; }
};

// Orders at most 128 distinct keys: the place of a key is the number of keys below it.
template <class Key>
void rank_sort(const Key* keys, size_t n, Key* sorted) {
    constexpr int L = lanes<Key>;
    alignas(64) Key padded[128 + 64];
    const size_t full = round_up(n, L);
    std::copy_n(keys, n, padded);
    std::fill(padded + n, padded + full, std::numeric_limits<Key>::max());
    for (size_t i = 0; i < n; ++i) {
        Vec<Int<Key>> below{};
        const Vec<Key> key = splat(keys[i]);
        for (size_t j = 0; j < full; j += L) below += load(padded + j) < key;
        Int<Key> place = 0;
        for (int l = 0; l < L; ++l) place -= below[l];
        sorted[place] = keys[i];
    }
}

// The numbers 0..m-1 in the order of their codes (ties in their own order), over the codes in 64 bits: code << 32 | i.
inline const std::uint64_t* sorted_by_code(const std::uint32_t* codes, size_t m, std::uint32_t n_codes) {
    struct Keys;
    struct Spare;
    std::uint64_t* keys = scratch<Keys, std::uint64_t>(m);
    const int bits = std::bit_width(n_codes);
    if (m <= 128 && bits <= 25) {
        std::uint32_t small[128], ordered[128];
        for (size_t i = 0; i < m; ++i) small[i] = codes[i] << 7 | static_cast<std::uint32_t>(i);
        rank_sort(small, m, ordered);
        for (size_t i = 0; i < m; ++i) keys[i] = std::uint64_t{ordered[i] >> 7} << 32 | (ordered[i] & 127);
        return keys;
    }
    for (size_t i = 0; i < m; ++i) keys[i] = std::uint64_t{codes[i]} << 32 | i;
    radix_sort(keys, scratch<Spare, std::uint64_t>(m), m, bits);
    return keys;
}

template <class Target>
class Grouping {
public:
    using Instance = typename Target::Instance;

    Grouping(const Target& target, const TreeColumns& columns) : target_(target), columns_(columns) {}

    // The codes of column j of the rows given.
    const std::uint32_t* codes(const Instance* rows, size_t m, size_t j) {
        struct Codes;
        std::uint32_t* out = scratch<Codes, std::uint32_t>(m);
        columns_.with_codes(j, [&](const auto* column) {
            for (size_t i = 0; i < m; ++i) out[i] = column[rows[i].row];
        });
        return out;
    }

    // `sorted` are the rows in the order of their codes, code << 32 | i, if that is known.
    const Groups& operator()(const Instance* rows, size_t m, size_t j, const std::uint64_t* sorted) {
        const auto n_codes = columns_.missing(j);
        groups_.count = 0;
        groups_.missing_sums.assign(target_.size(), 0.);
        groups_.missing_rows = 0;
        if (sorted) {
            by_order(rows, m, sorted, n_codes);
            return groups_;
        }
        const std::uint32_t* code = codes(rows, m, j);
        // counting costs the number of codes, sorting several times the number of rows
        if (n_codes <= 2 * m && (n_codes <= 4096 || n_codes * target_.size() <= (size_t{1} << 18)))
            by_counting(rows, m, code, n_codes);
        else
            by_order(rows, m, sorted_by_code(code, m, n_codes), n_codes);
        return groups_;
    }

private:
    void reserve(size_t most) {
        if (groups_.code.size() < most) {
            groups_.code.resize(most);
            groups_.rows.resize(most);
            groups_.sums.resize(most * target_.size());
        }
    }

    void by_counting(const Instance* rows, size_t m, const std::uint32_t* code, std::uint32_t n_codes) {
        struct Sums;
        struct Rows;
        const size_t size = target_.size();
        double* sums = zeroed<Sums, double>((n_codes + 1) * size);
        std::uint32_t* count = zeroed<Rows, std::uint32_t>(n_codes + 1);
        for (size_t i = 0; i < m; ++i) {
            target_.add(sums + code[i] * size, rows[i]);
            ++count[code[i]];
        }
        reserve(std::min<size_t>(m, n_codes));
        size_t g = 0;
        for (std::uint32_t c = 0; c < n_codes; ++c) {
            if (!count[c]) continue;
            groups_.code[g] = c;
            groups_.rows[g] = count[c];
            for (size_t s = 0; s < size; ++s) groups_.sums[g * size + s] = sums[c * size + s];
            ++g;
        }
        groups_.count = g;
        std::copy_n(sums + n_codes * size, size, groups_.missing_sums.data());
        groups_.missing_rows = count[n_codes];
    }

    void by_order(const Instance* rows, size_t m, const std::uint64_t* order, std::uint32_t n_codes) {
        const size_t size = target_.size();
        reserve(m);
        size_t g = 0, i = 0;
        while (i < m) {
            const auto c = static_cast<std::uint32_t>(order[i] >> 32);
            double* sums = c == n_codes ? groups_.missing_sums.data() : groups_.sums.data() + g * size;
            if (c != n_codes) std::fill_n(sums, size, 0.);
            const size_t start = i;
            do target_.add(sums, rows[static_cast<std::uint32_t>(order[i])]);
            while (++i < m && order[i] >> 32 == c);
            if (c == n_codes) {
                groups_.missing_rows = static_cast<std::uint32_t>(i - start);
            } else {
                groups_.code[g] = c;
                groups_.rows[g++] = static_cast<std::uint32_t>(i - start);
            }
        }
        groups_.count = g;
    }

    const Target& target_;
    const TreeColumns& columns_;
    Groups groups_;
};

}  // namespace lyceum::trees
