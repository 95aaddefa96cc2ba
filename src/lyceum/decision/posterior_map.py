"""Maps that calibrate posteriors, learned from rows that the classifier was not fitted on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import optimize
from scipy.special import expit, logit

from lyceum._core.base import normalize_posteriors
from lyceum._core.data import row_weights
from lyceum._core.probability import fit_sigmoid
from lyceum._core.text import show_count
from lyceum.errors import DataError, SettingError

# posteriors are kept away from 0 and 1 by this much before logarithms are taken
_LEAST = 1e-15


@dataclass(frozen=True, eq=False)
class PosteriorMap:
    """A map from posteriors to calibrated posteriors.

    `"temperature"`: p_k^(1/T), normalized, with the T of least log loss (Guo et al. 2017).
    `"sigmoid"`: 1 / (1 + exp(-(A logit p_k + B))) of every class, normalized (Platt 1999).
    `"isotonic"`: a rising step function of p_k for every class, normalized (Zadrozny and Elkan
    2002). Of two classes only the second has a map of its own.

    Parameters
    ----------
    method : {"temperature", "sigmoid", "isotonic"}
        How posteriors are calibrated.
    tables : tuple of arrays
        One for every mapped class: T; A and B; or the rows (posterior, calibrated posterior) of the
        steps.

    See Also
    --------
    CalibratedClassifierCV : A classifier with such a map.
    lyceum.evaluate.calibration_curve : How well posteriors are calibrated.

    References
    ----------
    J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
    likelihood methods", Advances in Large Margin Classifiers, 1999. B. Zadrozny and C. Elkan,
    "Transforming classifier scores into accurate multiclass probability estimates", Knowledge
    Discovery and Data Mining, 2002. C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration
    of modern neural networks", International Conference on Machine Learning, 2017.

    Examples
    --------
    >>> y, p = np.array([0, 1, 0, 1, 1, 0]), np.array([0.01, 0.99, 0.99, 0.99, 0.99, 0.01])
    >>> calibrate = PosteriorMap.fit("temperature", y, np.column_stack([1 - p, p]))
    >>> bool(calibrate(np.array([[0.01, 0.99]]))[0, 1] < 0.9)     # three of four were right
    True
    """

    METHODS: ClassVar[tuple[str, ...]] = ("temperature", "sigmoid", "isotonic")

    method: str
    tables: tuple[np.ndarray, ...]

    @classmethod
    def fit(
        cls, method: str, y: np.ndarray, proba: np.ndarray, w: np.ndarray | None = None
    ) -> PosteriorMap:
        """The map learned from class codes and out-of-fold posteriors.

        Parameters
        ----------
        method : {"temperature", "sigmoid", "isotonic"}
        y : array of shape (n,)
            Codes of the classes, 0 to K - 1.
        proba : array of shape (n, K)
            Posteriors of rows that the classifier was not fitted on.
        w : array of shape (n,), optional
            Weights of the rows.
        """
        if method not in cls.METHODS:
            raise SettingError(
                f"method={method!r}: choose one of {', '.join(cls.METHODS)}"
            )
        y = np.asarray(y)
        proba = np.asarray(proba, dtype=np.float64)
        if proba.ndim != 2 or len(proba) != len(y) or not len(y):
            raise DataError(
                f"posteriors of shape {proba.shape} for {show_count(len(y), 'row')}: give one row"
                " for each"
            )
        weight = np.asarray(row_weights(w, len(y)), dtype=np.float64)
        if method == "temperature":
            return cls(method, (np.array([_temperature(y, proba, weight)]),))
        classes = list(range(proba.shape[1]))
        if len(classes) == 2:
            classes = [1]
        tables = []
        for k in classes:
            p = proba[:, k]
            if method == "sigmoid":
                tables.append(fit_sigmoid(_logit(p), y == k, weight))
            else:
                tables.append(_steps(y == k, p, weight))
        return cls(method, tuple(tables))

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        """The calibrated posteriors, rows that sum to 1.

        Parameters
        ----------
        proba : array of shape (n, K)
        """
        proba = np.asarray(proba, dtype=np.float64)
        if self.method == "temperature":
            return normalize_posteriors(_powers(proba, 1.0 / float(self.tables[0][0])))
        if proba.shape[1] == 2:
            upper = self._map_class(0, proba[:, 1])
            return np.column_stack([1.0 - upper, upper])
        mapped = [self._map_class(k, proba[:, k]) for k in range(len(self.tables))]
        return normalize_posteriors(np.maximum(np.column_stack(mapped), _LEAST))

    def _map_class(self, k: int, p: np.ndarray) -> np.ndarray:
        """Posteriors of one class through the k-th table."""
        table = self.tables[k]
        if self.method == "sigmoid":
            return expit(table[0] * _logit(p) + table[1])
        return np.interp(p, table[:, 0], table[:, 1])

    def check(self) -> None:
        """Raise DataError unless the values, which came from a model file, are those of a map."""
        shapes: dict[str, Callable[[np.ndarray], bool]] = {
            "temperature": lambda table: table.shape == (1,) and table[0] > 0,
            "sigmoid": lambda table: table.shape == (2,),
            "isotonic": lambda table: (
                table.ndim == 2 and table.shape[1] == 2 and len(table) > 0
            ),
        }
        right = (
            self.method in shapes
            and isinstance(self.tables, tuple)
            and len(self.tables) > 0
        )
        if not right or not all(
            isinstance(table, np.ndarray)
            and table.dtype == np.float64
            and shapes[self.method](table)
            for table in self.tables
        ):
            raise DataError(f"not a map of posteriors: {self.method!r}")


def _powers(proba: np.ndarray, beta: float) -> np.ndarray:
    """p^β, scaled so that the largest of every row is 1: the row cannot underflow."""
    u = beta * np.log(np.maximum(proba, _LEAST))
    return np.exp(u - u.max(axis=1, keepdims=True))


def _temperature(y: np.ndarray, proba: np.ndarray, w: np.ndarray) -> float:
    """T = 1/β of least log loss, Σ w [log Σ_k p_k^β - log p_y^β], sought over log β."""
    rows = np.arange(len(y))

    def loss(log_beta: float) -> float:
        powers = _powers(proba, float(np.exp(log_beta)))
        log_sums = float(w @ np.log(powers.sum(axis=1)))
        return log_sums - float(w @ np.log(powers[rows, y] + 1e-300))

    best = optimize.minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded")
    return float(np.exp(-best.x))


def _logit(p: np.ndarray) -> np.ndarray:
    return logit(np.clip(p, _LEAST, 1.0 - _LEAST))


def _steps(happened: np.ndarray, p: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Posteriors and their calibrated values, at least half a row away from 0 and 1."""
    # the share of rows in which it happened at every distinct posterior, made rising
    values, index = np.unique(p, return_inverse=True)
    weight = np.bincount(index, w, len(values))
    happened_weight = np.bincount(index, w * happened, len(values))
    shares = happened_weight / np.maximum(weight, np.finfo(float).tiny)
    used = weight > 0
    rising = np.asarray(
        optimize.isotonic_regression(shares[used], weights=weight[used]).x
    )
    margin = 0.5 / (w.sum() + 1.0)
    return np.column_stack([values[used], np.clip(rising, margin, 1.0 - margin)])
