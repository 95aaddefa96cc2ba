// Bayesian networks: junction trees, scores of families, Gibbs sampling.
#include <algorithm>
#include <lyceum/bayesnets/family_scores.hpp>
#include <lyceum/bayesnets/gibbs.hpp>
#include <lyceum/bayesnets/order_search.hpp>
#include <lyceum/bayesnets/propagation.hpp>

#include "arrays.hpp"

using namespace nb::literals;
namespace bn = lyceum::bayesnets;

namespace {

using Integers = Array<const std::int32_t, 1>;
using Numbers = Array<const double, 1>;

std::vector<std::int32_t> values(const Integers& array) { return {array.data(), array.data() + array.shape(0)}; }

void expect_variables(const Integers& variables, std::size_t count) {
    for (std::size_t i = 0; i < variables.shape(0); ++i)
        expect(variables.data()[i] >= 0 && std::size_t(variables.data()[i]) < count, "there is no such variable");
}

class JunctionTree {
public:
    JunctionTree(Integers states, Integers members, Integers first, Integers parent, Integers n_separator,
                 Integers home, Numbers tables)
        : tree_(bn::make_clique_tree(values(states), values(members), values(first), values(parent),
                                     values(n_separator), values(home))),
          tables_(tables.data(), tables.data() + tables.shape(0)) {
        expect(tables_.size() == tree_.cells, "tables do not have the cells of the cliques");
        marginals_ = bn::calibrate(tree_, tables_);
    }

    void propagate(Maybe<Array<const std::int32_t, 2>> codes, Maybe<Array<const double, 2>> likelihood, Integers wanted,
                   Array<double, 2> marginals, Array<double, 1> log_probability, Weights w,
                   Maybe<Array<double, 1>> beliefs) const {
        const std::size_t n = log_probability.shape(0);
        const auto evidence = evidence_of(codes, likelihood, n);
        expect_variables(wanted, tree_.n_variables());
        std::size_t width = 0;
        for (std::size_t i = 0; i < wanted.shape(0); ++i) width += tree_.states[wanted.data()[i]];
        expect_shape("marginals", marginals, {n, width});
        const double* weights = data_or_null("w", w, {n});
        double* sums = data_or_null("beliefs", beliefs, {tree_.cells});
        if (n >= 4 && tree_.cells < (std::size_t{1} << 21))
            run<8>(evidence, values(wanted), marginals.data(), width, log_probability.data(), weights, sums);
        else
            run<1>(evidence, values(wanted), marginals.data(), width, log_probability.data(), weights, sums);
    }

    void most_probable(Maybe<Array<const std::int32_t, 2>> codes, Maybe<Array<const double, 2>> likelihood,
                       Array<std::int32_t, 2> states, Array<double, 1> log_probability) const {
        const std::size_t n = log_probability.shape(0), V = tree_.n_variables();
        const auto evidence = evidence_of(codes, likelihood, n);
        expect_shape("states", states, {n, V});
        bn::Propagation<1> work(tree_, tables_.data());
        auto poll = signals();
        std::fill_n(states.data(), n * V, 0);
        for (std::size_t i = 0; i < n; ++i) {
            work.collect<true>(evidence, i, log_probability.data() + i);
            work.trace_back(0, states.data() + i * V);
            poll(8 * tree_.cells);
        }
    }

    std::size_t n_cells() const { return tree_.cells; }

private:
    bn::Evidence evidence_of(const Maybe<Array<const std::int32_t, 2>>& codes,
                             const Maybe<Array<const double, 2>>& likelihood, std::size_t n) const {
        return {data_or_null("codes", codes, {n, tree_.n_variables()}),
                data_or_null("likelihood", likelihood, {n, tree_.n_states()}), n};
    }

    template <std::size_t L>
    void run(const bn::Evidence& evidence, const std::vector<std::int32_t>& wanted, double* marginals,
             std::size_t width, double* log_probability, const double* w, double* beliefs) const {
        bn::Propagation<L> work(tree_, tables_.data(), marginals_.data());
        auto poll = signals();
        const bool down = beliefs || !wanted.empty();
        std::vector<double> marginal;
        for (std::size_t start = 0; start < evidence.n; start += L) {
            const std::size_t lanes = std::min(L, evidence.n - start);
            double log_p[L], weight[L] = {};
            work.collect(evidence, start, log_p, wanted, beliefs != nullptr);
            std::copy_n(log_p, lanes, log_probability + start);
            if (down) work.distribute();
            std::size_t column = 0;
            for (const auto v : wanted) {
                const std::size_t K = tree_.states[v];
                marginal.resize(K * L);
                work.marginal(v, marginal.data());
                for (std::size_t l = 0; l < lanes; ++l)
                    for (std::size_t k = 0; k < K; ++k)
                        marginals[(start + l) * width + column + k] = marginal[k * L + l];
                column += K;
            }
            if (beliefs) {
                for (std::size_t l = 0; l < lanes; ++l) weight[l] = w ? w[start + l] : 1.0;
                work.add_beliefs(weight, beliefs);
            }
            poll(8 * tree_.cells * L);
        }
    }

