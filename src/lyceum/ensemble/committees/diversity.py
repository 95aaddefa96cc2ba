"""How differently the members of a committee err."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.text import plain, show_count
from lyceum._core.types import Target
from lyceum.errors import DataError
from lyceum.report import Table


@dataclass(frozen=True, slots=True, eq=False)
class Diversity:
    """Measures of diversity of L classifiers on test rows.

    Attributes
    ----------
    names : tuple of str
        The members.
    errors : array of shape (L,)
        The error of every member.
    q, disagreement, double_fault : float
        The means over all pairs; NaN where no pair has a value.
    q_pairs, disagreement_pairs, double_fault_pairs, kappa_pairs : arrays of shape (L, L)
        The measure of every pair; NaN on the diagonal, and for Q where it is 0 / 0.
    entropy : float
        From 0, all members are right or wrong together, to 1, half of them are right on every row.
    kappa : float
        Agreement of all members beyond chance: 1 is perfect, 0 that of independent members.
    table : lyceum.report.Table
        The measures of every pair, as a table.

    See Also
    --------
    diversity : Computes it.
    VotingClassifier.diversity : Computes it for the members of a fitted committee.

    References
    ----------
    Kuncheva and Whitaker (2003), Measures of diversity in classifier ensembles, Machine Learning
    51.

    Examples
    --------
    Both members are right on one row, both are wrong on another, and each alone is right on one:

    >>> from lyceum.ensemble import diversity
    >>> measures = diversity([0, 0, 0, 0], [[0, 0], [0, 1], [1, 0], [1, 1]], ["tree", "line"])
    >>> measures.errors.tolist(), measures.double_fault
    ([0.5, 0.5], 0.25)
    >>> print(measures.table)
    Pairs
    member  member  Q  disagreement  double fault  kappa
    ──────  ──────  ─  ────────────  ────────────  ─────
    tree    line    0           0.5          0.25      0
    """

    names: tuple[str, ...]
    errors: np.ndarray
    q_pairs: np.ndarray
    disagreement_pairs: np.ndarray
    double_fault_pairs: np.ndarray
    kappa_pairs: np.ndarray
    entropy: float
    kappa: float

    @property
    def q(self) -> float:
        return _mean(self.q_pairs)

    @property
    def disagreement(self) -> float:
        return _mean(self.disagreement_pairs)

    @property
    def double_fault(self) -> float:
        return _mean(self.double_fault_pairs)

    @property
    def table(self) -> Table:
        """The measures of every pair."""
        measures = {
            "Q": self.q_pairs,
            "disagreement": self.disagreement_pairs,
            "double fault": self.double_fault_pairs,
            "kappa": self.kappa_pairs,
        }
        rows = []
        for i, j in zip(*np.tril_indices(len(self.names), -1)):
            values = [float(measure[i, j]) for measure in measures.values()]
            rows.append((self.names[j], self.names[i], *values))
        return Table("Pairs", ("member", "member", *measures), rows)

    def __str__(self) -> str:
        facts = [
            (name, value)
            for name, value in self.as_dict().items()
            if isinstance(value, float)
        ]
        return f"{Table('Diversity', ('measure', 'value'), facts)}\n\n{self.table}"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def as_dict(self) -> dict[str, Any]:
        """All measures in JSON's own types."""
        return plain(
            {
                "q": self.q,
                "disagreement": self.disagreement,
                "double_fault": self.double_fault,
                "entropy": self.entropy,
                "kappa": self.kappa,
                "errors": dict(zip(self.names, self.errors)),
                "pairs": self.table,
            }
        )


