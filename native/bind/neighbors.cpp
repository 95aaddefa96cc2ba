// Instance-based learning.
#include "arrays.hpp"

void bind_neighbors(nb::module_&) {}
