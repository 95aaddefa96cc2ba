"""What learners with a kernel share: the parameter `kernel`, rows as it takes them, and model
files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lyceum._core import distances
from lyceum._core.base import CATEGORICAL_FEATURES, Learner, Reading
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, CheckCells, Rows, Step
from lyceum._core.types import Data, Target
from lyceum.errors import DataError, ModelFileError, SettingError
from lyceum.kernels.cells import numbers_of
from lyceum.kernels.functions.algebra import (
    ConstantKernel,
    ProductKernel,
    ScaledKernel,
    SumKernel,
)
from lyceum.kernels.functions.base import Kernel, as_kernel
from lyceum.kernels.functions.other import (
    DistanceKernel,
    FunctionKernel,
    PrecomputedKernel,
)
from lyceum.kernels.functions.products import (
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    SigmoidKernel,
)

# scikit-learn's further kernels are its functions; of those that have a γ, it may be a number
_FUNCTIONS = {"additive_chi2", "chi2", "cosine", "laplacian"}
_NAMES = {"linear", "poly", "polynomial", "rbf", "sigmoid", "distance", "precomputed"}
_NAMES |= _FUNCTIONS
_SETTINGS = {
    "rbf": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "polynomial": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "distance": ("gamma",),
    "chi2": ("gamma",),
    "laplacian": ("gamma",),
}

KERNEL_CONSTRAINTS: dict[str, Any] = {
    "kernel": [StrOptions(_NAMES), Kernel, callable],
    "gamma": [
        Interval(Real, 0, None, closed="neither"),
        StrOptions({"scale", "auto", "median", "closest"}),
        None,
    ],
    "degree": [Interval(Integral, 1, 64, closed="both")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "categorical_features": CATEGORICAL_FEATURES,
}


class KernelLearner(Learner):
    """A learner that keeps rows and compares others with them by a kernel."""

    _parameter_docs: ClassVar[str] = """
    gamma : float, "scale", "auto", "median" or None
        γ of a kernel by name: "auto" and None are 1 / d, "scale" is 1 / (d · variance of the
        cells); "median" is for "rbf".
    kernel_params : dict or None
        Further arguments of a kernel that is a function.
    kernel : str, Kernel or callable
        "linear", "rbf", "poly", "sigmoid", "distance" or "precomputed"; scikit-learn's "cosine",
        "laplacian", "chi2" and "additive_chi2"; a kernel object; or a function of two rows or of
        two matrices.
    categorical_features : "from_dtype", True, mask, indices, names or None
        Which columns hold categories; each becomes one-of-C columns, unless the kernel compares
        categories.
    """

    _reads_rows: ClassVar[Reading] = "in memory"
    _needs_scaling = True
    _coding = "every_category"
    _alternative: ClassVar[str]  # for rows that memory cannot hold

    kernel: Any
    gamma: Any
    degree: int | None
    coef0: float | None
    kernel_: Kernel
    rows_: Any  # (n, d), dense or CSR

    # -- the kernel --------------------------------------------------------------------

    def _chosen_kernel(self) -> Kernel:
        """The kernel that the parameters ask for."""
        if not isinstance(self.kernel, str):
            if self.gamma not in (None, "scale"):
                raise SettingError(
                    "gamma is for kernels by name: give it to the kernel itself,"
                    " RBFKernel(gamma=...)"
                )
            return as_kernel(self._with_params(self.kernel))
        names = _SETTINGS.get(self.kernel, ())
        settings = {name: getattr(self, name) for name in names}
        # degree and coef0 that are not given are those of the kernel
        for name in ("degree", "coef0"):
            if settings.get(name, 0) is None:
                del settings[name]
        if self.kernel in _FUNCTIONS:
            return self._function_kernel(settings)
        if "gamma" not in settings:
            return as_kernel(self.kernel, **settings)
        by_distance = self.gamma in ("median", "closest")
        if self.kernel == "rbf" and by_distance:
            return as_kernel("rbf", sigma=self.gamma)
        if self.kernel == "distance" and self.gamma in (None, "scale"):
            settings["gamma"] = 1.0
        elif self.gamma is None:
            settings["gamma"] = "auto"
        elif by_distance or (self.kernel == "distance" and isinstance(self.gamma, str)):
            raise SettingError(
                f"gamma={self.gamma!r} does not go with kernel={self.kernel!r}: give a number"
            )
        return as_kernel(self.kernel, **settings)

    def _function_kernel(self, settings: dict[str, Any]) -> Kernel:
        """A kernel that is a function of scikit-learn's, with its own γ unless one is given."""
        if isinstance(settings.get("gamma"), str):
            raise SettingError(
                f"gamma={self.gamma!r} does not go with kernel={self.kernel!r}: give a number"
            )
        given = {name: value for name, value in settings.items() if value is not None}
        values = partial(_values_by_name, name=self.kernel, **given)
        if "chi2" in self.kernel:
            return _CountKernel(values)
        return FunctionKernel(values)

    def _with_params(self, kernel: Any) -> Any:
        """A function with `kernel_params`, where the learner has them."""
        params = getattr(self, "kernel_params", None)
        if not params:
            return kernel
        if isinstance(kernel, Kernel):
            raise SettingError(
                "kernel_params are for a function: give settings to the kernel itself"
            )
        return partial(kernel, **params)

    def _learned_kernel(self, block: Block, y: Target = None) -> Kernel:
        """The kernel with all its settings known: a row of weight 2 counts as two for its width.

        Refuses rows whose kernel values overflow, which the values of rows with themselves show.
        """
        kernel = self._chosen_kernel().learn(block, y, block.w)
        # |k(x, y)|² ≤ k(x, x) k(y, y) of a Mercer kernel: the diagonal shows the largest values
        is_native = kernel.native is not None
        if is_native and not np.isfinite(kernel.diagonal(block.X)).all():
            raise DataError(
                f"values of the kernel {kernel!r} overflow on these rows: rescale the columns, e.g."
                " by lyceum.prepare.StandardScaler()"
            )
        return kernel

    # -- rows --------------------------------------------------------------------------

    def _weighted_rows(self, rows: Rows) -> Block:
        """All rows with a weight, as the kernel takes them."""
        block = rows.in_one_block(type(self).__name__, self._alternative)
        block = block.without_zero_weights()
        X = block.X
        if sparse.issparse(X) and not self._takes_sparse:
            X = X.toarray()
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        is_square = X.shape[0] == X.shape[1]
        if isinstance(self._chosen_kernel(), PrecomputedKernel) and not is_square:
            X = self._square(rows, X)
        if not sparse.issparse(X):
            X = np.ascontiguousarray(X)
        return block.with_X(X, block.schema)

    def _square(self, rows: Rows, X: Any) -> Any:
        """Precomputed values without the columns of zero-weight rows."""
        w = rows.sample_weight
        if w is not None and len(w) == X.shape[1]:
            return X[:, w > 0]
        raise DataError(
            f"a precomputed kernel needs one column per row, but there are {X.shape[0]} rows and "
            f"{X.shape[1]} columns"
        )

    def _steps(self) -> list[Step]:
        if not self._keeps_categories:
            return super()._steps()
        return [CheckCells(type(self).__name__, self._takes_missing)]

    @property
    def _is_precomputed(self) -> bool:
        is_object = isinstance(self.kernel, PrecomputedKernel)
        return is_object or self.kernel == "precomputed"

    @property
    def _keeps_categories(self) -> bool:
        """Whether the kernel compares categories itself."""
        return _flag(self, "takes_categories")

    @property
    def _n_cells(self) -> int:
        """The number of columns that the kernel sees."""
        if self._keeps_categories:
            return self.n_features_in_
        return len(self.design_names)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return _flag(self, "takes_sparse")

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return _flag(self, "takes_missing")

    # -- model files -------------------------------------------------------------------

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        kinds = (getattr(distances, name) for name in dir(distances))
        metrics = tuple(
            k for k in kinds if isinstance(k, type) and issubclass(k, distances.Metric)
        )
        kernels = (
            RBFKernel,
            ConstantKernel,
            DistanceKernel,
            LinearKernel,
            PolynomialKernel,
            PrecomputedKernel,
            ProductKernel,
            ScaledKernel,
            SigmoidKernel,
            SumKernel,
        )
        return (*super()._parts(), *kernels, *metrics)

    def _check_model(self) -> None:
        super()._check_model()
        if not isinstance(getattr(self, "kernel_", None), Kernel | None):
            raise ModelFileError(
                f"holds a {type(self).__name__} whose kernel_ is no kernel"
            )

    def _row_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of the rows that are kept, if they are dense and have no missing cells."""
        if sparse.issparse(self.rows_) or self._takes_missing:
            if self.rows_.shape[1] != self._n_cells:
                raise ModelFileError(
                    f"holds a {type(self).__name__} whose rows_ have other columns than its schema"
                )
            return {}
        return {"rows_": (len(self.rows_), self._n_cells)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags


@dataclass(frozen=True)
class _CountKernel(FunctionKernel):
    """A kernel of a function of counts or shares: rows with negative cells are refused."""

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        A, B = numbers_of(self, X, Y)
        if (A < 0).sum() or (B < 0).sum():
            raise DataError(
                "chi2 kernels compare counts or shares, but the rows have negative cells: rescale"
                " the columns, e.g. by lyceum.prepare.MinMaxScaler(), or take another kernel"
            )
        return super().gram(A, B)


def _values_by_name(X: Any, Y: Any, name: str, **settings: float) -> np.ndarray:
    """The values of a kernel of scikit-learn's, for all pairs of rows of two matrices."""
    from sklearn.metrics.pairwise import pairwise_kernels  # takes long to import

    return pairwise_kernels(X, Y, metric=name, **settings)


def _flag(learner: KernelLearner, name: str) -> bool:
    try:
        return bool(getattr(learner._chosen_kernel(), name))
    except (SettingError, TypeError):  # parameters that `fit` will refuse
        return False


def is_linear(kernel: Kernel) -> bool:
    """Whether the kernel is the product of two rows."""
    return isinstance(kernel, LinearKernel)


def refuse_pairs(caller: str, n: int, bytes_per_pair: int, alternative: str) -> None:
    """Refuse rows whose pairs memory cannot hold."""
    try:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return
    needed = n * n * bytes_per_pair
    if needed > 0.7 * available:
        raise DataError(
            f"{caller} needs the kernel values of all pairs of {n:,} rows, {needed / 2**30:.1f}"
            f" GiB, but there are {available / 2**30:.1f} GiB of memory: use {alternative}"
        )
