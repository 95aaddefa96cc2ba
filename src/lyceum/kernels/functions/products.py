"""Kernels of products of rows: linear, polynomial, Gaussian (RBF) and sigmoid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import factorial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lyceum._core.data import dense_cells
from lyceum._core.native import native
from lyceum._core.threads import n_threads
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import SettingError, undefined
from lyceum.kernels.cells import cells_of, numbers_of
from lyceum.kernels.functions.base import Kernel, NativeKernel, register_kernel
from lyceum.kernels.functions.widths import closest_sigma, median_sigma, scale_gamma

_RULES = ("scale", "auto")


@dataclass(frozen=True)
class _ProductKernel(Kernel):
    """A kernel whose values come from x·y, |x|² and |y|²."""

    takes_sparse = True

    @property
    def native(self) -> NativeKernel:
        raise undefined(self, "native")

    def _center_rows(
        self,
        A: np.ndarray,
        B: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rows moved to where products lose fewest digits, if values do not change by it."""
        return A, B

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        A, B = numbers_of(self, X, Y)
        if sparse.issparse(A) or sparse.issparse(B):
            return self._sparse_gram(A, B)
        same = B is A
        A, B = self._center_rows(A, B)
        out = np.empty((len(A), len(B)), dtype=A.dtype)
        native.kernel_gram(*self.native, A, None if same else B, out, n_threads())
        return out

    def _sparse_gram(self, A: ArrayLike, B: Any) -> np.ndarray:
        products = np.ascontiguousarray(dense_cells(A @ B.T))
        native.kernel_from_products(*self.native, products, _squares(A), _squares(B))
        return products

    def diagonal(self, X: Data) -> np.ndarray:
        # x·x says it all: squares are for the RBF kernel, whose diagonal is known
        X = cells_of(X, self)
        squares = _squares(X).astype(np.float64)
        values = squares.reshape(-1, 1).copy()
        native.kernel_from_products(*self.native, values, squares, np.zeros(1))
        return values[:, 0]

    def sums(self, X: Data, coef: Any, Y: Data) -> np.ndarray:
        A, B = numbers_of(self, X, Y)
        if sparse.issparse(A) or sparse.issparse(B):
            return super().sums(A, coef, B)
        coef = np.asarray(coef, dtype=np.float64)
        columns = np.ascontiguousarray(coef[:, None] if coef.ndim == 1 else coef)
        if (
            len(B) > native.few_kernel_rows
        ):  # of fewer rows differences are taken cell by cell
            A, B = self._center_rows(A, B)
        out = np.zeros((len(B), columns.shape[1]))
        native.kernel_sums(*self.native, A, columns, B, out, n_threads())
        return out.reshape(len(B), *coef.shape[1:])


def _squares(X: Any) -> np.ndarray:
    if sparse.issparse(X):
        squares = X.multiply(X).sum(axis=1)
        return np.asarray(squares).ravel().astype(X.dtype)
    return np.einsum("ij,ij->i", X, X)


def _checked_gamma(caller: str, gamma: object) -> Any:
    if isinstance(gamma, str) and gamma in _RULES:
        return gamma
    if not isinstance(gamma, Real) or not 0 < float(gamma) < np.inf:
        raise SettingError(
            f"gamma of {caller} must be a positive number, 'scale' or 'auto', but it is {gamma!r}"
        )
    return float(gamma)


def _number_of(gamma: Any, X: Data, kernel: Kernel, w: Weights) -> float:
    if isinstance(gamma, str):
        return scale_gamma(cells_of(X, kernel), gamma, w)
    return gamma


def _known_gamma(gamma: Any, kernel: Kernel) -> float:
    if isinstance(gamma, str):
        raise SettingError(f"{kernel!r} does not know its gamma yet: call learn(X)")
    return float(gamma)


@register_kernel("linear")
@dataclass(frozen=True)
class LinearKernel(_ProductKernel):
    """The linear kernel k(x, y) = x·y.

    See Also
    --------
    PolynomialKernel : products of columns as well.

    Examples
    --------
    >>> from lyceum.kernels import LinearKernel
    >>> LinearKernel().gram([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    """

    @property
    def mercer(self) -> bool:
        return True

    @property
    def native(self) -> NativeKernel:
        return NativeKernel("linear")

    def feature_map(self, X: Data) -> np.ndarray:
        X = cells_of(X, self)
        return dense_cells(X)

    def feature_names(self, names: Any) -> list[str]:
        return [str(name) for name in names]


