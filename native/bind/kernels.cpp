// Kernel machines: Gram blocks, working-set solvers.
#include "arrays.hpp"

void bind_kernels(nb::module_&) {}
