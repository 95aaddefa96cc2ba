"""
Bias against variance in the width
==================================

Narrow windows follow the sample (variance), wide ones flatten the truth (bias). The sum is
least in between.
"""

from lyceum import plot
from lyceum.density import GaussianDensity, KernelDensity
from lyceum.evaluate import density_errors

truth = GaussianDensity().fit([[-1.0], [0.0], [1.0]])
errors = density_errors(
    KernelDensity(), truth, "bandwidth", [0.05, 0.1, 0.2, 0.4, 0.8, 1.6], n_rounds=15
)
plot.density_errors(errors)
