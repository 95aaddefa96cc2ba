from lyceum.kernels.approximation import (
    Nystroem as Nystroem,
    RBFSampler as RBFSampler,
)
from lyceum.kernels.functions.algebra import (
    ConstantKernel as ConstantKernel,
    ProductKernel as ProductKernel,
    ScaledKernel as ScaledKernel,
    SumKernel as SumKernel,
)
from lyceum.kernels.functions.base import Kernel as Kernel, as_kernel as as_kernel
from lyceum.kernels.functions.mercer import (
    MercerCheck as MercerCheck,
    is_mercer as is_mercer,
)
from lyceum.kernels.functions.other import (
    DistanceKernel as DistanceKernel,
    FunctionKernel as FunctionKernel,
    PrecomputedKernel as PrecomputedKernel,
)
from lyceum.kernels.functions.products import (
    LinearKernel as LinearKernel,
    PolynomialKernel as PolynomialKernel,
    RBFKernel as RBFKernel,
    SigmoidKernel as SigmoidKernel,
)
from lyceum.kernels.functions.widths import (
    closest_sigma as closest_sigma,
    median_sigma as median_sigma,
)
from lyceum.kernels.kernel_pca import KernelPCA as KernelPCA
from lyceum.kernels.kernel_perceptron import KernelPerceptron as KernelPerceptron
from lyceum.kernels.linear_svm.linear_svc import LinearSVC as LinearSVC
from lyceum.kernels.ridge.kernel_ridge import (
    KernelRidge as KernelRidge,
    LeaveOneOut as LeaveOneOut,
)
from lyceum.kernels.svm.hulls import (
    HullPoints as HullPoints,
    nearest_hull_points as nearest_hull_points,
)
from lyceum.kernels.svm.svc import SVC as SVC
from lyceum.kernels.svm.svr import SVR as SVR
