#include <lyceum/bayesnets/family_scores.hpp>
#include <lyceum/bayesnets/gibbs.hpp>
#include <lyceum/bayesnets/order_search.hpp>
#include <lyceum/bayesnets/propagation.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::bayesnets;

// a -> b -> c with 2, 3 and 2 states: cliques (a, b) and (b, c), the separator (b) first in the second.
struct Chain {
    CliqueTree tree = make_clique_tree({2, 3, 2}, {0, 1, 1, 2}, {0, 2, 4}, {-1, 0}, {0, 1}, {0, 0, 1});
    Doubles1 tables{0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.4, 0.6, 0.5, 0.5, 0.9, 0.1};

    double joint(int a, int b, int c) const { return tables[a * 3 + b] * tables[6 + b * 2 + c]; }
};

template <size_t L>
void test_marginals_are_sums_over_the_joint(std::vector<std::int32_t> codes, bool calibrated, bool all) {
    const Chain chain;
    const size_t n = codes.size() / 3;
    Doubles1 tables = chain.tables;
    const Doubles1 marginals = calibrate(chain.tree, tables);
    Propagation<L> work(chain.tree, calibrated ? tables.data() : chain.tables.data(),
                        calibrated ? marginals.data() : nullptr);
    for (size_t start = 0; start < n; start += L) {
        double log_p[L], marginal[3 * L];
        for (int v = 0; v < 3; ++v) {
            work.collect({codes.data(), nullptr, n}, start, log_p, {v}, all);
            work.distribute();
            work.marginal(v, marginal);
            for (size_t l = 0; l < L && start + l < n; ++l) {
                const std::int32_t* row = codes.data() + (start + l) * 3;
                double want[3] = {}, total = 0;
                for (int a = 0; a < 2; ++a)
                    for (int b = 0; b < 3; ++b)
                        for (int c = 0; c < 2; ++c) {
                            const int at[3] = {a, b, c};
                            bool fits = true;
                            for (int k = 0; k < 3; ++k) fits &= row[k] < 0 || row[k] == at[k];
                            if (fits) want[at[v]] += chain.joint(a, b, c), total += chain.joint(a, b, c);
                        }
                CLOSE(log_p[l], std::log(total), 1e-12);
                for (int k = 0; k < chain.tree.states[v]; ++k) CLOSE(marginal[k * L + l], want[k] / total, 1e-12);
            }
        }
    }
}

void test_the_best_states_are_found() {
    const Chain chain;
    Propagation<1> work(chain.tree, chain.tables.data());
    const std::vector<std::int32_t> codes{-1, -1, 1};
    double log_p;
    std::int32_t states[3] = {};
    work.collect<true>({codes.data(), nullptr, 1}, 0, &log_p);
    work.trace_back(0, states);
    double best = 0;
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 3; ++b) best = std::max(best, chain.joint(a, b, 1));
    CLOSE(log_p, std::log(best), 1e-12);
    CLOSE(chain.joint(states[0], states[1], states[2]), best, 1e-12);
}

void test_bad_trees_are_refused() {
    THROWS(make_clique_tree({2, 2}, {0, 1}, {0, 2}, {0}, {0}, {0, 0}));
    THROWS(make_clique_tree({2, 2}, {0, 5}, {0, 2}, {-1}, {0}, {0, 0}));
    THROWS(make_clique_tree({2, 2}, {0}, {0, 1}, {-1}, {0}, {0, 0}));
    THROWS(make_clique_tree({2, 0}, {0, 1}, {0, 2}, {-1}, {0}, {0, 0}));
}

