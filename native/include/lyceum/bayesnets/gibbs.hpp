// Gibbs sampling in a network of tables: every variable in turn is drawn from its distribution given all others,
// P(v | its parents) times the product of P(child | its parents) over its children. Cost of a sweep: states x (children
// + 1) look-ups for every variable that is not observed.
#pragma once
#include <cstdint>
#include <lyceum/bayesnets/clique_tree.hpp>
#include <lyceum/core/hash_uniform.hpp>
#include <lyceum/core/interrupt.hpp>
#include <vector>

namespace lyceum::bayesnets {

// Family f is variable f with its parents: members from first[f] to first[f + 1], the variable itself last, the axes of
// its table in this order, row-major from offset[f].
struct NetworkTables {
    const std::int32_t* states;
    size_t variables;
    const std::int32_t* members;
    const std::int32_t* first;
    const std::int64_t* offset;
    const double* tables;
};

class GibbsSampler {
public:
    explicit GibbsSampler(const NetworkTables& net)
        : net_(net), uses_(net.variables), first_state_(net.variables + 1, 0) {
        size_t most = 1;
        for (size_t f = 0; f < net.variables; ++f) {
            std::int64_t stride = 1;
            for (std::int32_t k = net.first[f + 1]; k-- > net.first[f];) {
                uses_[net.members[k]].push_back({static_cast<std::int32_t>(f), stride});
                stride *= net.states[net.members[k]];
            }
            first_state_[f + 1] = first_state_[f] + net.states[f];
            most = std::max(most, size_t(net.states[f]));
        }
        share_.resize(most);
    }

    // One sweep over the variables whose `observed` is false; `likelihood` of every state, or null.
    void sweep(std::int32_t* state, const std::vector<char>& observed, const double* likelihood, std::uint64_t seed,
               std::int64_t& draws) {
        for (size_t v = 0; v < net_.variables; ++v) {
            if (observed[v]) continue;
            const size_t K = net_.states[v];
            for (size_t k = 0; k < K; ++k) share_[k] = likelihood ? likelihood[first_state_[v] + k] : 1.0;
            for (const Use& use : uses_[v]) {
                const double* at =
                    net_.tables + net_.offset[use.family] + place(use.family, state) - state[v] * use.stride;
                for (size_t k = 0; k < K; ++k) share_[k] *= at[k * use.stride];
            }
            double total = 0, u;
            for (size_t k = 0; k < K; ++k) total += share_[k];
            hash_uniform(draws++, seed, &u, 1);
            if (!(total > 0)) continue;  // the state before had probability 0 too: keep it
            u *= total;
            size_t k = 0;
            for (double sum = share_[0]; k + 1 < K && sum < u;) sum += share_[++k];
            state[v] = static_cast<std::int32_t>(k);
        }
    }

private:
    struct Use {
        std::int32_t family;
        std::int64_t stride;
    };

    std::int64_t place(std::int32_t f, const std::int32_t* state) const {
        std::int64_t at = 0;
        for (std::int32_t k = net_.first[f]; k < net_.first[f + 1]; ++k)
            at = at * net_.states[net_.members[k]] + state[net_.members[k]];
        return at;
    }

    NetworkTables net_;
    std::vector<std::vector<Use>> uses_;
    std::vector<size_t> first_state_;
    std::vector<double> share_;
};

}  // namespace lyceum::bayesnets
