"""Maps that calibrate posteriors, learned from rows that the classifier was not fitted on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import optimize
from scipy.special import expit, logit, logsumexp, softmax

from lyceum._core.base import normalize_posteriors
from lyceum._core.data import row_weights
from lyceum._core.probability import fit_sigmoid
from lyceum._core.text import show_count
from lyceum.errors import DataError, SettingError

# posteriors are kept away from 0 and 1 by this much before logits are taken
_LEAST = 1e-15
# and this is added to them before logarithms are, as in scikit-learn
_ADDED = 1e-12


@dataclass(frozen=True, eq=False)
class PosteriorMap:
    """A map from posteriors, or from scores, to calibrated posteriors.

    With s_k the posterior or the score of class k,
    `"temperature"`: the softmax of log s_k / T, of scores that of s_k / T, with the T of least log
    loss (Guo et al. 2017).
    `"sigmoid"`: 1 / (1 + exp(-(A s_k + B))) of every class, normalized (Platt 1999).
    `"isotonic"`: a rising step function of s_k for every class, normalized (Zadrozny and Elkan
    2002).
    These are scikit-learn's. Two more are for posteriors p_k:
    `"logit"`: the sigmoid of logit p_k, so that A = 1 and B = 0 change nothing.
    `"bounded"`: isotonic steps that stay half a row away from 0 and 1.
    Of two classes only the second has a map of its own.

    Parameters
    ----------
    method : {"temperature", "sigmoid", "isotonic", "logit", "bounded"}
        How posteriors are calibrated.
    tables : tuple of arrays
        One for every mapped class: T; A and B; or the rows (posterior, calibrated posterior) of the
        steps.
    scores : bool, default=False
        Whether it maps what a `decision_function` gives, not posteriors.

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

    METHODS: ClassVar[tuple[str, ...]] = (
        "temperature",
        "sigmoid",
        "isotonic",
        "logit",
        "bounded",
    )
    # those that change nothing where posteriors are right, and never give 0 or 1
    OF_POSTERIORS: ClassVar[tuple[str, ...]] = ("temperature", "logit", "bounded")

    method: str
    tables: tuple[np.ndarray, ...]
    scores: bool = False

    @classmethod
    def fit(
        cls,
        method: str,
        y: np.ndarray,
        proba: np.ndarray,
        w: np.ndarray | None = None,
        scores: bool = False,
    ) -> PosteriorMap:
        """The map learned from class codes and out-of-fold posteriors, or scores.

        Parameters
        ----------
        method : {"temperature", "sigmoid", "isotonic", "logit", "bounded"}
        y : array of shape (n,)
            Codes of the classes, 0 to K - 1.
        proba : array of shape (n, K), or (n,) with the scores of two classes
            Posteriors of rows that the classifier was not fitted on.
        w : array of shape (n,), optional
            Weights of the rows.
        scores : bool, default=False
            Whether `proba` holds scores of a `decision_function`.
        """
        if method not in cls.METHODS:
            raise SettingError(
                f"method={method!r}: choose one of {', '.join(cls.METHODS)}"
            )
        if scores and method in ("logit", "bounded"):
            raise SettingError(f"method={method!r} is for posteriors, not for scores")
        y = np.asarray(y)
        proba = np.asarray(proba, dtype=np.float64)
        is_right = proba.ndim == 2 or (scores and proba.ndim == 1)
        if not is_right or len(proba) != len(y) or not len(y):
            raise DataError(
                f"posteriors of shape {proba.shape} for {show_count(len(y), 'row')}: give one row"
                " for each"
            )
        weight = np.asarray(row_weights(w, len(y)), dtype=np.float64)
        if method == "temperature":
            logits = _logits(proba, scores)
            temperature = np.array([_temperature(y, logits, weight)])
            return cls(method, (temperature,), scores)
        columns = _mapped_columns(proba)
        first = 1 if len(columns) == 1 else 0
        tables = []
        for k, seen in enumerate(columns, start=first):
            if method in ("sigmoid", "logit"):
                entered = _logit(seen) if method == "logit" else seen
                tables.append(fit_sigmoid(entered, y == k, weight))
            else:
                tables.append(_steps(y == k, seen, weight, method == "bounded"))
        return cls(method, tuple(tables), scores)

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        """The calibrated posteriors, rows that sum to 1.

        Parameters
        ----------
        proba : array of shape (n, K), or (n,) with the scores of two classes
        """
        proba = np.asarray(proba, dtype=np.float64)
        if self.method == "temperature":
            logits = _logits(proba, self.scores)
            return softmax(logits / float(self.tables[0][0]), axis=1)
        columns = _mapped_columns(proba)
        mapped = [self._map_class(k, seen) for k, seen in enumerate(columns)]
        if len(mapped) == 1:
            return np.column_stack([1.0 - mapped[0], mapped[0]])
        # a row that is 0 of every class has equal shares
        posteriors = np.column_stack(mapped)
        posteriors[posteriors.sum(axis=1) == 0.0] = 1.0
        return normalize_posteriors(posteriors)

    def _map_class(self, k: int, seen: np.ndarray) -> np.ndarray:
        """Posteriors or scores of one class through the k-th table."""
        table = self.tables[k]
        if self.method == "logit":
            seen = _logit(seen)
        if self.method in ("sigmoid", "logit"):
            return expit(table[0] * seen + table[1])
        return np.interp(seen, table[:, 0], table[:, 1])

    def check(self) -> None:
        """Raise DataError unless the values, which came from a model file, are those of a map."""
        shapes: dict[str, Callable[[np.ndarray], bool]] = {
            "temperature": lambda table: table.shape == (1,) and table[0] > 0,
            "sigmoid": lambda table: table.shape == (2,),
            "isotonic": lambda table: (
                table.ndim == 2 and table.shape[1] == 2 and len(table) > 0
            ),
        }
        shapes["logit"] = shapes["sigmoid"]
        shapes["bounded"] = shapes["isotonic"]
        right = (
            self.method in shapes
            and isinstance(self.scores, bool)
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


def _mapped_columns(proba: np.ndarray) -> list[np.ndarray]:
    """The columns that have maps: of two classes the second alone."""
    if proba.ndim == 1:
        return [proba]
    if proba.shape[1] == 2:
        return [proba[:, 1]]
    return list(proba.T)


def _logits(proba: np.ndarray, scores: bool) -> np.ndarray:
    """What is divided by the temperature, (n, K): −s and s of the scores of two classes."""
    if not scores:
        return np.log(proba + _ADDED)
    if proba.ndim == 1:
        return np.column_stack([-proba, proba])
    return proba


def _temperature(y: np.ndarray, logits: np.ndarray, w: np.ndarray) -> float:
    """T = 1/β of least log loss, Σ w [log Σ_k exp(β u_k) - β u_y], sought over log β."""
    truth = logits[np.arange(len(y)), y]

    def loss(log_beta: float) -> float:
        beta = np.exp(log_beta)
        return float(w @ (logsumexp(beta * logits, axis=1) - beta * truth))

    # bounds and tolerance are scikit-learn's
    best = optimize.minimize_scalar(
        loss,
        bounds=(-10.0, 10.0),
        method="bounded",
        options={"xatol": 64 * np.finfo(float).eps},
    )
    return float(np.exp(-best.x))


def _logit(p: np.ndarray) -> np.ndarray:
    return logit(np.clip(p, _LEAST, 1.0 - _LEAST))


def _steps(
    happened: np.ndarray, seen: np.ndarray, w: np.ndarray, bounded: bool
) -> np.ndarray:
    """Posteriors or scores and their calibrated values; bounded, at least half a row away from 0
    and 1."""
    # the share of rows in which it happened at every distinct value, made rising
    values, index = np.unique(seen, return_inverse=True)
    weight = np.bincount(index, w, len(values))
    happened_weight = np.bincount(index, w * happened, len(values))
    shares = happened_weight / np.maximum(weight, np.finfo(float).tiny)
    used = weight > 0
    rising = np.asarray(
        optimize.isotonic_regression(shares[used], weights=weight[used]).x
    )
    if bounded:
        margin = 0.5 / (w.sum() + 1.0)
        rising = np.clip(rising, margin, 1.0 - margin)
    return np.column_stack([values[used], rising])
