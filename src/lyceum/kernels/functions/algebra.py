"""Sums, products, positive multiples and shifts of kernels, which are kernels again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from lyceum._core.types import Data, Target, Weights
from lyceum.errors import SettingError, undefined
from lyceum.kernels.cells import cells_of, numbers_of
from lyceum.kernels.functions.base import Kernel


def add(a: Any, b: Any) -> Kernel:
    """The sum of two kernels, or of a kernel and a number."""
    parts = [
        part if isinstance(part, Kernel) else ConstantKernel(_number(part, "shift"))
        for part in (a, b)
    ]
    return SumKernel(*parts)


def multiply(kernel: Kernel, other: Any) -> Kernel:
    """The product of two kernels, or of a kernel and a number."""
    if isinstance(other, Kernel):
        return ProductKernel(kernel, other)
    return ScaledKernel(_number(other, "scale"), kernel)


def _number(value: object, what: str) -> float:
    if isinstance(value, Real):
        number = float(value)
        if 0 < number < np.inf or (what == "shift" and number == 0):
            return number
    words = {
        "scale": "multiplied by a positive number",
        "shift": "shifted by a number of at least 0",
    }
    raise SettingError(
        f"a kernel is {words[what]}, or it is no kernel any more: {value!r}"
    )


@dataclass(frozen=True)
class _Combined(Kernel):
    """A kernel of other kernels."""

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, Kernel):
                raise SettingError(
                    f"{type(self).__name__} is made of kernels, but {part!r} is none: give one,"
                    " e.g. LinearKernel()"
                )

    @property
    def parts(self) -> tuple[Kernel, ...]:
        raise undefined(self, "parts")

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]
        return all(part.takes_sparse for part in self.parts)

    @property
    def takes_missing(self) -> bool:  # type: ignore[override]
        return all(part.takes_missing for part in self.parts)

    @property
    def takes_categories(self) -> bool:  # type: ignore[override]
        return any(part.takes_categories for part in self.parts)

    @property
    def is_fitted(self) -> bool:
        return all(part.is_fitted for part in self.parts)

    @property
    def mercer(self) -> bool | None:
        return True if all(part.mercer for part in self.parts) else None


@dataclass(frozen=True, repr=False)
class _Pair(_Combined):
    """A kernel of two others."""

    a: Kernel
    b: Kernel

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return self.a, self.b

    def learn(self, X: Data, y: Target = None, sample_weight: Weights = None) -> Kernel:
        learned = [part.learn(X, y, sample_weight) for part in self.parts]
        return type(self)(*learned)


@dataclass(frozen=True)
class ConstantKernel(Kernel):
    """The constant kernel k(x, y) = c ≥ 0: what a shift of a kernel adds.

    Parameters
    ----------
    value : float, default=1.0
        c.

    See Also
    --------
    SumKernel : `kernel + 1` is the sum with a constant.
    ScaledKernel : A kernel times a number.

    Examples
    --------
    >>> from lyceum.kernels import ConstantKernel
    >>> ConstantKernel(2.0).gram([[1.0], [5.0]]).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """

    value: float = 1.0
    takes_sparse = True
    takes_missing = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _number(self.value, "shift"))

    @property
    def mercer(self) -> bool:
        return True

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        X, Y = numbers_of(self, X, Y)
        shape = (X.shape[0], Y.shape[0])
        return np.full(shape, self.value, dtype=X.dtype)

    def diagonal(self, X: Data) -> np.ndarray:
        return np.full(cells_of(X, self).shape[0], self.value)

    def sums(self, X: Data, coef: Any, Y: Data) -> np.ndarray:
        coef = np.asarray(coef, dtype=np.float64)
        m = cells_of(Y, self).shape[0]
        sums = self.value * coef.sum(axis=0, keepdims=True)
        return np.repeat(sums, m, axis=0)

    def feature_map(self, X: Data) -> np.ndarray:
        n = cells_of(X, self).shape[0]
        return np.full((n, 1), np.sqrt(self.value))

    def feature_names(self, names: Sequence[str] | None) -> list[str]:
        return ["1"]

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, repr=False)
class SumKernel(_Pair):
    """The sum of two kernels, k(x, y) = a(x, y) + b(x, y): their feature spaces side by side.

    Parameters
    ----------
    a, b : Kernel
        The kernels to add up.

    Attributes
    ----------
    parts : tuple of Kernel
        The two kernels.

    See Also
    --------
    ProductKernel, ScaledKernel, ConstantKernel : Other ways to make kernels from kernels.
    Kernel : The base class.

    References
    ----------
    J. Shawe-Taylor and N. Cristianini, "Kernel Methods for Pattern Analysis", Cambridge University
    Press, 2004, chapter 3.

    Examples
    --------
    >>> from lyceum.kernels import LinearKernel
    >>> (LinearKernel() + 1).feature_map([[2.0, 3.0]]).tolist()
    [[2.0, 3.0, 1.0]]
    """

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        out = self.a.gram(X, Y)
        out += self.b.gram(X, Y)
        return out

    def diagonal(self, X: Data) -> np.ndarray:
        return self.a.diagonal(X) + self.b.diagonal(X)

    # sums of a product are not made of those of its parts: ProductKernel takes the values in blocks
    def sums(self, X: Data, coef: Any, Y: Data) -> np.ndarray:
        of_a = self.a.sums(X, coef, Y)
        return of_a + self.b.sums(X, coef, Y)

    def feature_map(self, X: Data) -> np.ndarray:
        features = [part.feature_map(X) for part in self.parts]
        return np.hstack(features)

    def feature_names(self, names: Sequence[str] | None) -> list[str]:
        return self.a.feature_names(names) + self.b.feature_names(names)

    def __repr__(self) -> str:
        return f"{self.a!r} + {self.b!r}"


@dataclass(frozen=True, repr=False)
class ProductKernel(_Pair):
    """The product of two kernels, k(x, y) = a(x, y) b(x, y): all products of two of their features.

    Parameters
    ----------
    a, b : Kernel
        The kernels to multiply.

    Attributes
    ----------
    parts : tuple of Kernel
        The two kernels.

    See Also
    --------
    SumKernel, ScaledKernel, ConstantKernel : Other ways to make kernels from kernels.
    Kernel : The base class.

    References
    ----------
    J. Shawe-Taylor and N. Cristianini, "Kernel Methods for Pattern Analysis", Cambridge University
    Press, 2004, chapter 3.

    Examples
    --------
    >>> from lyceum.kernels import RBFKernel, LinearKernel
    >>> kernel = LinearKernel() * RBFKernel(sigma=1.0)
    >>> kernel.gram([[1.0], [2.0]]).round(3).tolist()
    [[1.0, 1.213], [1.213, 4.0]]
    """

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        out = self.a.gram(X, Y)
        out *= self.b.gram(X, Y)
        return out

    def diagonal(self, X: Data) -> np.ndarray:
        return self.a.diagonal(X) * self.b.diagonal(X)

    def feature_map(self, X: Data) -> np.ndarray:
        # (φ_a·φ_a')(φ_b·φ_b') is the product of all φ_a,i φ_b,j
        a = self.a.feature_map(X)
        b = self.b.feature_map(X)
        products = a[:, :, None] * b[:, None, :]
        return products.reshape(len(a), -1)

    def feature_names(self, names: Sequence[str] | None) -> list[str]:
        return [
            f"{first}·{second}"
            for first in self.a.feature_names(names)
            for second in self.b.feature_names(names)
        ]

    def __repr__(self) -> str:
        return " * ".join(map(_factor_text, self.parts))


@dataclass(frozen=True, repr=False)
class ScaledKernel(_Combined):
    """A kernel times a positive number.

    Parameters
    ----------
    factor : float
        The number, above 0.
    kernel : Kernel
        The kernel to multiply.

    Attributes
    ----------
    parts : tuple of Kernel
        The kernel alone.

    See Also
    --------
    SumKernel, ProductKernel, ConstantKernel : Other ways to make kernels from kernels.
    Kernel : The base class.

    Examples
    --------
    >>> from lyceum.kernels import LinearKernel
    >>> (3 * LinearKernel()).gram([[1.0], [2.0]]).tolist()
    [[3.0, 6.0], [6.0, 12.0]]
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "factor", _number(self.factor, "scale"))

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def learn(self, X: Data, y: Target = None, sample_weight: Weights = None) -> Kernel:
        return ScaledKernel(self.factor, self.kernel.learn(X, y, sample_weight))

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        out = self.kernel.gram(X, Y)
        out *= out.dtype.type(self.factor)
        return out

    def diagonal(self, X: Data) -> np.ndarray:
        return self.factor * self.kernel.diagonal(X)

    def sums(self, X: Data, coef: Any, Y: Data) -> np.ndarray:
        return self.factor * self.kernel.sums(X, coef, Y)

    def feature_map(self, X: Data) -> np.ndarray:
        return np.sqrt(self.factor) * self.kernel.feature_map(X)

    def feature_names(self, names: Sequence[str] | None) -> list[str]:
        return self.kernel.feature_names(names)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_factor_text(self.kernel)}"


def _factor_text(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, SumKernel) else repr(kernel)
