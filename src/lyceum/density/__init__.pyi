from lyceum.density.bandwidth import (
    likelihood_bandwidth as likelihood_bandwidth,
    reference_bandwidth as reference_bandwidth,
)
from lyceum.density.gaussian_density import GaussianDensity as GaussianDensity
from lyceum.density.histogram_density import HistogramDensity as HistogramDensity
from lyceum.density.kernel_density import KernelDensity as KernelDensity
from lyceum.density.neighbor_density import NeighborDensity as NeighborDensity
from lyceum.density.parzen_classifier import ParzenClassifier as ParzenClassifier
