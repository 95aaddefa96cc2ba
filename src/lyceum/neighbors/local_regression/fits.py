"""Weighted least squares in the neighborhood of every query, by one native kernel over blocks of
queries; and one such fit in detail: its rows, its polynomial, and gradient descent step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from lyceum._core.distances import NeighborIndex, pairwise
from lyceum._core.native import native
from lyceum._core.solvers import ranked_squares
from lyceum._core.statistics import weighted_median
from lyceum._core.threads import ordered_map
from lyceum.errors import SettingError, number_setting
from lyceum.neighbors.knn.neighborhoods import nearest_by_weight
from lyceum.neighbors.local_regression.kernels import kernel_weights

_QUERIES = 1024  # per task, fewer where neighborhoods are large
_CELLS = 1 << 20


def n_terms(n_columns: int, degree: int) -> int:
    """The coefficients of a polynomial.

    >>> [n_terms(4, degree) for degree in (0, 1, 2)]
    [1, 5, 15]
    """
    n_products = n_columns * (n_columns + 1) // 2
    return 1 + (degree > 0) * n_columns + (degree > 1) * n_products


def bandwidths_to_try(
    index: NeighborIndex, points: np.ndarray, some: np.ndarray, near: int, n_tried: int
) -> np.ndarray:
    """From about the distance to the `near`-th neighbor of some rows to the width of all rows."""
    neighbors = index.nearest(points[some], min(len(index), near + 1))
    reach = np.median(neighbors.distances[:, -1])
    squares = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    widest = 2.0 * float(np.sqrt(squares.max()))
    if not widest > 0:
        return np.ones(1)
    return np.geomspace(max(reach, 1e-3 * widest), widest, n_tried)


@dataclass(frozen=True)
class LocalFit:
    """The fits at some queries."""

    value: np.ndarray  # (n,) the fitted value at the query
    norm: np.ndarray  # (n,) its variance in units of that of one target
    # (n,) what a row at the query itself adds of its own target, for weight 1
    leverage: np.ndarray
    gradient: np.ndarray  # (n, d)
    degenerate: np.ndarray  # (n,) whether the rows did not determine all terms


class Judgment(NamedTuple):
    """σ with σ² = Σ r² / Σ (1 - 2 l_ii + |l_i|²), the trace of the hat matrix, and the share of
    rows whose neighborhood does not determine all terms.
    """

    sigma: float
    trace: float
    degenerate: float


@dataclass(frozen=True)
class LocalModel:
    """Stored rows, and how a neighborhood is weighted and solved."""

    index: NeighborIndex
    X: np.ndarray  # (n, d) in the units of distances, float64
    y: np.ndarray
    weights: np.ndarray | None  # None: every row counts once
    degree: int
    kernel: str
    n_neighbors: int | None  # None: all rows
    bandwidth: float | None  # None: the distance of the farthest of the n_nearest
    n_nearest: int
    steps: int = 0
    rate: float = 1.0
    tolerance: float = 0.0
    robustness: np.ndarray | None = None  # (n,) factors on the kernel weights
    clips: bool = False  # whether values stay within the range of the targets
    start: np.ndarray | None = None  # of a descent on the columns as they are
    units: tuple[Any, Any] = (0.0, 1.0)  # center and scale of X

    def at(self, Q: np.ndarray, own: np.ndarray | None = None) -> LocalFit:
        """The fits at the rows of Q; `own` is the stored row that each leaves out."""
        n_listed = len(self.y) if self.n_neighbors is None else self.n_neighbors
        step = max(1, min(_QUERIES, _CELLS // max(1, n_listed)))

        def fit_from(start: int) -> LocalFit:
            part = slice(start, start + step)
            return self._fit_block(Q[part], None if own is None else own[part])

        parts = list(ordered_map(fit_from, range(0, len(Q), step)))
        if not parts:
            return self._fit_block(Q, own)
        arrays = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(LocalFit)
        }
        if self.clips:
            arrays["value"] = arrays["value"].clip(self.y.min(), self.y.max())
        return LocalFit(**arrays)

    def _fit_block(self, Q: np.ndarray, own: np.ndarray | None) -> LocalFit:
        if self.start is not None:
            return given_fits(self, Q, own)
        rules = native.LocalRules(self.degree, self.steps, self.rate, self.tolerance)
        lists = native.WeightedLists(*self.lists(Q, own))
        Q = np.ascontiguousarray(Q)
        return LocalFit(*native.local_fits(self.X, self.y, Q, lists, rules))

    def leave_one_out(self, some: np.ndarray, weights: np.ndarray) -> float:
        """The mean squared error of some stored rows, each left out of its own fit."""
        fitted = self.at(self.X[some], own=some).value
        return float(np.average((fitted - self.y[some]) ** 2, weights=weights[some]))

    def judge(self, some: np.ndarray, weights: np.ndarray) -> Judgment:
        """What the fits at some stored rows say of all."""
        w = weights[some]
        fit = self.at(self.X[some])
        # the leverage of a row is that of weight K(0) = 1; 1/u counts exact hits alone, each once
        leverage = fit.leverage
        if self.robustness is not None:
            leverage = leverage * self.robustness[some]
        left = float(w @ (1.0 - 2.0 * leverage + fit.norm))
        residual = self.y[some] - fit.value
        trace = float(weights.sum() / w.sum() * (w @ leverage))
        sigma = np.nan
        if left > 1e-9 * w.sum():
            sigma = float(np.sqrt(w @ residual**2 / left))
        return Judgment(sigma, trace, float(w @ fit.degenerate / w.sum()))

    def residual_weights(self, weights: np.ndarray) -> np.ndarray:
        """The bisquare (1 - (r / 6s)²)² of the residuals r of all stored rows, s their median size
        (Cleveland 1979); 1 for all if half of them are 0."""
        size = np.abs(self.y - self.at(self.X).value)
        s = weighted_median(size, weights)
        # what rounding leaves of an exact fit is no spread
        if not s > 1e-12 * np.abs(self.y).max(initial=0.0):
            return np.ones(len(size))
        return np.clip(1.0 - (size / (6.0 * s)) ** 2, 0.0, None) ** 2

    # -- neighborhoods ----------------------------------------------------------------

    def lists(
        self, Q: np.ndarray, own: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Offsets, rows, kernel weights and counts of the neighborhood of every query, end to
        end."""
        if self.n_neighbors is None:
            return self._all_rows(Q, own)
        near = nearest_by_weight(self.index, Q, self.n_neighbors, self.weights, own)
        distances = near.distances
        if near.counts is not None:
            distances = np.where(near.counts > 0, distances, np.inf)
        kernel = kernel_weights(self.kernel, distances, self._widths(distances))
        kernel = self._robust(kernel, near.rows)
        n, k = near.rows.shape
        offsets = np.arange(n + 1) * k
        rows = np.ascontiguousarray(near.rows).ravel()
        counts = None
        if near.counts is not None:
            counts = np.ascontiguousarray(near.counts).ravel()
        return offsets, rows, kernel.ravel(), counts

    def _all_rows(
        self, Q: np.ndarray, own: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        distances = pairwise(Q, self.X)
        if own is not None:
            # at infinite distance a row has no weight
            distances[np.arange(len(Q)), own] = np.inf
        widths = self._widths(distances)
        kernel = kernel_weights(self.kernel, distances, widths)
        kernel = self._robust(kernel, slice(None))
        counts_at_all = kernel > 0
        offsets = np.concatenate([[0], np.cumsum(counts_at_all.sum(axis=1))])
        rows = np.ascontiguousarray(np.nonzero(counts_at_all)[1])
        counts = None if self.weights is None else self.weights[rows]
        return offsets, rows, kernel[counts_at_all], counts

    def _robust(self, kernel: np.ndarray, rows: Any) -> np.ndarray:
        """The kernel weights times the factors of their rows, unless none would be left."""
        if self.robustness is None:
            return kernel
        product = kernel * self.robustness[rows]
        is_left = product.max(axis=1, keepdims=True, initial=0.0) > 0
        return np.where(is_left, product, kernel)

    def _widths(self, distances: np.ndarray) -> np.ndarray:
        """The bandwidth of every query."""
        if self.bandwidth is not None:
            return np.full(len(distances), self.bandwidth)
        if self.n_neighbors is not None:
            finite = np.where(np.isfinite(distances), distances, 0.0)
            farthest = finite.max(axis=1, initial=0.0)
        else:
            farthest = self._at_weight(distances)
        # so that rows all at one distance do not all vanish
        return farthest * (1 + 1e-9)

    def _at_weight(self, distances: np.ndarray) -> np.ndarray:
        """The distance within which the rows have the weight `n_nearest`."""
        if self.weights is None:
            k = min(self.n_nearest, distances.shape[1]) - 1
            radii = np.partition(distances, k, axis=1)[:, k]
        else:
            order = np.argsort(distances, axis=1, kind="stable")
            within = np.cumsum(self.weights[order], axis=1)
            # the first row with which the weight is reached, the last where it never is
            first = (within >= self.n_nearest).argmax(axis=1)
            is_reached = within[:, -1] >= self.n_nearest
            last = np.where(is_reached, first, distances.shape[1] - 1)
            ordered = np.take_along_axis(distances, order, axis=1)
            radii = ordered[np.arange(len(distances)), last]
        return np.where(np.isfinite(radii), radii, 0.0)


# -- one fit in detail -----------------------------------------------------------------


def polynomial_at(
    model: LocalModel, Q: np.ndarray, query: np.ndarray, scale: np.ndarray
) -> dict[str, Any]:
    """The rows about one query, their weights and, for one column, the polynomial through them.

    Q is the query in scaled units, `query` in those of the rows.
    """
    _, rows, w, counts = model.lists(Q)
    if counts is not None:
        w = w * counts
    fit: dict[str, Any] = {"rows": rows, "weights": w}
    if model.X.shape[1] == 1:
        X = model.X[rows]
        y = model.y[rows]
        mean = np.average(X, axis=0, weights=w)
        y_mean = np.average(y, weights=w)
        # weighted least squares: rows times √w, about the weighted means
        root = np.sqrt(w / w.max())
        T = terms_of(X - mean, model.degree)
        c = ranked_squares(T * root[:, None], (y - y_mean) * root).coef

        def polynomial(x: Any) -> np.ndarray:
            U = (np.asarray(x, np.float64)[:, None] - query) / scale + Q - mean
            return y_mean + terms_of(U, model.degree) @ c

        fit["polynomial"] = polynomial
    return fit


def descend_at(
    model: LocalModel, Q: np.ndarray, rate: float, max_steps: int, tol: float
) -> list[dict[str, Any]]:
    """Gradient descent on the weighted squared error at one query, (1, d), step by step."""
    _, rows, w, counts = model.lists(Q)
    if counts is not None:
        w = w * counts
    X = model.X[rows]
    y = model.y[rows]
    mean = np.average(X, axis=0, weights=w)
    y_mean = np.average(y, weights=w)
    # terms T of the rows and t of the query, in units in which every term has the sum of squares 1
    T = terms_of(X - mean, model.degree)
    squares = w @ T**2
    unit = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))
    T *= unit
    t = terms_of(Q - mean, model.degree)[0] * unit
    # the curvatures sum to the number of terms: divided by it, the step is stable up to rate 2
    c = np.zeros(T.shape[1])
    path = _descent(T, y - y_mean, w, c, rate / len(c), max_steps, tol)
    return [
        {
            "step": step,
            "objective": objective,
            "coefficients": c * unit,
            "value": float(y_mean + t @ c),
        }
        for step, (objective, c) in enumerate(path)
    ]


