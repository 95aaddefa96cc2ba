// Belief propagation (Hugin) in a junction tree, for L rows of evidence at a time: every cell holds L numbers side by
// side, so that each step of the algorithm is one vector operation. Cost: about six passes over the cells of all
// cliques for all marginals. With tables P(clique | separator), a part of the tree without evidence sends ones: only
// the cliques between evidence and query are touched, from the lowest clique above all of them, whose table is
// P(clique).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <lyceum/bayesnets/clique_tree.hpp>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/simd.hpp>
#include <memory>
#include <utility>

namespace lyceum::bayesnets {

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
    static Lane larger(Lane a, Lane b) { return a > b ? a : b; }

    // Four sums in turn, as an addition must wait for the one before it.
    static Lane sum_of(const double* cells, size_t n) {
        Lane a{}, b{}, c{}, d{};
        size_t i = 0;
        for (; i + 4 <= n; i += 4) {
            a += get(cells + i * L);
            b += get(cells + (i + 1) * L);
            c += get(cells + (i + 2) * L);
            d += get(cells + (i + 3) * L);
        }
        for (; i < n; ++i) a += get(cells + i * L);
        return (a + b) + (c + d);
    }

public:
    // `tables` are any factors of the joint, one per clique; with `marginals`, P(clique), they are P(clique |
    // separator).
    Propagation(const CliqueTree& tree, const double* tables, const double* marginals = nullptr)
        : tree_(tree),
          tables_(tables),
          marginals_(marginals),
          work_(std::make_unique_for_overwrite<double[]>(tree.cells * L)),
          up_(tree.messages * L),
          down_(largest_separator() * L),
          weight_(tree.n_states() * L),
          shares_(tree.cliques.size() * L),
          absorbed_(tree.cliques.size()),
          active_(tree.cliques.size()),
          reach_(tree.cliques.size()),
          filled_(tree.cliques.size()) {}

    // log P(evidence) of rows from `start`; -inf where it is impossible. With `Max`, of the best states of all others.
    // What `distribute` is to reach: the homes of `wanted` variables, or every clique if `all`.
    template <bool Max = false>
    void collect(const Evidence& evidence, size_t start, double* log_probability,
                 const std::vector<std::int32_t>& wanted = {}, bool all = false) {
        scope(evidence, start, wanted, all, Max);
        load(evidence, start);
        double scale[L];
        std::fill_n(scale, L, 1.0);
        std::fill_n(log_probability, L, 0.0);
        std::fill(absorbed_.begin(), absorbed_.end(), 0u);
        for (size_t c = tree_.cliques.size(); c-- > root_;) {
            if (!active_[c]) continue;
            fill(c);
            const Clique& clique = tree_.cliques[c];
            if (c == root_) {
                Lane total{};
                const double* cells = work_.get() + clique.offset * L;
                if (!Max)
                    total = sum_of(cells, clique.size);
                else
                    for (size_t i = 0; i < clique.size; ++i) total = larger(total, get(cells + i * L));
                for (size_t l = 0; l < L; ++l) scale[l] *= total[l];
                continue;
            }
            double* message = up_.data() + clique.message * L;
            reduce_rest<Max>(clique, message);
            rescale(message, clique.separator, shares_.data() + c * L, scale, log_probability);
            const Clique& parent = tree_.cliques[clique.parent];
            absorb(size_t(clique.parent), clique, message);
            // a clique with many children would underflow by the product of their messages
            double unused[L];
            if (++absorbed_[clique.parent] % 16 == 0)
                rescale(work_.get() + parent.offset * L, parent.size, unused, scale, log_probability);
        }
        fill(root_);
        for (size_t l = 0; l < L; ++l) log_probability[l] += std::log(scale[l]);
    }

