#include "arrays.hpp"

void bind_levels(nb::module_&) {}