    bn::CliqueTree tree_;
    std::vector<double> tables_, marginals_;  // P(clique | separator) and P(clique)
};

template <class Code>
bn::CodedColumns<Code> columns_of(const Array<const Code, 2>& codes, const Integers& states, const Weights& w) {
    expect_shape("states", states, {codes.shape(0)});
    return {codes.data(), codes.shape(0), codes.shape(1), states.data(), data_or_null("w", w, {codes.shape(1)})};
}

template <class Code>
void score_additions(Array<const Code, 2> codes, Integers states, Weights w, std::int32_t child, Integers parents,
                     Integers candidates, double weight, int kind, double penalty, double sample_size,
                     std::size_t most_cells, Array<double, 1> scores) {
    const auto columns = columns_of(codes, states, w);
    expect(kind >= 0 && kind <= 2, "there is no such score");
    expect(child >= 0 && std::size_t(child) < columns.variables, "there is no such variable");
    expect_variables(parents, columns.variables);
    expect_variables(candidates, columns.variables);
    expect_shape("scores", scores, {candidates.shape(0)});
    bn::score_additions(columns, child, parents.data(), parents.shape(0), candidates.data(), candidates.shape(0),
                        weight, {bn::Score(kind), penalty, sample_size}, most_cells, scores.data(), signals());
}

double family_score(Array<const double, 2> counts, double weight, int kind, double penalty, double sample_size) {
    expect(kind >= 0 && kind <= 2, "there is no such score");
    return bn::family_score(counts.data(), counts.shape(0), counts.shape(1), weight,
                            {bn::Score(kind), penalty, sample_size});
}

template <class Code>
void joint_counts(Array<const Code, 2> codes, Integers states, Weights w, Integers variables, Array<double, 1> out) {
    const auto columns = columns_of(codes, states, w);
    expect_variables(variables, columns.variables);
    std::size_t cells = 1;
    for (std::size_t i = 0; i < variables.shape(0); ++i) cells *= states.data()[variables.data()[i]];
    expect_shape("out", out, {cells});
    bn::joint_counts(columns, variables.data(), variables.shape(0), out.data());
}

// Family f is children[f] with the ascending parents from first[f] to first[f + 1].
double order_search(Integers children, Integers members, Integers first, Numbers scores, Array<std::int32_t, 1> order,
                    std::size_t kicks, std::uint64_t seed, Array<std::int32_t, 1> chosen) {
    const std::size_t n = order.shape(0), F = children.shape(0);
    expect_shape("first", first, {F + 1});
    expect_shape("scores", scores, {F});
    expect_shape("chosen", chosen, {n});
    expect_variables(children, n);
    expect_variables(members, n);
    std::vector<std::int32_t> sorted(order.data(), order.data() + n);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < n; ++i) expect(sorted[i] == std::int32_t(i), "order does not have every variable once");
    bn::KnownFamilies families(n);
    for (std::size_t f = 0; f < F; ++f) {
        const std::int32_t begin = first.data()[f], end = first.data()[f + 1];
        expect(begin >= 0 && begin <= end && std::size_t(end) <= members.shape(0), "first does not fit members");
        families.add(children.data()[f],
                     {scores.data()[f], std::int32_t(f), members.data() + begin, members.data() + end});
    }
    auto poll = signals();
    families.finish(poll);
    std::vector<std::int32_t> found(order.data(), order.data() + n);
    const double score = bn::OrderSearch(families, seed, poll).run(found, kicks);
    std::copy(found.begin(), found.end(), order.data());
    std::vector<char> before(n, 0);
    for (const std::int32_t v : found) {
        const bn::KnownFamily* family = families.best(v, before);
        chosen.data()[v] = family ? family->number : -1;
        before[v] = 1;
    }
    return score;
}