    // After `collect`: beliefs of all cliques that it was to reach.
    void distribute() {
        for (size_t c = root_ + 1; c < tree_.cliques.size(); ++c) {
            if (!reach_[c]) continue;
            const Clique& clique = tree_.cliques[c];
            const Clique& parent = tree_.cliques[clique.parent];
            const double* from = work_.get() + parent.offset * L;
            std::fill_n(down_.data(), clique.separator * L, 0.0);
            // neighboring cells often go to one place: they are added up before they are stored
            for (size_t i = 0; i < parent.size;) {
                const std::int32_t place = clique.to_separator[i];
                Lane sum{};
                for (; i < parent.size && clique.to_separator[i] == place; ++i) sum += get(from + i * L);
                double* to = down_.data() + size_t(place) * L;
                put(to, get(to) + sum);
            }
            const double* up = up_.data() + clique.message * L;
            const Lane share = get(shares_.data() + c * L);  // the message was divided, the cells were not
            const size_t rest = clique.size / clique.separator;
            double* cells = work_.get() + clique.offset * L;
            const double* table = filled_[c] ? nullptr : table_of(c);
            filled_[c] = 1;
            for (size_t s = 0; s < clique.separator; ++s) {
                Lane ratio = get(down_.data() + s * L);
                if (active_[c]) {
                    const Lane before = get(up + s * L);
                    ratio = before > 0.0 ? ratio / before * share : Lane{};
                }
                if (table)
                    for (size_t r = 0; r < rest; ++r, cells += L) put(cells, *table++ * ratio);
                else
                    for (size_t r = 0; r < rest; ++r, cells += L) put(cells, get(cells) * ratio);
            }
        }
    }

    // After `distribute`: P(variable | evidence) as (states, L); NaN where the evidence is impossible.
    void marginal(size_t v, double* out) const {
        const Clique& clique = tree_.cliques[tree_.home[v]];
        const size_t K = tree_.states[v], inner = tree_.home_stride[v], outer = clique.size / (K * inner);
        const double* cells = work_.get() + clique.offset * L;
        std::fill_n(out, K * L, 0.0);
        for (size_t o = 0; o < outer; ++o)
            for (size_t k = 0; k < K; ++k) {
                put(out + k * L, get(out + k * L) + sum_of(cells, inner));
                cells += inner * L;
            }
        normalize(out, K);
    }

