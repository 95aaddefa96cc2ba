"""Densities of rows, and a classifier that compares the densities of the classes.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use
from lyceum.probability import fuse_gaussians

if TYPE_CHECKING:
    from lyceum.density._bandwidth import likelihood_bandwidth, reference_bandwidth
    from lyceum.density._gaussian_density import GaussianDensity
    from lyceum.density._histogram_density import HistogramDensity
    from lyceum.density._kernel_density import KernelDensity
    from lyceum.density._neighbor_density import NeighborDensity
    from lyceum.density._parzen_classifier import ParzenClassifier

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

_MODULES = {
    "_bandwidth": ("likelihood_bandwidth", "reference_bandwidth"),
    "_gaussian_density": ("GaussianDensity",),
    "_histogram_density": ("HistogramDensity",),
    "_kernel_density": ("KernelDensity",),
    "_neighbor_density": ("NeighborDensity",),
    "_parzen_classifier": ("ParzenClassifier",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")