@register_kernel("polynomial", "poly")
@dataclass(frozen=True)
class PolynomialKernel(_ProductKernel):
    """The polynomial kernel k(x, y) = (γ x·y + c)^p.

    Its features are all products of up to p columns (of exactly p if c is 0). With c below 0 it is
    no Mercer kernel.

    Parameters
    ----------
    degree : int, default=3
        The power p.
    gamma : float, "scale" or "auto", default=1.0
        The factor γ; "scale" is 1 / (d · variance of the cells) and "auto" 1 / d, both learned by
        `fitted`.
    coef0 : float, default=1.0
        The shift c, by this name in every kernel learner; only `SVC` and `SVR` have the default 0,
        as in scikit-learn.

    See Also
    --------
    lyceum.linear.BasisExpansion : the products as columns.

    Examples
    --------
    >>> from lyceum.kernels import PolynomialKernel
    >>> kernel = PolynomialKernel(degree=2)
    >>> kernel.feature_map([[2.0, 3.0]]).round(3).tolist()
    [[1.0, 2.828, 4.243, 4.0, 8.485, 9.0]]
    >>> kernel.feature_names(["x1", "x2"])
    ['1', 'x1', 'x2', 'x1²', 'x1·x2', 'x2²']
    """

    degree: int = 3
    gamma: Any = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if int(self.degree) != self.degree or not 1 <= self.degree <= 64:
            raise SettingError(
                f"degree of Polynomial must be a whole number from 1 to 64, not {self.degree!r}"
            )
        object.__setattr__(self, "degree", int(self.degree))
        object.__setattr__(
            self, "gamma", _checked_gamma("PolynomialKernel", self.gamma)
        )
        object.__setattr__(self, "coef0", float(self.coef0))

    @property
    def mercer(self) -> bool:
        return self.coef0 >= 0

    @property
    def is_fitted(self) -> bool:
        return not isinstance(self.gamma, str)

    def learn(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ) -> PolynomialKernel:
        return replace(self, gamma=_number_of(self.gamma, X, self, sample_weight))

    @property
    def native(self) -> NativeKernel:
        gamma = _known_gamma(self.gamma, self)
        return NativeKernel("polynomial", gamma, self.coef0, self.degree)

    def feature_map(self, X: Data) -> np.ndarray:
        cells = dense_cells(cells_of(X, self))
        X = np.asarray(cells, dtype=np.float64)
        features = [
            scale * np.prod(X[:, list(columns)], axis=1)
            for columns, scale in self._terms(X.shape[1])
        ]
        return np.column_stack(features)

    def feature_names(self, names: Any) -> list[str]:
        names = [str(name) for name in names]
        return [
            _product_name([names[j] for j in columns])
            for columns, _ in self._terms(len(names))
        ]

    def _terms(self, d: int) -> list[tuple[tuple[int, ...], float]]:
        """The columns of every product, and √(p! / (Π k_j! (p - q)!) γ^q c^(p - q)) for a product
        of q."""
        if self.coef0 < 0:
            raise SettingError(
                f"{self!r} has no feature map: with coef0 below 0 it is no Mercer kernel"
            )
        # the multinomial theorem for (γ Σ_j x_j y_j + c)^p
        p = self.degree
        gamma = _known_gamma(self.gamma, self)
        terms = []
        for q in range(p + 1) if self.coef0 > 0 else [p]:
            for columns in combinations_with_replacement(range(d), q):
                ways = factorial(p) / factorial(p - q)
                for j in set(columns):
                    ways /= factorial(columns.count(j))
                square = ways * gamma**q * self.coef0 ** (p - q)
                terms.append((columns, float(np.sqrt(square))))
        return terms


def _product_name(names: list[str]) -> str:
    powers = {name: names.count(name) for name in names}
    digits = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    text = [
        name + (str(power).translate(digits) if power > 1 else "")
        for name, power in powers.items()
    ]
    return "·".join(text) or "1"


