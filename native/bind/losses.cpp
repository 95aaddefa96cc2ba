#include "arrays.hpp"

void bind_losses(nb::module_&) {}
