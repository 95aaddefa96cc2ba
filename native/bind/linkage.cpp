// Agglomerative clustering.
#include "arrays.hpp"

void bind_linkage(nb::module_&) {}
