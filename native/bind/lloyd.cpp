#include "arrays.hpp"

void bind_lloyd(nb::module_&) {}