    // After `distribute`: add w[l] P(cell | evidence) to every cell of every clique; impossible rows add nothing.
    void add_beliefs(const double* w, double* sums) const {
        for (const Clique& clique : tree_.cliques) {
            const double* cells = work_.get() + clique.offset * L;
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
            const double* cells = work_.get() + (clique.offset + at * rest) * L + lane;
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

    // Which cliques send a message (those with evidence below them), which are reached, and where both meet.
    void scope(const Evidence& evidence, size_t start, const std::vector<std::int32_t>& wanted, bool all, bool max) {
        const bool whole = max || !marginals_;
        std::fill(active_.begin(), active_.end(), whole);
        std::fill(reach_.begin(), reach_.end(), all);
        known_.clear();
        for (size_t v = 0; v < tree_.n_variables(); ++v)
            if (is_known(evidence, start, v)) known_.push_back(static_cast<std::int32_t>(v));
        root_ = 0;
        if (!whole && !all && wanted.size() <= 4) {
            bool first = true;
            const auto join = [&](const std::vector<std::int32_t>& variables) {
                for (const auto v : variables) {
                    root_ = first ? size_t(tree_.home[v]) : meet(root_, size_t(tree_.home[v]));
                    first = false;
                }
            };
            join(wanted);
            join(known_);
        }
        if (!whole)
            for (const auto v : known_) mark(active_, size_t(tree_.home[v]));
        if (!all)
            for (const auto v : wanted) mark(reach_, size_t(tree_.home[v]));
    }

    void mark(std::vector<char>& flags, size_t c) const {
        for (; !flags[c]; c = size_t(tree_.cliques[c].parent)) {
            flags[c] = 1;
            if (c == root_) return;
        }
    }

    // The lowest clique above both: parents have smaller numbers.
    size_t meet(size_t a, size_t b) const {
        while (a != b) {
            if (a < b) std::swap(a, b);
            a = size_t(tree_.cliques[a].parent);
        }
        return a;
    }

    // A clique is filled when it is first needed: with its own evidence here, else by the first message to it.
    const double* table_of(size_t c) const {
        return (c == root_ && marginals_ ? marginals_ : tables_) + tree_.cliques[c].offset;
    }

    void fill(size_t c) {
        if (filled_[c]) return;
        filled_[c] = 1;
        const double* from = table_of(c);
        double* cells = work_.get() + tree_.cliques[c].offset * L;
        for (size_t i = 0; i < tree_.cliques[c].size; ++i) put(cells + i * L, from[i] + Lane{});
    }

    void load(const Evidence& evidence, size_t start) {
        std::fill(filled_.begin(), filled_.end(), 0);
        for (const auto known : known_) {
            const auto v = static_cast<size_t>(known);
            weigh(evidence, start, v);
            fill(size_t(tree_.home[v]));
            const Clique& clique = tree_.cliques[tree_.home[v]];
            const size_t K = tree_.states[v], inner = tree_.home_stride[v], outer = clique.size / (K * inner);
            double* cells = work_.get() + clique.offset * L;
            for (size_t o = 0; o < outer; ++o)
                for (size_t k = 0; k < K; ++k) {
                    const Lane factor = get(weight_.data() + k * L);
                    for (size_t i = 0; i < inner; ++i, cells += L) put(cells, get(cells) * factor);
                }
        }
    }

    bool is_known(const Evidence& evidence, size_t start, size_t v) const {
        if (evidence.likelihood) return true;
        if (!evidence.codes) return false;
        bool known = false;
        for (size_t row = start; row < std::min(start + L, evidence.n); ++row)
            known |= evidence.codes[row * tree_.n_variables() + v] >= 0;
        return known;
    }

    // The likelihood of every state of v in L rows.
    void weigh(const Evidence& evidence, size_t start, size_t v) {
        const size_t V = tree_.n_variables(), T = tree_.n_states(), K = tree_.states[v];
        for (size_t l = 0; l < L; ++l) {
            const size_t row = std::min(start + l, evidence.n - 1);
            const std::int32_t code = evidence.codes ? evidence.codes[row * V + v] : -1;
            for (size_t k = 0; k < K; ++k)
                weight_[k * L + l] =
                    (code < 0 || size_t(code) == k) *
                    (evidence.likelihood ? evidence.likelihood[row * T + tree_.first_state[v] + k] : 1.0);
        }
    }

    template <bool Max>
    void reduce_rest(const Clique& clique, double* message) const {
        const size_t rest = clique.size / clique.separator;
        const double* cells = work_.get() + clique.offset * L;
        for (size_t s = 0; s < clique.separator; ++s, message += L) {
            Lane total{};
            if (!Max)
                total = sum_of(cells, rest);
            else
                for (size_t r = 0; r < rest; ++r) total = larger(total, get(cells + r * L));
            cells += rest * L;
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

    void absorb(size_t parent, const Clique& clique, const double* message) {
        const size_t size = tree_.cliques[parent].size;
        double* cells = work_.get() + tree_.cliques[parent].offset * L;
        const auto factor = [&](size_t i) { return get(message + size_t(clique.to_separator[i]) * L); };
        if (filled_[parent]) {
            for (size_t i = 0; i < size; ++i) put(cells + i * L, get(cells + i * L) * factor(i));
            return;
        }
        filled_[parent] = 1;
        const double* from = table_of(parent);
        for (size_t i = 0; i < size; ++i) put(cells + i * L, from[i] * factor(i));
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
    const double* marginals_;
    std::unique_ptr<double[]> work_;
    std::vector<double> up_, down_, weight_, shares_;
    std::vector<unsigned> absorbed_;
    std::vector<char> active_, reach_, filled_;
    std::vector<std::int32_t> known_;
    size_t root_ = 0;
};

// From any factors of the joint to P(clique) and, in place of the factors, P(clique | separator), with 0 / 0 = 0.
inline std::vector<double> calibrate(const CliqueTree& tree, std::vector<double>& tables) {
    Propagation<1> work(tree, tables.data());
    double log_p;
    work.collect({}, 0, &log_p, {}, true);
    work.distribute();
    std::vector<double> marginals(tree.cells, 0.0);
    const double one = 1.0;
    work.add_beliefs(&one, marginals.data());
    for (const Clique& clique : tree.cliques) {
        const size_t rest = clique.size / clique.separator;
        for (size_t s = 0; s < clique.separator; ++s) {
            double total = 0;
            const double* from = marginals.data() + clique.offset + s * rest;
            for (size_t r = 0; r < rest; ++r) total += from[r];
            double* to = tables.data() + clique.offset + s * rest;
            for (size_t r = 0; r < rest; ++r) to[r] = total > 0 ? from[r] / total : 0.0;
        }
    }
    return marginals;
}

}  // namespace lyceum::bayesnets
