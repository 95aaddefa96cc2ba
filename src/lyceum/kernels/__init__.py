"""Kernel machines: kernel objects, support vector machines, kernel ridge regression, kernel PCA."""

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
