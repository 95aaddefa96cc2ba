// counts[offsets[j] + x_ij, k] += w_i r_ik over the cells that have a level, for responsibilities r_ik.
// Cost: n m K multiply-adds.
#pragma once
#include <lyceum/rows/category_codes.hpp>

namespace lyceum::moments {

inline void soft_counts(const rows::CodedRows& X, Matrix<const double> R, const double* w, rows::CodedColumns coded,
                        double* counts, InterruptPoll poll) {
    const size_t m = coded.m, K = R.cols;
    double* v = scratch<struct SoftCountWeights, double>(K);
    rows::visit_categories(X, coded, poll, [&](size_t begin, size_t count, const std::int32_t* rows) {
        for (size_t r = 0; r < count; ++r, rows += m) {
            const double wi = weight_of(w, begin + r);
            for (size_t k = 0; k < K; ++k) v[k] = wi * R.row(begin + r)[k];
            for (size_t j = 0; j < m; ++j) {
                if (rows[j] == rows::no_category) continue;
                double* __restrict table = counts + static_cast<size_t>(rows[j]) * K;
#pragma omp simd
                for (size_t k = 0; k < K; ++k) table[k] += v[k];
            }
        }
    });
}

}  // namespace lyceum::moments