// Sweeps of one chain; counts[b] is how often every combination of the query's states came up in batch b.
void gibbs(Integers states, Integers members, Integers first, Array<const std::int64_t, 1> offset, Numbers tables,
           Array<std::int32_t, 1> state, Array<const bool, 1> observed, Maybe<Numbers> likelihood, Integers query,
           std::size_t burn_in, std::size_t sweeps, std::uint64_t seed, Array<double, 2> counts) {
    const std::size_t V = states.shape(0);
    expect_shape("first", first, {V + 1});
    expect_shape("offset", offset, {V});
    expect_shape("state", state, {V});
    expect_shape("observed", observed, {V});
    expect_variables(members, V);
    expect_variables(query, V);
    std::size_t n_states = 0, cells = 1;
    for (std::size_t v = 0; v < V; ++v) n_states += states.data()[v];
    for (std::size_t i = 0; i < query.shape(0); ++i) cells *= states.data()[query.data()[i]];
    for (std::size_t f = 0; f < V; ++f) {
        expect(first.data()[f] >= 0 && first.data()[f] < first.data()[f + 1] &&
                   std::size_t(first.data()[f + 1]) <= members.shape(0),
               "first does not fit members");
        std::int64_t size = 1;
        for (std::int32_t k = first.data()[f]; k < first.data()[f + 1]; ++k) size *= states.data()[members.data()[k]];
        expect(offset.data()[f] >= 0 && std::size_t(offset.data()[f] + size) <= tables.shape(0),
               "tables are too short");
        expect(state.data()[f] >= 0 && state.data()[f] < states.data()[f], "state is not a state of its variable");
    }
    expect(counts.shape(0) > 0, "there must be at least one batch");
    expect_shape("counts", counts, {counts.shape(0), cells});
    const double* weights = likelihood ? data_or_null("likelihood", likelihood, {n_states}) : nullptr;
    bn::GibbsSampler sampler({states.data(), V, members.data(), first.data(), offset.data(), tables.data()});
    const std::vector<char> fixed(observed.data(), observed.data() + V);
    auto poll = signals();
    std::int64_t draws = 0;
    const std::size_t batches = counts.shape(0);
    for (std::size_t s = 0; s < burn_in + sweeps; ++s) {
        sampler.sweep(state.data(), fixed, weights, seed, draws);
        poll(64 * V);
        if (s < burn_in) continue;
        std::size_t at = 0;
        for (std::size_t i = 0; i < query.shape(0); ++i)
            at = at * states.data()[query.data()[i]] + state.data()[query.data()[i]];
        counts.data()[((s - burn_in) * batches / sweeps) * cells + at] += 1.0;
    }
}

template <class Code>
void bind(nb::module_& m) {
    m.def("score_additions", &score_additions<Code>, "codes"_a.noconvert(), "states"_a.noconvert(),
          "w"_a.noconvert().none(), "child"_a, "parents"_a.noconvert(), "candidates"_a.noconvert(), "weight"_a,
          "kind"_a, "penalty"_a, "sample_size"_a, "most_cells"_a, "scores"_a.noconvert(), ReleaseGil(),
          "Set scores to those of a child with its parents and one candidate more, for every candidate.");
    m.def("joint_counts", &joint_counts<Code>, "codes"_a.noconvert(), "states"_a.noconvert(), "w"_a.noconvert().none(),
          "variables"_a.noconvert(), "out"_a.noconvert(), ReleaseGil(),
          "Add the weight of every combination of the states of some variables.");
}

}  // namespace

void bind_bayesnets(nb::module_& m) {
    nb::class_<JunctionTree>(m, "JunctionTree", "A junction tree with its tables, for many queries.")
        .def(nb::init<Integers, Integers, Integers, Integers, Integers, Integers, Numbers>(), "states"_a.noconvert(),
             "members"_a.noconvert(), "first"_a.noconvert(), "parent"_a.noconvert(), "n_separator"_a.noconvert(),
             "home"_a.noconvert(), "tables"_a.noconvert())
        .def("propagate", &JunctionTree::propagate, "codes"_a.noconvert().none(), "likelihood"_a.noconvert().none(),
             "wanted"_a.noconvert(), "marginals"_a.noconvert(), "log_probability"_a.noconvert(),
             "w"_a.noconvert().none() = nb::none(), "beliefs"_a.noconvert().none() = nb::none(), ReleaseGil(),
             "Set the marginals of the wanted variables and the log probability of every row of evidence; add the "
             "expected weight of every cell of every clique to beliefs.")
        .def("most_probable", &JunctionTree::most_probable, "codes"_a.noconvert().none(),
             "likelihood"_a.noconvert().none(), "states"_a.noconvert(), "log_probability"_a.noconvert(), ReleaseGil(),
             "Set the most probable states of all variables given every row of evidence, and their log probability.")
        .def_prop_ro("n_cells", &JunctionTree::n_cells, "Cells of all cliques.");
    m.def("family_score", &family_score, "counts"_a.noconvert(), "weight"_a, "kind"_a, "penalty"_a, "sample_size"_a,
          "The score of a table of counts: parent configurations x states.");
    m.def("order_search", &order_search, "children"_a.noconvert(), "members"_a.noconvert(), "first"_a.noconvert(),
          "scores"_a.noconvert(), "order"_a.noconvert(), "kicks"_a, "seed"_a, "chosen"_a.noconvert(), ReleaseGil(),
          "Improve the order of the variables, under which each takes the best known family whose parents come before "
          "it; set chosen to the number of every variable's family, and return the sum of their scores.");
    m.def("gibbs", &gibbs, "states"_a.noconvert(), "members"_a.noconvert(), "first"_a.noconvert(),
          "offset"_a.noconvert(), "tables"_a.noconvert(), "state"_a.noconvert(), "observed"_a.noconvert(),
          "likelihood"_a.noconvert().none(), "query"_a.noconvert(), "burn_in"_a, "sweeps"_a, "seed"_a,
          "counts"_a.noconvert(), ReleaseGil(),
          "Run a chain of Gibbs sampling on from state; add how often every combination of the query's states came up, "
          "batch by batch.");
    bind<std::uint8_t>(m);
    bind<std::uint16_t>(m);
}
