// Bayesian networks.
#include "arrays.hpp"

void bind_bayes_networks(nb::module_&) {}