def descend_as_given(
    model: LocalModel,
    Q: np.ndarray,
    rate: float,
    start: Any,
    max_steps: int,
    tol: float,
) -> list[dict[str, Any]]:
    """Gradient descent at one query on the terms as they are: Δc = η Σ_i K_i (y_i - c·t_i) t_i.

    Q is the query in the units of distances.
    """
    _, rows, w, counts = model.lists(Q)
    if counts is not None:
        w = w * counts
    y = model.y[rows]
    center, scale = model.units
    T = terms_of(model.X[rows] * scale + center, model.degree)
    t = terms_of(Q * scale + center, model.degree)[0]
    c = np.zeros(len(t))
    if start is not None:
        c = check_start("start", start, len(t))
    return [
        {
            "step": step,
            "objective": objective,
            "coefficients": c,
            "value": float(t @ c),
        }
        for step, (objective, c) in enumerate(
            _descent(T, y, w, c, rate, max_steps, tol)
        )
    ]


def check_start(name: str, start: Any, n: int) -> np.ndarray:
    """The coefficients to start from, b0 first."""
    c = number_setting(name, start)
    if c.shape != (n,):
        raise SettingError(
            f"{name} has {c.size} coefficients, but the polynomial has {n}: 1, then the"
            " columns, then their products"
        )
    return c


