// Counts of combinations of states, and the scores of families (a variable and its parents) that follow from them.
// Codes are column by column: all rows of a variable side by side. The largest value of the type means missing.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/log_gamma.hpp>
#include <lyceum/core/views.hpp>
#include <vector>

namespace lyceum::bayesnets {

template <class Code>
struct CodedColumns {
    const Code* data;  // (variables, rows)
    size_t variables, rows;
    const std::int32_t* states;  // of every variable
    const double* w;             // of every row, or null

    static constexpr Code missing = std::numeric_limits<Code>::max();
    const Code* column(size_t v) const { return data + v * rows; }
};

enum class Score : int { likelihood = 0, bdeu = 1, k2 = 2 };

// What a score is: log-likelihood minus `penalty` per parameter, or BDeu with an equivalent sample size, or K2.
struct ScoreRule {
    Score kind;
    double penalty, sample_size;
};

// The place of every row in the table of some variables, row-major; -1 where one is missing.
template <class Code>
void joint_places(const CodedColumns<Code>& columns, const std::int32_t* variables, size_t count,
                  std::vector<std::int32_t>& places) {
    places.assign(columns.rows, 0);
    for (size_t k = 0; k < count; ++k) {
        const Code* codes = columns.column(variables[k]);
        const std::int32_t size = columns.states[variables[k]];
        for (size_t i = 0; i < columns.rows; ++i)
            places[i] = (places[i] < 0 || codes[i] == columns.missing) ? -1 : places[i] * size + codes[i];
    }
}

// The weight of every cell of (places, variable): counts has (cells of places) x (states of the variable).
// Four tables in turn, as adding to one cell again and again waits for the last addition.
template <class Code>
void count_pairs(const CodedColumns<Code>& columns, const std::vector<std::int32_t>& places, size_t variable,
                 size_t cells, std::vector<double>& counts, std::vector<std::uint32_t>& turns) {
    const Code* codes = columns.column(variable);
    const size_t K = columns.states[variable], size = cells * K, n = columns.rows;
    counts.assign(size, 0.0);
    if (columns.w) {
        for (size_t i = 0; i < n; ++i)
            if (places[i] >= 0 && codes[i] != columns.missing) counts[places[i] * K + codes[i]] += columns.w[i];
        return;
    }
    // one more cell for rows with a missing value, so that the loop has no branch
    turns.assign(4 * (size + 1), 0);
    std::uint32_t* t = turns.data();
    const size_t stride = size + 1;
    const auto place = [&](size_t i) {
        const bool known = places[i] >= 0 && codes[i] != columns.missing;
        return known ? size_t(places[i]) * K + codes[i] : size;
    };
    const auto count = [&](const auto& at) {
        size_t i = 0;
        for (; i + 4 <= n; i += 4) {
            ++t[at(i)];
            ++t[stride + at(i + 1)];
            ++t[2 * stride + at(i + 2)];
            ++t[3 * stride + at(i + 3)];
        }
        for (; i < n; ++i) ++t[at(i)];
    };
    bool complete = true;
    for (size_t i = 0; i < n; ++i) complete &= (places[i] >= 0) & (codes[i] != columns.missing);
    if (complete)
        count([&](size_t i) { return size_t(places[i]) * K + codes[i]; });
    else
        count(place);
    for (size_t c = 0; c < size; ++c) counts[c] = double(t[c]) + t[stride + c] + t[2 * stride + c] + t[3 * stride + c];
}

// The score of counts N[j][k] of q parent configurations and r states; counts are scaled to `weight` rows in all, so
// that families with different missing cells can be compared.
//   likelihood  sum_jk N_jk log(N_jk / N_j) - penalty q (r - 1)
//   bdeu        sum_j [lgamma(a / q) - lgamma(a / q + N_j) + sum_k lgamma(a / qr + N_jk) - lgamma(a / qr)]
//   k2          sum_j [lgamma(r) - lgamma(r + N_j) + sum_k lgamma(1 + N_jk)]
inline double family_score(const double* counts, size_t q, size_t r, double weight, const ScoreRule& rule) {
    double total = 0, score = 0;
    for (size_t c = 0; c < q * r; ++c) total += counts[c];
    if (total <= 0) return rule.kind == Score::likelihood ? -rule.penalty * double(q) * double(r - 1) : 0.0;
    const double scale = weight / total;
    const double a = rule.sample_size / double(q), b = a / double(r);
    const double log_a = log_gamma(a), log_b = log_gamma(b), log_r = log_gamma(double(r));
    for (size_t j = 0; j < q; ++j) {
        const double* N = counts + j * r;
        double sum = 0;
        for (size_t k = 0; k < r; ++k) sum += N[k];
        if (sum <= 0) continue;
        sum *= scale;
        if (rule.kind == Score::likelihood) {
            double inner = 0;
            for (size_t k = 0; k < r; ++k)
                if (N[k] > 0) inner += N[k] * scale * std::log(N[k] * scale / sum);
            score += inner;
        } else if (rule.kind == Score::bdeu) {
            score += log_a - log_gamma(a + sum);
            for (size_t k = 0; k < r; ++k)
                if (N[k] > 0) score += log_gamma(b + N[k] * scale) - log_b;
        } else {
            score += log_r - log_gamma(double(r) + sum);
            for (size_t k = 0; k < r; ++k)
                if (N[k] > 0) score += log_gamma(1.0 + N[k] * scale);
        }
    }
    return rule.kind == Score::likelihood ? score - rule.penalty * double(q) * double(r - 1) : score;
}

// The score of `child` with its parents and one more, for every candidate: the places of (parents, child) are found
// once. A family of more than `most_cells` cells scores -inf. Cost: rows x candidates.
template <class Code>
void score_additions(const CodedColumns<Code>& columns, std::int32_t child, const std::int32_t* parents,
                     size_t n_parents, const std::int32_t* candidates, size_t n_candidates, double weight,
                     const ScoreRule& rule, size_t most_cells, double* scores, InterruptPoll poll) {
    std::vector<std::int32_t> members(parents, parents + n_parents), places;
    members.push_back(child);
    const size_t r = columns.states[child];
    double cells = 1;
    for (const std::int32_t v : members) cells *= columns.states[v];
    if (cells > double(most_cells)) {
        for (size_t i = 0; i < n_candidates; ++i) scores[i] = -std::numeric_limits<double>::infinity();
        return;
    }
    joint_places(columns, members.data(), members.size(), places);
    std::vector<double> counts, family;
    std::vector<std::uint32_t> turns;
    const size_t q = size_t(cells) / r;
    for (size_t i = 0; i < n_candidates; ++i) {
        const size_t extra = columns.states[candidates[i]];
        if (cells * double(extra) > double(most_cells)) {
            scores[i] = -std::numeric_limits<double>::infinity();
            continue;
        }
        count_pairs(columns, places, candidates[i], q * r, counts, turns);
        // from (parents, child, extra) to (parents, extra, child)
        family.resize(counts.size());
        for (size_t j = 0; j < q; ++j)
            for (size_t k = 0; k < r; ++k)
                for (size_t e = 0; e < extra; ++e) family[(j * extra + e) * r + k] = counts[(j * r + k) * extra + e];
        scores[i] = family_score(family.data(), q * extra, r, weight, rule);
        poll(columns.rows);
    }
}

// The weight of every combination of states of some variables, row-major, the last one fastest.
template <class Code>
void joint_counts(const CodedColumns<Code>& columns, const std::int32_t* variables, size_t count, double* out) {
    std::vector<std::int32_t> places;
    joint_places(columns, variables, count, places);
    for (size_t i = 0; i < columns.rows; ++i)
        if (places[i] >= 0) out[places[i]] += weight_of(columns.w, i);
}

}  // namespace lyceum::bayesnets
