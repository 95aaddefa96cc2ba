"""Confusion matrices of K classes: counts, rates, and every way to see them as two classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.types import Priors, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.common import ratio
from lyceum.evaluate.label_codes import (
    as_classes,
    common_codes,
    known_codes,
    paired_codes,
    truth_and_weights,
    weights_of,
)
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.reports.binary import BinaryReport
from lyceum.evaluate.reports.kappa import (
    cohen_kappa,
    disagreement_weights,
    kappa_reading,
)
from lyceum.report import Summary, Table

_MOST_CLASSES = 5_000
_MOST_GROUPED = 16  # 2^15 - 1 = 32,767 tables
# the axis whose sums the cells are shares of
_SHARED = {"true": 1, "pred": 0, "all": None}


@dataclass(frozen=True, slots=True, eq=False)
class Confusion(Printable):
    """Rows by true class and by prediction; mergeable, so that large files are counted block by
    block.

    It is an array too, as scikit-learn's: ``matrix[0, 1]``, ``np.asarray(matrix)``, and for two
    classes ``tn, fp, fn, tp = matrix.ravel()``.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels.
    counts : ndarray of shape (K, K)
        Rows (or weight) of true class i predicted as class j.
    rejected : ndarray of shape (K,)
        Rows of true class i without a decision: the reject column.
    foreign : ndarray of shape (K + 1,)
        Rows that belong to no class (their true label is the reject label), by prediction; the last
        entry counts those that were rejected, which is right: the reject row.
    normalize : {"true", "pred", "all"} or None
        What the cells of the array are shares of; `counts` stay counts.
    n : float
        All rows, or their weight.
    rates : ndarray of shape (K, K)
        Share of the decided rows of class i predicted as class j; zeros for an empty class.
    full, full_rates : ndarray of shape (K + 1, K + 1)
        Counts, and shares of every row of them, with the reject row and column last.
    accuracy, error : float
        Right and wrong decisions over decided rows; 0 when nothing was decided.
    reject_rate : float
        Rows without a decision over all rows.
    kappa, kappa_reading : float, str
        Cohen's kappa over decided rows, and the same in words.

    See Also
    --------
    confusion_matrix : Makes it from labels.
    ClassReport : The rates of every class.
    Cobweb : The rates of every kind of mistake.
    lyceum.plot.confusion : The matrix as a picture.

    References
    ----------
    Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement
    20, 1960. Cohen, Weighted kappa: nominal scale agreement with provision for scaled disagreement
    or partial credit, Psychological Bulletin 70, 1968.

    Examples
    --------
    >>> from lyceum.evaluate import confusion_matrix
    >>> first = confusion_matrix(["a", "a", "b", "c"], ["a", "b", "b", "c"])
    >>> both = first.merge(confusion_matrix(["c"], ["a"]))
    >>> both[2].tolist(), both.accuracy                  # row of class "c"
    ([1, 0, 1], 0.6)
    >>> both.versus(["a"]).recall                        # one of the two rows of class "a" is found
    0.5
    """

    _derived = (
        "n",
        "accuracy",
        "error",
        "reject_rate",
        "kappa",
        "kappa_reading",
    )

    classes: np.ndarray
    counts: np.ndarray
    rejected: np.ndarray
    foreign: np.ndarray
    normalize: str | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        cells = _as_integers(self.counts)
        if self.normalize is not None:
            totals = self.counts.sum(axis=_SHARED[self.normalize], keepdims=True)
            cells = _shares(self.counts, totals)
        return cells.astype(dtype or cells.dtype)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __len__(self) -> int:
        return len(self.classes)

    def ravel(self) -> np.ndarray:
        """The cells row by row; of two classes tn, fp, fn, tp."""
        return np.asarray(self).ravel()

    @property
    def n(self) -> float:
        """All rows, or their weight."""
        return float(self.counts.sum() + self.rejected.sum() + self.foreign.sum())

    @property
    def rates(self) -> np.ndarray:
        """P_ij, the share of the decided rows of class i predicted as j; zeros for an empty
        class."""
        return _shares(self.counts, self.counts.sum(axis=1, keepdims=True))

    @property
    def full(self) -> np.ndarray:
        """(K+1, K+1) counts with the reject row and column last."""
        return np.block(
            [[self.counts, self.rejected[:, None]], [self.foreign[None, :]]]
        )

    @property
    def full_rates(self) -> np.ndarray:
        """`full` with each row divided by its sum: rejection counts as one more prediction."""
        return _shares(self.full, self.full.sum(axis=1, keepdims=True))

    @property
    def accuracy(self) -> float:
        """Right decisions over decided rows; 0 when nothing was decided."""
        return ratio(float(np.trace(self.counts)), self._decided)

    @property
    def error(self) -> float:
        """Wrong decisions over decided rows; 0 when nothing was decided."""
        wrong = self._decided - float(np.trace(self.counts))
        return ratio(wrong, self._decided)

    @property
    def _decided(self) -> float:
        """The weight of the rows with a decision; those of no class were decided wrong."""
        return float(self.counts.sum() + self.foreign[:-1].sum())

    def error_under(self, priors: Priors) -> float:
        """The error rate where the classes have other shares: Σ_k P(k) · (error rate of the rows of
        class k).

        Parameters
        ----------
        priors : array of shape (K,), or dict of class to share
            P(k), in the order of `classes`; they are divided by their sum.

        Returns
        -------
        float
            NaN if a class with a share has no decided row.
        """
        if isinstance(priors, Mapping):
            priors = [priors.get(label, 0.0) for label in self.classes.tolist()]
        shares = np.asarray(priors, dtype=np.float64)
        if (
            shares.shape != (len(self.classes),)
            or not (shares >= 0.0).all()
            or not shares.sum() > 0.0
        ):
            raise SettingError(
                f"priors are {shares.tolist()}: give a share for each of {self.classes.tolist()}"
            )
        decided = self.counts.sum(axis=1)
        # a class without decided rows has the rate 0/0 = NaN, which counts only if it has a share
        with np.errstate(invalid="ignore"):
            errors = 1.0 - np.diagonal(self.counts) / decided
        present = shares > 0
        error = (shares[present] * errors[present]).sum()
        return float(error / shares.sum())

    @property
    def reject_rate(self) -> float:
        """Rows without a decision over all rows."""
        undecided = float(self.rejected.sum() + self.foreign[-1])
        return ratio(undecided, self.n)

    @property
    def kappa(self) -> float:
        """Cohen's kappa over decided rows; 0 when all of them are in one class."""
        return cohen_kappa(self.counts)

    def weighted_kappa(self, weights: ArrayLike | None = "linear") -> float:
        """Cohen's weighted kappa, for ordered classes: 1 - Σ w_ij O_ij / Σ w_ij E_ij over decided
        rows.

        O_ij is the share of rows of class i predicted as j, and E_ij what it would be by chance.

        Parameters
        ----------
        weights : {"linear", "quadratic"} or array of shape (K, K), default="linear"
            How serious it is to predict class j for class i: |i - j|, (i - j)², or given; in the
            order of `classes`. With weight 1 for every error it is `kappa`.

        Returns
        -------
        float
            0 where chance explains everything.
        """
        w = disagreement_weights(weights, len(self.classes))
        # n² times the expected disagreement: E_ij is the product of the margins over n²
        row_sums = self.counts.sum(axis=1)
        column_sums = self.counts.sum(axis=0)
        margins = np.outer(row_sums, column_sums)
        expected = float((w * margins).sum())
        if expected > 0.0:
            disagreement = (w * self.counts).sum()
            observed = float(disagreement * self.counts.sum())
            return 1.0 - observed / expected
        return 0.0

    @property
    def kappa_reading(self) -> str:
        """Kappa in words."""
        return kappa_reading(self.kappa)

    def merge(self, other: Confusion) -> Confusion:
        """The matrix of both sets of rows, over the classes of either."""
        # either side may know classes that the other has not met
        labels, _ = common_codes({"these": self.classes, "those": other.classes})
        pairs = zip(self._expand(labels), other._expand(labels))
        counts, rejected, foreign = (first + second for first, second in pairs)
        return Confusion(as_classes(labels), counts, rejected, foreign, self.normalize)

    def _expand(self, labels: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        K = len(labels)
        codes = np.arange(len(self.classes))
        index = known_codes(self.classes.tolist(), codes, labels)
        counts = np.zeros((K, K))
        rejected = np.zeros(K)
        foreign = np.zeros(K + 1)
        counts[np.ix_(index, index)] = self.counts
        rejected[index] = self.rejected
        foreign[[*index, K]] = self.foreign
        return counts, rejected, foreign

    def versus(
        self, group: Iterable[Any], rest: Iterable[Any] | None = None
    ) -> BinaryReport:
        """Two classes: the labels in `group` against those in `rest`.

        Only rows whose truth and prediction are both among the named labels are counted.

        Parameters
        ----------
        group : labels
            The positive class.
        rest : labels, optional
            The negative class; by default all other labels.

        Returns
        -------
        BinaryReport
        """
        first = self._class_numbers(group)
        if rest is None:
            second = np.setdiff1d(np.arange(len(self.classes)), first)
        else:
            second = self._class_numbers(rest)
        if not len(first) or np.intersect1d(first, second).size:
            raise SettingError(
                "versus needs a group that is not empty and shares no label with the rest"
            )
        tp, fn, fp, tn = (
            float(self.counts[np.ix_(truth, predicted)].sum())
            for truth in (first, second)
            for predicted in (first, second)
        )
        return BinaryReport(
            tp=tp,
            fp=fp,
            fn=fn,
            tn=tn,
            positive=_name(self.classes[first]),
            negative=_name(self.classes[second]),
            rejected=float(self.rejected[first].sum() + self.rejected[second].sum()),
        )

    def _class_numbers(self, labels: Iterable[Any]) -> np.ndarray:
        classes = self.classes.tolist()
        wanted = list(labels)
        unknown = [label for label in wanted if label not in classes]
        if unknown:
            names = ", ".join(map(repr, classes))
            raise SettingError(f"no class {unknown[0]!r}: the classes are {names}")
        numbers = [classes.index(label) for label in wanted]
        return np.unique(numbers).astype(np.intp)

    def one_vs_one(self) -> tuple[BinaryReport, ...]:
        """Every pair of classes, on the rows of the two that were predicted as one of them:
        K(K-1)/2."""
        pairs = combinations(self.classes.tolist(), 2)
        return tuple(self.versus([first], [second]) for first, second in pairs)

    def one_vs_all(self) -> tuple[BinaryReport, ...]:
        """Every class against all the others: K tables."""
        return tuple(self.versus([label]) for label in self.classes.tolist())

    def some_vs_rest(self) -> tuple[BinaryReport, ...]:
        """Every division of the classes in two, the first class in the group: 2^(K-1) - 1."""
        labels = self.classes.tolist()
        if len(labels) > _MOST_GROUPED:
            raise SettingError(
                f"{len(labels)} classes have {2 ** (len(labels) - 1) - 1:,} divisions: "
                "use versus(group) for those of interest"
            )
        return tuple(
            self.versus([labels[0], *others])
            for size in range(len(labels) - 1)
            for others in combinations(labels[1:], size)
        )

    def table(self, rates: bool = False) -> Table:
        """The matrix as a table, with a reject column and row where there are any."""
        names = [str(label) for label in self.classes.tolist()]
        if rates:
            cells = self.full_rates
        else:
            cells = _as_integers(self.full)
        K = len(names)
        columns = K + bool(self.rejected.any() or self.foreign.any())
        rows = K + bool(self.foreign.any())
        heads = [*names, "(reject)"]
        title = "rows: truth, columns: prediction"
        if rates:
            title += " (shares of the row)"
        shown = cells[:rows, :columns].tolist()
        body = [(head, *line) for head, line in zip(heads, shown)]
        return Table(title, ("truth", *heads[:columns]), body)

    def summary(self) -> Summary:
        """The matrix, accuracy and kappa."""
        facts: dict[str, Any] = {
            "rows": _as_integers(np.array([self.n]))[0],
            "accuracy": self.accuracy,
            "error": self.error,
        }
        if self.reject_rate:
            facts["reject rate"] = self.reject_rate
        facts |= {"kappa": self.kappa, "kappa reads": self.kappa_reading}
        class_sizes = self.counts.sum(axis=1) + self.rejected
        empty = self.classes[class_sizes == 0]
        if len(empty):
            facts["classes without rows"] = ", ".join(map(str, empty))
        title = f"confusion of {len(self.classes)} classes"
        return Summary(title, facts, (self.table(),))


def confusion_matrix(
    y_true: Target,
    y_pred: Target,
    *,
    labels: ArrayLike | None = None,
    sample_weight: Weights = None,
    normalize: str | None = None,
    reject: Any = None,
) -> Confusion:
    """The confusion matrix: rows are true classes, columns predictions.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels of any one type; scanned rows as y_true stand for their target and carry their
        weights. A prediction that is None or NaN is a rejection.
    labels : array-like, optional
        The classes and their order; by default the sorted labels of both columns. Rows whose truth
        or prediction is none of them are left out.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    normalize : {"true", "pred", "all"}, optional
        Whether the array shows shares of the true class, of the predicted class or of all rows.
    reject : label, optional
        The label that stands for doubt. Among the predictions it is a rejection; among the truth it
        marks rows that belong to no class.

    Returns
    -------
    Confusion

    See Also
    --------
    class_report : The rates of every class.
    cobweb : The rates of every kind of mistake.
    lyceum.plot.confusion : The matrix as a picture.

    Examples
    --------
    >>> matrix = confusion_matrix(["a", "a", "b", "c"], ["a", "b", "b", "?"], reject="?")
    >>> print(matrix.table())
    rows: truth, columns: prediction
    truth  a  b  c  (reject)
    ─────  ─  ─  ─  ────────
    a      1  1  0         0
    b      0  1  0         0
    c      0  0  0         1
    >>> round(matrix.error, 3), matrix.reject_rate
    (0.333, 0.25)
    """
    if normalize not in (None, *_SHARED):
        raise SettingError(
            f"normalize={normalize!r}: choose 'true', 'pred', 'all' or None"
        )
    y_true, sample_weight = truth_and_weights(y_true, sample_weight)
    present, truth, guess = paired_codes(y_true, y_pred, reject)
    w = weights_of(sample_weight, len(truth))
    if labels is None:
        return _count(present, truth, guess, w, normalize)
    wanted = [
        label
        for label in np.asarray(labels).tolist()
        if reject is None or label != reject
    ]
    # the last entry answers the code -1: rows of doubt are counted
    is_wanted = np.array([*(label in wanted for label in present), True])
    if len(truth) and not is_wanted[truth].any():
        raise DataError(
            f"none of the labels {wanted} is in y_true: give at least one that is"
        )
    used = is_wanted[truth] & is_wanted[guess]
    truth, guess = (
        known_codes(present, codes[used], wanted) for codes in (truth, guess)
    )
    return _count(wanted, truth, guess, None if w is None else w[used], normalize)


def _count(
    labels: list[Any],
    truth: np.ndarray,
    guess: np.ndarray,
    w: np.ndarray | None,
    normalize: str | None,
) -> Confusion:
    K = len(labels)
    if K > _MOST_CLASSES:
        raise DataError(
            f"there are {K:,} different labels: is this a numeric target? regression_report"
            " measures those"
        )
    # One count over both codes: (truth + 1) (K + 1) + (guess + 1), where the shift by 1 sends
    # doubt, -1, to row and column 0. Below 5,002², which int32 holds.
    size = K + 1
    cell = truth * np.int32(size)
    cell += guess
    cell += np.int32(size + 1)
    counts = np.bincount(cell, w, minlength=size * size).astype(np.float64)
    counts = counts.reshape(size, size)
    return Confusion(
        classes=as_classes(labels),
        counts=counts[1:, 1:],
        rejected=counts[1:, 0],
        foreign=np.append(counts[0, 1:], counts[0, 0]),
        normalize=normalize,
    )


def _shares(counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
    return np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)


def _as_integers(counts: np.ndarray) -> np.ndarray:
    """Counts as integers where all of them are."""
    whole = (counts == np.trunc(counts)).all()
    if whole and (counts < 2**53).all():
        return counts.astype(np.int64)
    return counts


def _name(labels: np.ndarray) -> Any:
    if len(labels) == 1:
        return labels.tolist()[0]
    return ", ".join(map(str, labels.tolist()))