def given_fits(model: LocalModel, Q: np.ndarray, own: np.ndarray | None) -> LocalFit:
    """The fits at the rows of Q where gradient descent from `model.start` ends."""
    offsets, rows, w, counts = model.lists(Q, own)
    center, scale = model.units
    parts = []
    for i in range(len(Q)):
        part = slice(offsets[i], offsets[i + 1])
        x = Q[i] * scale + center
        X = model.X[rows[part]] * scale + center
        y = model.y[rows[part]]
        n = np.ones(len(y)) if counts is None else counts[part]
        parts.append(_given_fit(model, x, X, y, w[part], n))
    columns = [np.array(column) for column in zip(*parts)]
    return LocalFit(*columns)


def _given_fit(
    model: LocalModel,
    x: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    kernel: np.ndarray,
    counts: np.ndarray,
) -> tuple[float, float, float, np.ndarray, bool]:
    """Value, variance, leverage, gradient and degeneracy of one of them.

    After m steps c = c_0 + P Tᵀ W (y - T c_0), P = η Σ_{k<m} (1 - η H)^k with H = Tᵀ W T: linear in
    y, so that the value t·c weighs the targets by W T P t.
    """
    assert model.start is not None
    T = terms_of(X, model.degree)
    t = terms_of(x[None], model.degree)[0]
    w = kernel * counts
    path = list(
        _descent(T, y, w, model.start, model.rate, model.steps, model.tolerance)
    )
    c = path[-1][1]
    n_steps = len(path) - 1
    # P has the eigenvectors of H, and the eigenvalues (1 - (1 - ηλ)^m) / λ, ηm where λ is 0
    values, U = np.linalg.eigh((T.T * w) @ T)
    is_lost = values <= len(t) * np.finfo(float).eps * values.max(initial=0.0)
    moved = 1.0 - (1.0 - model.rate * values) ** n_steps
    inverse = np.full_like(values, model.rate * n_steps)
    np.divide(moved, values, out=inverse, where=~is_lost)
    direction = U @ (inverse * (U.T @ t))
    weights = kernel * (T @ direction)
    slopes = _slopes_at(x, c, model.degree) * model.units[1]
    norm = float(counts @ weights**2)
    return float(t @ c), norm, float(t @ direction), slopes, bool(is_lost.any())


