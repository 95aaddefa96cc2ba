"""The nearest points of two convex hulls: the hard margin, seen from its dual."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from lyceum._core.text import plain, show
from lyceum.errors import DataError
from lyceum.kernels.functions.products import LinearKernel
from lyceum.kernels.svm.margin_machine import SolverSettings, fit_margin_machine
from lyceum.report import Summary, Table

_SETTINGS = SolverSettings(tol=1e-6, max_iter=sys.maxsize, cache=2e8)
_TOUCHES = 1e-9  # hulls nearer than this, relative to the size of the rows, meet


@dataclass(frozen=True)
class HullPoints:
    """The points of two convex hulls that are nearest to each other.

    Attributes
    ----------
    first, second : array of shape (n, d)
        The rows that the hulls are of.
    first_point, second_point : array of shape (d,)
        The nearest points p and q; one of many pairs where edges are parallel. Equal where the
        hulls meet.
    first_shares, second_shares : array of shape (n,)
        What every row adds to them: p = Σ a_i x_i with a_i ≥ 0 and Σ a_i = 1. Rows with a share
        above 0 are the support vectors.
    distance : float
        |p - q|, the width of the hard margin; 0 where the hulls meet.
    normal : array of shape (d,)
        w of the plane w·x + b = 0 halfway between p and q, with w·x + b = 1 at p and -1 at q; 0
        where the hulls meet.
    offset : float
        b.

    See Also
    --------
    nearest_hull_points : Finds them.
    SVC : With C=inf, the machine of this plane.
    lyceum.plot.hull_points : The picture.

    Examples
    --------
    >>> from lyceum.kernels import nearest_hull_points
    >>> points = nearest_hull_points([[2.0, 0.0], [2.0, 2.0]], [[0.0, 1.0]])
    >>> points.first_point.tolist(), points.first_shares.round(6).tolist(), points.distance
    ([2.0, 1.0], [0.5, 0.5], 2.0)
    """

    first: np.ndarray
    second: np.ndarray
    first_point: np.ndarray
    second_point: np.ndarray
    first_shares: np.ndarray
    second_shares: np.ndarray
    distance: float
    normal: np.ndarray
    offset: float

    def summary(self) -> Summary:
        """Both points, their distance, the plane between them, and the rows they are made of."""
        facts: dict[str, Any] = {
            "distance": self.distance,
            "first point": ", ".join(map(show, self.first_point.tolist())),
            "second point": ", ".join(map(show, self.second_point.tolist())),
            "hulls": "apart" if self.distance else "meet: no plane separates the rows",
        }
        if self.distance:
            facts["plane w"] = ", ".join(map(show, self.normal.tolist()))
            facts["plane b"] = self.offset
        rows = []
        for name, shares in (
            ("first", self.first_shares),
            ("second", self.second_shares),
        ):
            rows += [(name, int(i), float(shares[i])) for i in np.flatnonzero(shares)]
        table = Table("Rows that make the points", ("hull", "row", "share"), rows)
        return Summary("Nearest points of two convex hulls", facts, [table])

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def nearest_hull_points(first: ArrayLike, second: ArrayLike) -> HullPoints:
    """The points of the convex hulls of two sets of rows that are nearest to each other.

    They minimize |Σ a_i x_i - Σ b_j z_j|² over shares a, b ≥ 0 that each sum to 1. This is the dual
    of the hard margin: its α are a and b times 2 / |p - q|², and its plane stands halfway between p
    and q. Where the hulls meet, a common point is found by a linear program.

    Parameters
    ----------
    first, second : array of shape (n, d)
        Rows of numbers with the same columns.

    Returns
    -------
    HullPoints

    See Also
    --------
    lyceum.plot.hull_points : The picture.

    References
    ----------
    Bennett and Bredensteiner (2000), Duality and geometry in SVM classifiers, ICML.

    Examples
    --------
    >>> from lyceum.kernels import nearest_hull_points
    >>> points = nearest_hull_points([[1.0, 1.0], [2.0, 3.0]], [[0.0, 0.0], [-1.0, 2.0]])
    >>> points.normal.round(6).tolist(), round(points.offset, 6)
    ([1.333333, 0.666667], -1.0)
    """
    A = _rows("first", first)
    B = _rows("second", second)
    if A.shape[1] != B.shape[1]:
        raise DataError(
            f"the rows of the first hull have {A.shape[1]} columns, those of the second"
            f" {B.shape[1]}: give the same columns"
        )
    # about their mean, so that an offset takes no digits
    mean = np.vstack([A, B]).mean(axis=0)
    shares = _common_point(A - mean, B - mean)
    if shares is None:
        shares = _shares_of_margin(A - mean, B - mean)
        p = shares[0] @ (A - mean)
        q = shares[1] @ (B - mean)
    else:
        p = q = shares[0] @ (A - mean)
    gap = p - q
    square = float(gap @ gap)
    normal = np.zeros_like(gap)
    if square:
        normal = 2.0 * gap / square
    return HullPoints(
        first=A,
        second=B,
        first_point=p + mean,
        second_point=q + mean,
        first_shares=shares[0],
        second_shares=shares[1],
        distance=float(np.sqrt(square)),
        normal=normal,
        offset=-float(normal @ ((p + q) / 2.0 + mean)),
    )


def _rows(name: str, rows: ArrayLike) -> np.ndarray:
    X = np.asarray(rows, dtype=np.float64)
    if X.ndim != 2 or not X.size or not np.isfinite(X).all():
        raise DataError(
            f"{name} has the shape {X.shape}: give rows of finite numbers, at least one"
        )
    return X


def _common_point(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Shares of a point of both hulls, or None: the least Σ |Aᵀa - Bᵀb| over shares."""
    n = len(A)
    m = len(B)
    d = A.shape[1]
    size = max(float(np.abs(A).max()), float(np.abs(B).max())) or 1.0
    # variables a, b, and the positive and negative parts of the difference in every column
    equal = np.hstack([A.T / size, -B.T / size, -np.eye(d), np.eye(d)])
    sums = np.zeros((2, n + m + 2 * d))
    sums[0, :n] = 1.0
    sums[1, n : n + m] = 1.0
    cost = np.append(np.zeros(n + m), np.ones(2 * d))
    right = np.append(np.zeros(d), [1.0, 1.0])
    solution = optimize.linprog(
        cost, A_eq=np.vstack([equal, sums]), b_eq=right, method="highs"
    )
    if solution.x is None or solution.fun > _TOUCHES:
        return None
    shares = np.clip(solution.x[: n + m], 0.0, None)
    return shares[:n] / shares[:n].sum(), shares[n:] / shares[n:].sum()


def _shares_of_margin(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The α of the hard margin, which sum to the same number in both classes, as shares."""
    X = np.vstack([A, B])
    signs = np.repeat([1.0, -1.0], [len(A), len(B)])
    bound = np.full(len(X), np.inf)
    machine = fit_margin_machine(LinearKernel(), X, signs, bound, np.inf, _SETTINGS)
    of_first = machine.alpha[: len(A)]
    of_second = machine.alpha[len(A) :]
    return of_first / of_first.sum(), of_second / of_second.sum()
