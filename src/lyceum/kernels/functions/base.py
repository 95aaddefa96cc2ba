"""The base of kernels, and kernels by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lyceum._core.types import Data, Estimator, Operation, Target, Weights
from lyceum.errors import SettingError, cannot_export, undefined
from lyceum.kernels.cells import cells_of

_VALUES = 1 << 22  # kernel values held at once where sums of them are taken: 32 MB


class NativeKernel(NamedTuple):
    """A kernel of products of rows as the native functions take it."""

    name: str
    gamma: float = 1.0
    shift: float = 0.0
    degree: int = 1


@dataclass(frozen=True)
class Kernel:
    """A kernel k(x, y): an immutable value, the product of two rows in some feature space.

    Kernels can be added, multiplied, scaled by a positive number and shifted by one of at least 0;
    the result is a kernel of the same kind. Rows are arrays, sparse arrays, blocks, frames or
    `scan(...)`; text columns become one-of-C columns, unless the kernel compares categories itself.

    Attributes
    ----------
    takes_sparse : bool
        Whether rows may be sparse.
    takes_missing : bool
        Whether cells may be missing (NaN).
    takes_categories : bool
        Whether it compares categories itself, so that it takes cells as they are coded.
    mercer : bool or None
        Whether it is a Mercer kernel for all rows; None if that depends on rows and settings
        (`is_mercer`).
    is_fitted : bool
        Whether all settings are numbers; if not, `fitted` learns them.
    native : NativeKernel or None
        The form that native functions take, if the values follow from products of rows.

    See Also
    --------
    as_kernel : a kernel by its name, or of a function.
    is_mercer : whether a Gram matrix can be that of a product.

    Examples
    --------
    >>> from lyceum.kernels import RBFKernel, LinearKernel
    >>> kernel = 2 * RBFKernel(sigma=0.5) + LinearKernel() + 1
    >>> kernel
    2.0 * RBFKernel(sigma=0.5) + LinearKernel() + 1.0
    >>> kernel.gram([[0.0], [1.0]]).round(4).tolist()
    [[3.0, 1.2707], [1.2707, 4.0]]
    """

    name: ClassVar[str] = ""

    takes_sparse: ClassVar[bool | property] = False
    takes_missing: ClassVar[bool | property] = False
    takes_categories: ClassVar[bool | property] = False

    @property
    def mercer(self) -> bool | None:
        return None

    @property
    def native(self) -> NativeKernel | None:
        """The form that native functions take, if the values follow from products of rows."""
        return None

    @property
    def is_fitted(self) -> bool:
        """Whether all settings are numbers; if not, `fitted` learns them."""
        return True

    def learn(self, X: Data, y: Target = None, sample_weight: Weights = None) -> Kernel:
        """This kernel with the settings that it learns from rows; itself if it learns nothing.

        Parameters
        ----------
        X : array, sparse array, block, frame or `scan(...)` of shape (n, d)
        y : array of shape (n,), optional
            Classes, for settings that need them.
        sample_weight : array of shape (n,), optional
            Weights of the rows, for gamma="scale".

        Returns
        -------
        Kernel
        """
        return self

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        """The kernel values of all pairs of rows.

        Parameters
        ----------
        X : array, sparse array, block, frame or `scan(...)` of shape (n, d)
        Y : the same of shape (m, d), optional
            By default the rows of X.

        Returns
        -------
        array of shape (n, m)
            float32 if X and Y are, else float64.
        """
        raise undefined(self, "gram")

    def diagonal(self, X: Data) -> np.ndarray:
        """k(x, x) for every row of X, shape (n,)."""
        X = cells_of(X, self)
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        values = [self.gram(row)[0, 0] for row in rows]
        return np.array(values, dtype=np.float64)

    def sums(self, X: Data, coef: Any, Y: Data) -> np.ndarray:
        """Σ_i coef[i, c] k(x_i, y_j) for every row y_j, without storing all kernel values.

        Parameters
        ----------
        X : rows of shape (n, d)
        coef : array of shape (n,) or (n, C)
        Y : rows of shape (m, d)

        Returns
        -------
        array of shape (m,) or (m, C), of float64
        """
        coef = np.asarray(coef, dtype=np.float64)
        X = cells_of(X, self)
        Y = cells_of(Y, self)
        n = X.shape[0]
        m = Y.shape[0]
        out = np.empty((m, *coef.shape[1:]))
        step = max(1, _VALUES // max(1, n))
        for first in range(0, m, step):
            part = slice(first, first + step)
            out[part] = self.gram(X, Y[part]).T @ coef
        return out

    def feature_map(self, X: Data) -> np.ndarray:
        """The rows in feature space, so that k(x, y) = φ(x)·φ(y); only for kernels of finitely many
        features.

        Parameters
        ----------
        X : rows of shape (n, d)

        Returns
        -------
        array of shape (n, n_features)
        """
        raise SettingError(
            f"{self!r} has no finite feature map: use gram(X, Y), or lyceum.kernels.Nystroem"
        )

    def feature_names(self, names: Sequence[str] | None) -> list[str]:
        """The names of the features of `feature_map` for columns of these names."""
        raise SettingError(
            f"{self!r} has no finite feature map, so its features have no names"
        )

    def __call__(self, x: ArrayLike, y: Target) -> float:
        """k(x, y) of two rows of numbers.

        >>> from lyceum.kernels import PolynomialKernel
        >>> PolynomialKernel(degree=2)([1, 2], [3, 4])
        144.0
        """
        X = np.asarray(x, dtype=np.float64).reshape(1, -1)
        Y = np.asarray(y, dtype=np.float64).reshape(1, -1)
        return float(self.gram(X, Y)[0, 0])

    # -- algebra -----------------------------------------------------------------------

    def __add__(self, other: Any) -> Kernel:
        from lyceum.kernels.functions.algebra import add

        return add(self, other)

    def __radd__(self, other: Any) -> Kernel:
        from lyceum.kernels.functions.algebra import add

        return add(other, self)

    def __mul__(self, other: Any) -> Kernel:
        from lyceum.kernels.functions.algebra import multiply

        return multiply(self, other)

    __rmul__ = __mul__


def double_gram(kernel: Kernel, X: Data, Y: Data = None) -> np.ndarray:
    """The kernel values in double precision, whatever the rows are in."""
    return np.asarray(kernel.gram(X, Y), dtype=np.float64)


# -- by name ---------------------------------------------------------------------------

Class = TypeVar("Class", bound=type[Kernel])
_KERNELS: dict[str, type[Kernel]] = {}


def register_kernel(*names: str) -> Callable[[Class], Class]:
    """A class decorator that registers a kernel for `as_kernel(name)`."""

    def register(cls: Class) -> Class:
        cls.name = names[0]
        _KERNELS.update(dict.fromkeys(names, cls))
        return cls

    return register


def as_kernel(kernel: object, **settings: Any) -> Kernel:
    """A kernel by its name, or of a function; a kernel is given back as it is.

    Parameters
    ----------
    kernel : Kernel, function or name
        A name is one of "linear", "poly", "polynomial", "rbf", "sigmoid", "distance" and
        "precomputed". A function gets two matrices of rows and gives the matrix of kernel values,
        or two rows and gives one value.
    **settings
        Parameters of a kernel given by its name, e.g. `gamma` of "rbf".

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from lyceum.kernels import as_kernel
    >>> as_kernel("rbf", gamma=0.5)
    RBFKernel(gamma=0.5)
    >>> as_kernel(lambda x, y: float(x @ y))([1.0, 2.0], [3.0, 4.0])
    11.0
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return _KERNELS["function"](kernel)  # type: ignore[call-arg]
    if not isinstance(kernel, str) or kernel not in _KERNELS or kernel == "function":
        names = ", ".join(sorted(set(_KERNELS) - {"function"}))
        raise SettingError(
            f"there is no kernel {kernel!r}: choose one of {names}, a Kernel, or a function"
        )
    return _KERNELS[kernel](**settings)


def kernel_operations(
    learner: Estimator,
    kernel: Kernel,
    rows: Any,
    coef: np.ndarray,
    intercept: np.ndarray,
) -> list[Operation]:
    """Σ_i coef_i k(x_i, x) + intercept, for exported models."""
    if kernel.native is None or sparse.issparse(rows):
        raise cannot_export(learner, "its kernel or its rows have no plain form")
    name, gamma, shift, degree = kernel.native
    constants = {
        "kind": name,
        "gamma": gamma,
        "shift": shift,
        "degree": degree,
        "rows": np.asarray(rows, dtype=np.float64).tolist(),
    }
    sums = {"coef": coef.T.tolist(), "intercept": intercept.tolist()}
    return [("kernel", constants), ("linear", sums)]