def _slopes_at(x: np.ndarray, c: np.ndarray, degree: int) -> np.ndarray:
    """The gradient at x of the polynomial with coefficients c."""
    d = len(x)
    slopes = np.zeros(d)
    if degree > 0:
        slopes += c[1 : d + 1]
    if degree > 1:
        i, j = np.triu_indices(d)
        np.add.at(slopes, i, c[d + 1 :] * x[j])
        np.add.at(slopes, j, c[d + 1 :] * x[i])
    return slopes


def _descent(
    T: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    c: np.ndarray,
    rate: float,
    max_steps: int,
    tol: float,
) -> Iterator[tuple[float, np.ndarray]]:
    """Steps Δc = η Tᵀ W (y - T c): the weighted squared error and c, before each and at the end."""
    for step in range(max_steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            residual = y - T @ c
            objective = float(w @ residual**2)
            change = rate * ((w * residual) @ T)
        if not np.isfinite(objective):
            raise SettingError(
                f"gradient descent at the rate {rate:g} runs away, in {step} steps: give a smaller"
                " learning_rate, or scaled columns"
            )
        yield objective, c
        c = c + change
        if np.abs(change).max() <= tol * max(np.abs(c).max(), 1e-300):
            return


def terms_of(U: np.ndarray, degree: int) -> np.ndarray:
    """1, the columns, and their products."""
    columns = [np.ones((len(U), 1))]
    if degree > 0:
        columns.append(U)
    if degree > 1:
        i, j = np.triu_indices(U.shape[1])
        columns.append(U[:, i] * U[:, j])
    return np.hstack(columns)
