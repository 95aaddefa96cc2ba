// k-medoids.
#include "arrays.hpp"

void bind_medoids(nb::module_&) {}
