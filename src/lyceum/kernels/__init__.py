"""Kernel machines: kernel objects, support vector machines, kernel ridge regression, kernel PCA.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.kernels._approximation import Nystroem, RandomFourierFeatures
    from lyceum.kernels._kernel import Kernel, as_kernel
    from lyceum.kernels._kernel_algebra import Constant, Product, Scaled, Sum
    from lyceum.kernels._kernel_pca import KernelPCA
    from lyceum.kernels._kernel_perceptron import KernelPerceptron
    from lyceum.kernels._kernel_ridge import KernelRidge, LeaveOneOut
    from lyceum.kernels._linear_svc import LinearSVC
    from lyceum.kernels._mercer import MercerCheck, is_mercer
    from lyceum.kernels._other_kernels import Distance, Function, Precomputed
    from lyceum.kernels._product_kernels import RBF, Linear, Polynomial, Sigmoid
    from lyceum.kernels._svc import SVC
    from lyceum.kernels._svr import SVR
    from lyceum.kernels._widths import closest_sigma, median_sigma

__all__ = [
    "RBF",
    "SVC",
    "SVR",
    "Constant",
    "Distance",
    "Function",
    "Kernel",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "LeaveOneOut",
    "Linear",
    "LinearSVC",
    "MercerCheck",
    "Nystroem",
    "Polynomial",
    "Precomputed",
    "Product",
    "RandomFourierFeatures",
    "Scaled",
    "Sigmoid",
    "Sum",
    "as_kernel",
    "closest_sigma",
    "is_mercer",
    "median_sigma",
]

_MODULES = {
    "_approximation": ("Nystroem", "RandomFourierFeatures"),
    "_kernel": ("Kernel", "as_kernel"),
    "_kernel_algebra": ("Constant", "Product", "Scaled", "Sum"),
    "_kernel_pca": ("KernelPCA",),
    "_kernel_perceptron": ("KernelPerceptron",),
    "_kernel_ridge": ("KernelRidge", "LeaveOneOut"),
    "_linear_svc": ("LinearSVC",),
    "_mercer": ("MercerCheck", "is_mercer"),
    "_other_kernels": ("Distance", "Function", "Precomputed"),
    "_product_kernels": ("RBF", "Linear", "Polynomial", "Sigmoid"),
    "_svc": ("SVC",),
    "_svr": ("SVR",),
    "_widths": ("closest_sigma", "median_sigma"),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")
