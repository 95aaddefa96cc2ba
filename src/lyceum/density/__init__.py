"""Densities of rows, and a classifier that compares the densities of the classes."""

from lyceum.density._bandwidth import likelihood_bandwidth, reference_bandwidth
from lyceum.density._gaussian_density import GaussianDensity
from lyceum.density._histogram_density import HistogramDensity
from lyceum.density._kernel_density import KernelDensity
from lyceum.density._neighbor_density import NeighborDensity
from lyceum.density._parzen_classifier import ParzenClassifier
from lyceum.probability import fuse_gaussians

__all__ = [
    "GaussianDensity",
    "HistogramDensity",
    "KernelDensity",
    "NeighborDensity",
    "ParzenClassifier",
    "fuse_gaussians",
    "likelihood_bandwidth",
    "reference_bandwidth",
]