def diversity(
    y: Target,
    predictions: Any,
    names: Sequence[str] | None = None,
) -> Diversity:
    """Q, disagreement, double fault, entropy and kappa of classifiers, from their predictions.

    With a, b, c, d the shares of rows on which two members are both right, only the first, only the
    second and neither: Q = (ad - bc) / (ad + bc), disagreement b + c, double fault d. With r_i of L
    members right on row i and p the mean accuracy: entropy is the mean of min(r_i, L - r_i) / (L -
    ⌈L/2⌉), and κ = 1 - mean(r_i (L - r_i)) / (L (L - 1) p (1 - p)). The kappa of a pair is Cohen's,
    of the two labels predicted.

    Parameters
    ----------
    y : array of shape (n,)
        The true classes.
    predictions : array of shape (n, L)
        The classes that every member predicts.
    names : sequence of str, optional

    Returns
    -------
    Diversity

    References
    ----------
    Kuncheva and Whitaker (2003), Measures of diversity in classifier ensembles, Machine Learning
    51.

    Examples
    --------
    >>> measures = diversity([0, 0, 0, 0], [[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> measures.q, measures.disagreement, measures.double_fault, measures.entropy, measures.kappa
    (0.0, 0.5, 0.25, 0.5, 0.0)
    """
    y = np.asarray(y)
    predictions = np.asarray(predictions)
    _check_predictions(y, predictions, names)
    # both right, neither right and only the first right, as shares of the rows, of every pair
    right = (predictions == y[:, None]).astype(np.float64)
    n, L = right.shape
    both = right.T @ right / n
    neither = (1 - right).T @ (1 - right) / n
    only = right.T @ (1 - right) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        q = (both * neither - only * only.T) / (both * neither + only * only.T)
    # r_i, the number of members that are right on row i
    r = right.sum(axis=1)
    entropy = np.minimum(r, L - r).mean() / (L - np.ceil(L / 2))
    if names is None:
        names = [f"member {i}" for i in range(1, L + 1)]
    return Diversity(
        names=tuple(map(str, names)),
        errors=1.0 - right.mean(axis=0),
        q_pairs=_off_diagonal(q),
        disagreement_pairs=_off_diagonal(only + only.T),
        double_fault_pairs=_off_diagonal(neither),
        kappa_pairs=_off_diagonal(_cohen(predictions)),
        entropy=float(entropy),
        kappa=_group_kappa(r, right),
    )


def _group_kappa(r: np.ndarray, right: np.ndarray) -> float:
    """κ of L members, of which r_i are right on row i; 1 where all agree on all rows."""
    L = right.shape[1]
    p = right.mean()
    chance = L * (L - 1) * p * (1 - p)
    if chance > 0:
        return float(1.0 - (r * (L - r)).mean() / chance)
    return 1.0


def _check_predictions(
    y: np.ndarray,
    predictions: np.ndarray,
    names: Sequence[str] | None,
) -> None:
    if (
        predictions.ndim != 2
        or y.shape != predictions.shape[:1]
        or predictions.shape[1] < 2
        or not len(y)
    ):
        raise DataError(
            f"predictions of shape {predictions.shape} for {show_count(y.size, 'row')}: give one"
            " column per member, and two members at least"
        )
    if names is not None and len(names) != predictions.shape[1]:
        raise DataError(
            f"there are {len(names)} names for the predictions of {predictions.shape[1]} members"
        )


def _cohen(predictions: np.ndarray) -> np.ndarray:
    """Cohen's kappa of the labels of every pair of columns."""
    labels, codes = np.unique(predictions, return_inverse=True)
    codes = codes.reshape(predictions.shape)
    # (n, L, K), and the shares of rows on which two members agree, in fact and by chance
    hot = (codes[:, :, None] == np.arange(len(labels))).astype(np.float64)
    agree = np.einsum("ilk,imk->lm", hot, hot) / len(hot)
    shares = hot.mean(axis=0)
    chance = shares @ shares.T
    return np.divide(
        agree - chance, 1 - chance, out=np.ones_like(agree), where=chance < 1
    )


def _off_diagonal(pairs: np.ndarray) -> np.ndarray:
    pairs = np.array(pairs, dtype=np.float64)
    np.fill_diagonal(pairs, np.nan)
    return pairs


def _mean(pairs: np.ndarray) -> float:
    finite = pairs[np.isfinite(pairs)]
    return float(finite.mean()) if len(finite) else float("nan")
