// Belief propagation (Hugin) in a junction tree, for L rows of evidence at a time: every cell holds L numbers side by
// side, so that each step of the algorithm is one vector operation. Cost: about six passes over the cells of all
// cliques for all marginals, two for the probability of the evidence alone.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <lyceum/bayes_networks/clique_tree.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/simd.hpp>

namespace lyceum::bayes_networks {

// Evidence of many rows: the state of every variable (negative: not observed), and a likelihood of every state.
struct Evidence {
    const std::int32_t* codes = nullptr;  // (n, variables) or null
    const double* likelihood = nullptr;   // (n, states of all variables) or null
    size_t n = 0;
};

template <size_t L>
class Propagation {
    using Lane = typename VectorOf<double, static_cast<int>(L)>::type;  // one cell of L rows

    static Lane get(const double* p) {
        Lane v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
    static void put(double* p, Lane v) { std::memcpy(p, &v, sizeof v); }

public:
    Propagation(const CliqueTree& tree, const double* tables)
        : tree_(tree),
          tables_(tables),
          work_(tree.cells * L),
          up_(tree.messages * L),
          down_(largest_separator() * L),
          weight_(tree.n_states() * L),
          shares_(tree.cliques.size() * L),
          absorbed_(tree.cliques.size()) {}

    // log P(evidence) of rows from `start`; -inf where it is impossible. With `Max`, of the best states of all others.
    template <bool Max = false>
    void collect(const Evidence& evidence, size_t start, double* log_probability) {
        load(evidence, start);
        double scale[L];
        std::fill_n(scale, L, 1.0);
        std::fill_n(log_probability, L, 0.0);
        std::fill(absorbed_.begin(), absorbed_.end(), 0u);
        for (size_t c = tree_.cliques.size(); c-- > 0;) {
            const Clique& clique = tree_.cliques[c];
            double* message = up_.data() + clique.message * L;
            reduce_rest<Max>(clique, message);
            rescale(message, clique.separator, shares_.data() + c * L, scale, log_probability);
            if (clique.parent < 0) continue;
            const Clique& parent = tree_.cliques[clique.parent];
            absorb(parent, clique, message);
            // a clique with many children would underflow by the product of their messages
            double unused[L];
            if (++absorbed_[clique.parent] % 16 == 0)
                rescale(work_.data() + parent.offset * L, parent.size, unused, scale, log_probability);
        }
        for (size_t l = 0; l < L; ++l) log_probability[l] += std::log(scale[l]);
    }

    // After `collect`: beliefs of all cliques for which `wanted` is true, and of those between them and the root.
    void distribute(const std::vector<char>& wanted) {
        for (size_t c = 1; c < tree_.cliques.size(); ++c) {
            if (!wanted[c]) continue;
            const Clique& clique = tree_.cliques[c];
            const Clique& parent = tree_.cliques[clique.parent];
            const double* from = work_.data() + parent.offset * L;
            std::fill_n(down_.data(), clique.separator * L, 0.0);
            for (size_t i = 0; i < parent.size; ++i) {
                double* to = down_.data() + size_t(clique.to_separator[i]) * L;
                put(to, get(to) + get(from + i * L));
            }
            const double* up = up_.data() + clique.message * L;
            const Lane share = get(shares_.data() + c * L);  // the message was divided, the cells were not
            const size_t rest = clique.size / clique.separator;
            double* cells = work_.data() + clique.offset * L;
            for (size_t s = 0; s < clique.separator; ++s) {
                const Lane before = get(up + s * L);
                const Lane ratio = before > 0.0 ? get(down_.data() + s * L) / before * share : Lane{};
                for (size_t r = 0; r < rest; ++r, cells += L) put(cells, get(cells) * ratio);
            }
        }
    }

    // After `distribute`: P(variable | evidence) as (states, L); NaN where the evidence is impossible.
    void marginal(size_t v, double* out) const {
        const Clique& clique = tree_.cliques[tree_.home[v]];
        const size_t K = tree_.states[v], inner = tree_.home_stride[v], outer = clique.size / (K * inner);
        const double* cells = work_.data() + clique.offset * L;
        std::fill_n(out, K * L, 0.0);
        for (size_t o = 0; o < outer; ++o)
            for (size_t k = 0; k < K; ++k)
                for (size_t i = 0; i < inner; ++i, cells += L) put(out + k * L, get(out + k * L) + get(cells));
        normalize(out, K);
    }

    // After `distribute`: add w[l] P(cell | evidence) to every cell of every clique; impossible rows add nothing.
    void add_beliefs(const double* w, double* sums) const {
        for (const Clique& clique : tree_.cliques) {
            const double* cells = work_.data() + clique.offset * L;
            Lane total{}, share;
            for (size_t i = 0; i < clique.size; ++i) total += get(cells + i * L);
            for (size_t l = 0; l < L; ++l) share[l] = total[l] > 0 ? w[l] / total[l] : 0.0;
            for (size_t i = 0; i < clique.size; ++i) {
                const Lane part = get(cells + i * L) * share;
                double sum = 0;
                for (size_t l = 0; l < L; ++l) sum += part[l];
                sums[clique.offset + i] += sum;
            }
        }
    }

    // After `collect<true>`: the states that make the product largest; of equal ones the first.
    void trace_back(size_t lane, std::int32_t* states) const {
        for (const Clique& clique : tree_.cliques) {
            const size_t rest = clique.size / clique.separator;
            size_t at = 0;
            for (size_t k = 0, n = clique.variables.size(), size = clique.separator; k < n && size > 1; ++k) {
                size /= tree_.states[clique.variables[k]];
                at += size * states[clique.variables[k]];
            }
            const double* cells = work_.data() + (clique.offset + at * rest) * L + lane;
            size_t best = 0;
            for (size_t r = 1; r < rest; ++r)
                if (cells[r * L] > cells[best * L]) best = r;
            for (size_t k = 0; k < clique.variables.size(); ++k)
                if (clique.strides[k] < rest)
                    states[clique.variables[k]] =
                        static_cast<std::int32_t>(best / clique.strides[k]) % tree_.states[clique.variables[k]];
        }
    }

private:
    size_t largest_separator() const {
        size_t largest = 1;
        for (const Clique& clique : tree_.cliques) largest = std::max(largest, clique.separator);
        return largest;
    }

    void load(const Evidence& evidence, size_t start) {
        for (size_t i = 0; i < tree_.cells; ++i) put(work_.data() + i * L, tables_[i] + Lane{});
        for (size_t v = 0; v < tree_.n_variables(); ++v) {
            if (!weigh(evidence, start, v)) continue;
            const Clique& clique = tree_.cliques[tree_.home[v]];
            const size_t K = tree_.states[v], inner = tree_.home_stride[v], outer = clique.size / (K * inner);
            double* cells = work_.data() + clique.offset * L;
            for (size_t o = 0; o < outer; ++o)
                for (size_t k = 0; k < K; ++k) {
                    const Lane factor = get(weight_.data() + k * L);
                    for (size_t i = 0; i < inner; ++i, cells += L) put(cells, get(cells) * factor);
                }
        }
    }

    // The likelihood of every state of v in L rows; false if nothing is known of it in any of them.
    bool weigh(const Evidence& evidence, size_t start, size_t v) {
        const size_t V = tree_.n_variables(), T = tree_.n_states(), K = tree_.states[v];
        bool known = evidence.likelihood != nullptr;
        for (size_t l = 0; l < L; ++l) {
            const size_t row = std::min(start + l, evidence.n - 1);
            const std::int32_t code = evidence.codes ? evidence.codes[row * V + v] : -1;
            known |= code >= 0;
            for (size_t k = 0; k < K; ++k)
                weight_[k * L + l] =
                    (code < 0 || size_t(code) == k) *
                    (evidence.likelihood ? evidence.likelihood[row * T + tree_.first_state[v] + k] : 1.0);
        }
        return known;
    }

    template <bool Max>
    void reduce_rest(const Clique& clique, double* message) const {
        const size_t rest = clique.size / clique.separator;
        const double* cells = work_.data() + clique.offset * L;
        for (size_t s = 0; s < clique.separator; ++s, message += L) {
            Lane total{};
            for (size_t r = 0; r < rest; ++r, cells += L) {
                const Lane cell = get(cells);
                total = Max ? (cell > total ? cell : total) : total + cell;
            }
            put(message, total);
        }
    }

    // Messages sum to 1, so that they do not underflow; what they were divided by is kept.
    static void rescale(double* message, size_t size, double* kept, double* scale, double* log_probability) {
        Lane total{}, share;
        for (size_t s = 0; s < size; ++s) total += get(message + s * L);
        for (size_t l = 0; l < L; ++l) {
            scale[l] *= total[l];
            if (total[l] > 0 && scale[l] < 1e-150) {
                log_probability[l] += std::log(scale[l]);
                scale[l] = 1.0;
            }
            share[l] = total[l] > 0 ? 1.0 / total[l] : 0.0;
        }
        put(kept, share);
        for (size_t s = 0; s < size; ++s) put(message + s * L, get(message + s * L) * share);
    }

    void absorb(const Clique& parent, const Clique& clique, const double* message) {
        double* cells = work_.data() + parent.offset * L;
        for (size_t i = 0; i < parent.size; ++i, cells += L) {
            put(cells, get(cells) * get(message + size_t(clique.to_separator[i]) * L));
        }
    }

    static void normalize(double* values, size_t K) {
        for (size_t l = 0; l < L; ++l) {
            double total = 0;
            for (size_t k = 0; k < K; ++k) total += values[k * L + l];
            for (size_t k = 0; k < K; ++k)
                values[k * L + l] = total > 0 ? values[k * L + l] / total : std::numeric_limits<double>::quiet_NaN();
        }
    }

    const CliqueTree& tree_;
    const double* tables_;
    std::vector<double> work_, up_, down_, weight_, shares_;
    std::vector<unsigned> absorbed_;
};

}  // namespace lyceum::bayes_networks
