// The layout of a junction tree: cliques of discrete variables, every table row-major with the variables that a clique
// shares with its parent (its separator) first. A message to the parent is then a sum over contiguous cells, and the
// parent's cells find their separator cell by a map. Parents come before their children, so that one loop goes down the
// tree and the same loop backwards goes up.
#pragma once
#include <cstdint>
#include <lyceum/core/views.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace lyceum::bayesnets {

struct Clique {
    std::vector<std::int32_t> variables;
    std::vector<size_t> strides;  // of every variable
    size_t size = 1;              // cells
    size_t separator = 1;         // cells of the separator; the first clique has one cell
    size_t offset = 0;            // of its table among all tables
    size_t message = 0;           // of its separator among all separators
    std::int32_t parent = -1;
    std::vector<std::int32_t> to_separator;  // of every cell of the parent
};

struct CliqueTree {
    std::vector<std::int32_t> states;  // of every variable
    std::vector<size_t> first_state;   // of every variable among all states; one more than variables
    std::vector<std::int32_t> home;    // a clique that has the variable
    std::vector<size_t> home_stride;   // of the variable in its home
    std::vector<Clique> cliques;
    size_t cells = 0, messages = 0;

    size_t n_variables() const { return states.size(); }
    size_t n_states() const { return first_state.back(); }
};

inline void require(bool held, const char* message) {
    if (!held) throw std::invalid_argument(message);
}

inline size_t position(const Clique& clique, std::int32_t variable) {
    for (size_t k = 0; k < clique.variables.size(); ++k)
        if (clique.variables[k] == variable) return k;
    throw std::invalid_argument("a clique lacks the variable " + std::to_string(variable));
}

// For every cell of `whole`, the cell of the first `n` variables of `part`.
inline std::vector<std::int32_t> cell_map(const CliqueTree& tree, const Clique& whole, const Clique& part, size_t n) {
    std::vector<size_t> step(whole.variables.size(), 0);
    size_t stride = 1;
    for (size_t k = n; k-- > 0;) {
        step[position(whole, part.variables[k])] = stride;
        stride *= tree.states[part.variables[k]];
    }
    std::vector<std::int32_t> map(whole.size);
    std::vector<std::int32_t> digit(whole.variables.size(), 0);
    size_t at = 0;
    for (size_t cell = 0; cell < whole.size; ++cell) {
        map[cell] = static_cast<std::int32_t>(at);
        for (size_t k = digit.size(); k-- > 0;) {
            at += step[k];
            if (++digit[k] < tree.states[whole.variables[k]]) break;
            at -= step[k] * digit[k];
            digit[k] = 0;
        }
    }
    return map;
}

// `members` are the variables of clique c from first[c] to first[c + 1]; the first n_separator[c] are its separator.
inline CliqueTree make_clique_tree(const std::vector<std::int32_t>& states, const std::vector<std::int32_t>& members,
                                   const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& parent,
                                   const std::vector<std::int32_t>& n_separator,
                                   const std::vector<std::int32_t>& home) {
    CliqueTree tree;
    tree.states = states;
    const size_t V = states.size(), C = parent.size();
    require(first.size() == C + 1 && n_separator.size() == C && home.size() == V && C > 0, "arrays do not fit");
    require(first[0] == 0 && static_cast<size_t>(first[C]) == members.size(), "first does not fit members");
    tree.first_state.assign(V + 1, 0);
    for (size_t v = 0; v < V; ++v) {
        require(states[v] > 0, "a variable has no states");
        tree.first_state[v + 1] = tree.first_state[v] + states[v];
    }
    for (size_t c = 0; c < C; ++c) {
        require(first[c] <= first[c + 1] && (c == 0 ? parent[c] == -1 : parent[c] >= 0 && size_t(parent[c]) < c),
                "parents must come before their children, the root first");
        Clique clique;
        for (std::int32_t k = first[c]; k < first[c + 1]; ++k) {
            require(members[k] >= 0 && size_t(members[k]) < V, "a clique has an unknown variable");
            clique.variables.push_back(members[k]);
        }
        require(n_separator[c] >= 0 && size_t(n_separator[c]) <= clique.variables.size(), "a separator is too long");
        clique.strides.assign(clique.variables.size(), 1);
        for (size_t k = clique.variables.size(); k-- > 0;) {
            clique.strides[k] = clique.size;
            clique.size *= states[clique.variables[k]];
            require(clique.size < (size_t{1} << 31), "a clique has too many cells");
        }
        for (std::int32_t k = 0; k < n_separator[c]; ++k) clique.separator *= states[clique.variables[k]];
        clique.offset = tree.cells;
        clique.message = tree.messages;
        tree.cells += clique.size;
        tree.messages += clique.separator;
        clique.parent = parent[c];
        if (c) clique.to_separator = cell_map(tree, tree.cliques[parent[c]], clique, n_separator[c]);
        tree.cliques.push_back(std::move(clique));
    }
    tree.home = home;
    for (size_t v = 0; v < V; ++v) {
        require(home[v] >= 0 && size_t(home[v]) < C, "a variable has no home");
        const Clique& clique = tree.cliques[home[v]];
        tree.home_stride.push_back(clique.strides[position(clique, static_cast<std::int32_t>(v))]);
    }
    return tree;
}

}  // namespace lyceum::bayesnets