@register_kernel("rbf", "gaussian")
@dataclass(frozen=True, repr=False)
class RBFKernel(_ProductKernel):
    """The Gaussian or RBF kernel k(x, y) = exp(-|x - y|² / (2σ²)) = exp(-γ |x - y|²).

    Squares come from products of rows about their mean, so that an offset of all rows takes no
    digits.

    Parameters
    ----------
    sigma : float, "median" or "closest", optional
        The width σ. "median": the median distance of two rows; "closest": the distance between the
        closest rows of different classes. Both are learned by `fitted`. 1 if neither sigma nor
        gamma is given.
    gamma : float, "scale" or "auto", optional
        1 / (2σ²) instead; "scale" is 1 / (d · variance of the cells) and "auto" 1 / d, learned by
        `fitted`.

    See Also
    --------
    DistanceKernel : exp(-γ distance) for any metric.
    median_sigma, closest_sigma : the rules for σ.

    Examples
    --------
    >>> from lyceum.kernels import RBFKernel
    >>> RBFKernel(sigma=1.0).gram([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.6065], [0.6065, 1.0]]
    >>> RBFKernel(sigma="median").learn([[0.0], [1.0], [3.0]])
    RBFKernel(sigma=2.0)
    """

    sigma: Any = None
    gamma: Any = None

    def __post_init__(self) -> None:
        if self.sigma is not None and self.gamma is not None:
            raise SettingError(
                "RBF takes sigma or gamma, not both: gamma is 1 / (2 sigma²)"
            )
        if self.sigma is None and self.gamma is None:
            object.__setattr__(self, "sigma", 1.0)
        if self.gamma is not None:
            object.__setattr__(self, "gamma", _checked_gamma("RBFKernel", self.gamma))
        elif self.sigma not in ("median", "closest"):
            if not isinstance(self.sigma, Real) or not 0 < float(self.sigma) < np.inf:
                raise SettingError(
                    "sigma of RBF must be a positive number, 'median' or 'closest', but it is"
                    f" {self.sigma!r}"
                )
            object.__setattr__(self, "sigma", float(self.sigma))

    @property
    def mercer(self) -> bool:
        return True

    @property
    def is_fitted(self) -> bool:
        return not isinstance(self.sigma, str) and not isinstance(self.gamma, str)

    def learn(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ) -> RBFKernel:
        if self.sigma == "median":
            cells = cells_of(X, self)
            return RBFKernel(sigma=median_sigma(cells, sample_weight=sample_weight))
        if self.sigma == "closest":
            if y is None:
                raise SettingError(
                    "RBFKernel(sigma='closest') needs the classes: learn(X, y)"
                )
            return RBFKernel(sigma=closest_sigma(cells_of(X, self), y))
        if self.gamma is None:
            return self
        return RBFKernel(gamma=_number_of(self.gamma, X, self, sample_weight))

    @property
    def native(self) -> NativeKernel:
        if isinstance(self.sigma, str):
            raise SettingError(
                f"{self!r} does not know its sigma yet: call learn(X, y)"
            )
        if self.gamma is None:
            return NativeKernel("rbf", 0.5 / self.sigma**2)
        return NativeKernel("rbf", _known_gamma(self.gamma, self))

    def _center_rows(
        self,
        A: np.ndarray,
        B: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        if not len(B):
            return A, B
        # |x - y|² = |x|² - 2 x·y + |y|² would cancel where all rows are far from zero
        center = B.mean(axis=0, dtype=np.float64).astype(A.dtype)
        same = B is A
        A = A - center
        return A, A if same else B - center

    def diagonal(self, X: Data) -> np.ndarray:
        return np.ones(cells_of(X, self).shape[0])

    def __repr__(self) -> str:
        if self.gamma is None:
            return f"RBFKernel(sigma={self.sigma!r})"
        return f"RBFKernel(gamma={self.gamma!r})"


@register_kernel("sigmoid")
@dataclass(frozen=True)
class SigmoidKernel(_ProductKernel):
    """The sigmoid kernel k(x, y) = tanh(γ x·y + c), a unit of a neural network; in general no
    Mercer kernel.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        The factor γ; "scale" and "auto" are learned by `fitted`, as for `Polynomial`.
    coef0 : float, default=1.0
        The shift c.

    See Also
    --------
    is_mercer : shows the negative eigenvalue.

    Examples
    --------
    >>> from lyceum.kernels import SigmoidKernel, is_mercer
    >>> bool(is_mercer(SigmoidKernel(gamma=1.0, coef0=-1.0), [[0.0], [1.0], [2.0]]))
    False
    """

    gamma: Any = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", _checked_gamma("SigmoidKernel", self.gamma))
        object.__setattr__(self, "coef0", float(self.coef0))

    @property
    def is_fitted(self) -> bool:
        return not isinstance(self.gamma, str)

    def learn(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ) -> SigmoidKernel:
        return replace(self, gamma=_number_of(self.gamma, X, self, sample_weight))

    @property
    def native(self) -> NativeKernel:
        return NativeKernel("sigmoid", _known_gamma(self.gamma, self), self.coef0)
