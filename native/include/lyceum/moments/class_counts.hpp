// counts[offsets[j] + x_ij, code_i] += w_i over the cells that have a category. Cost: n m additions.
// Small tables have four copies, used by rows in turn, so that an addition rarely waits for the one before it.
#pragma once
#include <lyceum/rows/category_codes.hpp>

namespace lyceum::moments {

inline void class_counts(const rows::CodedRows& X, Codes codes, const double* w, rows::CodedColumns coded,
                         double* counts, InterruptPoll poll) {
    constexpr size_t small = 2048;
    const size_t m = coded.m, K = codes.classes, cells = static_cast<size_t>(coded.offsets[m]) * K;
    const size_t copies = cells <= small && X.rows >= 256 ? 4 : 1;
    double* tables = copies == 1 ? counts : zeroed<struct CountTables, double>(copies * cells);
    rows::visit_categories(X, coded, poll, [&](size_t begin, size_t count, const std::int32_t* rows) {
        for (size_t r = 0; r < count; ++r, rows += m) {
            const auto k = codes(begin + r);
            if (k < 0) continue;
            const double wi = weight_of(w, begin + r);
            double* table = tables + (r % copies) * cells + k;
            for (size_t j = 0; j < m; ++j)
                if (rows[j] != rows::no_category) table[static_cast<size_t>(rows[j]) * K] += wi;
        }
    });
    for (size_t copy = 0; copies > 1 && copy < copies; ++copy)
        for (size_t at = 0; at < cells; ++at) counts[at] += tables[copy * cells + at];
}

}  // namespace lyceum::moments
