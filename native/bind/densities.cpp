#include "arrays.hpp"

void bind_densities(nb::module_&) {}