template <class Code>
void test_additions_are_scores_of_counts(bool weighted, bool missing) {
    Random random;
    const size_t n = 203;
    const std::vector<std::int32_t> states{2, 3, 4, 2};
    std::vector<Code> codes;
    for (const auto K : states)
        for (const auto code : random.codes(n, missing ? -1 : 0, K))
            codes.push_back(code < 0 ? std::numeric_limits<Code>::max() : Code(code));
    const auto w = random.uniform(n);
    const CodedColumns<Code> columns{codes.data(), 4, n, states.data(), weighted ? w.data() : nullptr};
    const std::vector<std::int32_t> parents{2}, candidates{1, 3};
    for (const auto kind : {Score::likelihood, Score::bdeu, Score::k2}) {
        const ScoreRule rule{kind, 1.5, 10.0};
        double scores[2];
        score_additions(columns, 0, parents.data(), 1, candidates.data(), 2, 200.0, rule, 1000, scores,
                        InterruptPoll());
        for (int i = 0; i < 2; ++i) {
            const std::vector<std::int32_t> family{2, candidates[i], 0};
            Doubles1 counts(size_t(4 * states[candidates[i]] * 2), 0.0);
            joint_counts(columns, family.data(), 3, counts.data());
            CLOSE(scores[i], family_score(counts.data(), counts.size() / 2, 2, 200.0, rule), 1e-10);
        }
        score_additions(columns, 0, parents.data(), 1, candidates.data(), 2, 200.0, rule, 3, scores, InterruptPoll());
        CHECK(scores[0] == -infinity);
    }
}

void test_gibbs_visits_states_as_often_as_they_are_probable() {
    // a with P(1) = 0.3; b a noisy copy of it
    const std::vector<std::int32_t> states{2, 2}, members{0, 0, 1}, first{0, 1, 3};
    const std::vector<std::int64_t> offset{0, 2};
    const Doubles1 tables{0.7, 0.3, 0.8, 0.2, 0.3, 0.7};
    GibbsSampler sampler({states.data(), 2, members.data(), first.data(), offset.data(), tables.data()});
    std::int32_t state[2] = {0, 0};
    std::int64_t draws = 0;
    double ones = 0;
    for (int s = 0; s < 40000; ++s) {
        sampler.sweep(state, {0, 0}, nullptr, 5, draws);
        ones += state[1];
    }
    CLOSE(ones / 40000, 0.7 * 0.2 + 0.3 * 0.7, 0.02);
}

// 2 -> 1 -> 0 scores 6, which no order that begins with 0 can have; {0, 2} adds nothing to {0} and is left out.
void test_an_order_search_finds_the_best_chain() {
    const std::vector<std::int32_t> members{1, 2, 0, 2};
    const std::int32_t* m = members.data();
    KnownFamilies families(3);
    families.add(0, {0, 0, m, m});
    families.add(0, {3, 1, m, m + 1});
    families.add(1, {0, 2, m, m});
    families.add(1, {3, 3, m + 1, m + 2});
    families.add(1, {2, 4, m + 2, m + 3});
    families.add(1, {2, 5, m + 2, m + 4});
    families.add(2, {0, 6, m, m});
    InterruptPoll poll;
    families.finish(poll);
    CHECK(families.best(1, {1, 0, 1})->number == 3);
    CHECK(families.best(1, {1, 0, 0})->number == 4);
    std::vector<std::int32_t> order{0, 1, 2};
    CLOSE(OrderSearch(families, 1, poll).run(order, 5), 6, 0);
    CHECK((order == std::vector<std::int32_t>{2, 1, 0}));
}

int main() {
    for (const auto& codes :
         {std::vector<std::int32_t>{-1, -1, -1},
          {0, -1, 1, -1, 2, -1, 1, -1, 0},
          {-1, 0, -1, 1, 1, 1, -1, -1, 1, 0, 0, 0, -1, -1, -1, 1, -1, -1, -1, -1, 0, -1, 2, 0, 1, 2, -1, 0, -1, -1}}) {
        for (const bool calibrated : {false, true})
            for (const bool all : {false, true}) {
                test_marginals_are_sums_over_the_joint<1>(codes, calibrated, all);
                test_marginals_are_sums_over_the_joint<8>(codes, calibrated, all);
            }
    }
    test_the_best_states_are_found();
    test_bad_trees_are_refused();
    for (const bool weighted : {false, true})
        for (const bool missing : {false, true}) {
            test_additions_are_scores_of_counts<std::uint8_t>(weighted, missing);
            test_additions_are_scores_of_counts<std::uint16_t>(weighted, missing);
        }
    test_gibbs_visits_states_as_often_as_they_are_probable();
    test_an_order_search_finds_the_best_chain();
    return failures;
}
