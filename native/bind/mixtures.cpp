// Mixtures.
#include "arrays.hpp"

void bind_mixtures(nb::module_&) {}
