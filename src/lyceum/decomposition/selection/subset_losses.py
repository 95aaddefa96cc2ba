"""Losses of sets of columns: of least squares from Gram statistics, or of any learner by
resampling."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from lyceum._core.data import Block, Column, Rows, Schema
from lyceum._core.statistics import UNEXPLAINED, Folds, PositiveFactor, Scatter
from lyceum.decomposition.selection.keep_columns import KeepColumns
from lyceum.decomposition.selection.subset_search import Subset
from lyceum.errors import DataError
from lyceum.evaluate import cross_validate


@dataclass(frozen=True, eq=False)
class TargetColumns:
    """The target as further columns: the number itself, or one column of 0 and 1 per class but the
    first."""

    classes: int

    @property
    def width(self) -> int:
        return max(self.classes - 1, 1)

    def schema(self, schema: Schema) -> Schema:
        names = [f"target {k}" for k in range(self.width)]
        targets = [Column(name, why="the target") for name in names]
        return Schema((*schema.columns, *targets))

    def __call__(self, block: Block) -> Block:
        y = np.asarray(block.y, dtype=np.float64)
        if self.classes:
            classes = np.arange(1, self.width + 1)
            Y = (y[:, None] == classes).astype(np.float64)
        else:
            Y = y[:, None]
        cells = np.asarray(block.dense, dtype=np.float64)
        X = np.column_stack([cells, Y])
        return replace(block, X=X, y=None, schema=self.schema(block.schema))


CRITERIA = ("cv", "aic", "bic")


@dataclass(frozen=True, eq=False)
class _Fold:
    """A scatter to fit on, and the second moments about its mean to measure on."""

    train: np.ndarray  # (p, p)
    test: np.ndarray  # (p, p)


@dataclass(eq=False)
class GramLosses:
    """Least squares of the target columns on sets of design columns, from scatter matrices alone.

    With S the scatter to fit on and M the moments to measure on, z = (-b, 1) has the squared error
    zᵀ M z. Adding column j moves z along one line, z + t_j d_j, and so does removing one, so that
    all candidates of a step cost one factorization.

    Attributes
    ----------
    folds : list of _Fold
    groups : list of arrays
        The design columns of every column of the table.
    n_targets : int
    weight : float
        N, the weight of the rows measured.
    criterion : {"cv", "aic", "bic"}
    """

    folds: list[_Fold]
    groups: list[np.ndarray]
    n_targets: int
    weight: float
    criterion: str
    n_evaluated: int = 0

    @classmethod
    def of_rows(
        cls,
        rows: Rows,
        groups: list[np.ndarray],
        n_targets: int,
        criterion: str,
        splits: Folds,
    ) -> GramLosses:
        """One pass over rows that have the target columns last."""
        if criterion != "cv":
            scatter: Scatter = rows.reduce(Scatter.of)
            fold = _Fold(scatter.scatter, scatter.scatter)
            return cls([fold], groups, n_targets, scatter.weight, criterion)
        folds = []
        weight = 0.0
        for train, test in splits.statistics(rows, Scatter.of).pairs:
            if not test.weight:
                continue
            weight += test.weight
            # predictions are centered at the training mean m: Σ (x - m)(x - m)ᵀ is the scatter of
            # the test rows and their weight times the square of the shift of the means
            moved = test.mean - train.mean
            moments = test.scatter + test.weight * np.outer(moved, moved)
            folds.append(_Fold(train.scatter, moments))
        return cls(folds, groups, n_targets, weight, criterion)

    # -- losses ------------------------------------------------------------------------

    def of(self, subset: Subset) -> float:
        columns = self._columns(subset)
        error = float(sum(self._error(fold, columns) for fold in self.folds))
        values = self._values(np.array([error]), len(columns))
        return float(values[0])

    def losses_with(self, subset: Subset, candidates: list[int]) -> np.ndarray:
        self.n_evaluated += len(candidates)
        # a category of several design columns has no update by one column
        if any(len(self.groups[j]) != 1 for j in candidates):
            return np.array([self.of(more) for more in _with_each(subset, candidates)])
        columns = self._columns(subset)
        more = np.array([self.groups[j][0] for j in candidates])
        errors = sum(self._errors_with(fold, columns, more) for fold in self.folds)
        return self._values(errors, len(columns) + 1)

    def losses_without(self, subset: Subset) -> np.ndarray:
        self.n_evaluated += len(subset)
        if any(len(self.groups[j]) != 1 for j in subset):
            return np.array([self.of(rest) for rest in _without_each(subset)])
        columns = self._columns(subset)
        errors = sum(self._errors_without(fold, columns) for fold in self.folds)
        return self._values(errors, len(columns) - 1)

    def _columns(self, subset: Subset) -> np.ndarray:
        columns = [self.groups[j] for j in subset]
        if columns:
            return np.concatenate(columns)
        return np.empty(0, dtype=np.intp)

    def _values(self, errors: Any, n_columns: int) -> np.ndarray:
        """The mean squared error over folds, or a criterion from the squared error of all rows."""
        mean = np.maximum(np.asarray(errors, dtype=np.float64), 0.0) / self.weight
        if self.criterion == "cv":
            return mean
        # n ln(error) + 2 k, or + k ln n: -2 ln L of normal errors up to a constant
        tiny = np.finfo(float).tiny
        k = n_columns * self.n_targets
        if self.criterion == "aic":
            penalty = 2.0
        else:
            penalty = np.log(self.weight)
        return self.weight * np.log(np.maximum(mean, tiny)) + penalty * k

    def n_undetermined(self, subset: Subset) -> int:
        """How many coefficients of a set its rows do not determine, the most of any fold."""
        columns = self._columns(subset)
        inner = np.ix_(columns, columns)
        ranks = [
            PositiveFactor.of(fold.train[inner], level=UNEXPLAINED).rank
            for fold in self.folds
        ]
        return len(columns) - min(ranks)

    # -- least squares -----------------------------------------------------------------

    def _fit(self, S: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients of the targets, and the inverse of the scatter of the columns."""
        # the inverse of the correlations, scaled back: columns of any units are one size
        q = self.n_targets
        inner = S[np.ix_(columns, columns)]
        scale = np.sqrt(np.maximum(np.diag(inner), 0.0))
        scale = np.where(scale > 0, scale, 1.0)
        R = inner / scale / scale[:, None]
        # a ridge below what is taken for dependence, so that repeated columns are no error
        R[np.diag_indices_from(R)] += 0.1 * UNEXPLAINED
        P = linalg.inv(R, check_finite=False) / scale / scale[:, None]
        targets = np.arange(len(S) - q, len(S))
        return P @ S[np.ix_(columns, targets)], P

    def _z(
        self,
        p: int,
        columns: np.ndarray,
        b: np.ndarray,
    ) -> np.ndarray:
        """z with Zᵀz = y - Xb, (p, q): the residuals of the targets as combinations of all
        columns, so that zᵀ M z are their sums of squares."""
        q = self.n_targets
        z = np.zeros((p, q))
        z[columns] = -b
        # the target columns stand last
        z[np.arange(p - q, p), np.arange(q)] = 1.0
        return z

    def _error(self, fold: _Fold, columns: np.ndarray) -> float:
        b = np.empty((0, self.n_targets))
        if len(columns):
            b, _ = self._fit(fold.train, columns)
        z = self._z(len(fold.train), columns, b)
        return float(np.einsum("pq,pr,rq->", z, fold.test, z))

    def _errors_with(
        self, fold: _Fold, columns: np.ndarray, more: np.ndarray
    ) -> np.ndarray:
        # A candidate j moves the residuals from z to z + d_j t_j, where d_j is B_j on the columns
        # and -1 at j: zᵀMz + 2 t_j d_jᵀMz + t_j² d_jᵀMd_j, for all candidates at once.
        M = fold.test
        b, B, t = self._fits_with(fold.train, columns, more)
        z = self._z(len(M), columns, b)
        Mz = M @ z  # (p, q)
        along = B.T @ Mz[columns] - Mz[more]
        inner = (
            np.einsum("sc,st,tc->c", B, M[np.ix_(columns, columns)], B)
            - 2.0 * np.einsum("sc,sc->c", B, M[np.ix_(columns, more)])
            + M[more, more]
        )
        return _moved_squares(z, Mz, t, along, inner)

    def _fits_with(
        self,
        S: np.ndarray,
        columns: np.ndarray,
        more: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The coefficients b of the columns, their part B in every candidate, and the coefficients
        t of what is left of each."""
        p = len(S)
        targets = np.arange(p - self.n_targets, p)
        b = np.empty((0, self.n_targets))
        B = np.empty((0, len(more)))
        residual = S[more, more].copy()
        cross = S[np.ix_(more, targets)]
        # Frisch-Waugh: what the columns leave of a candidate, and of its products with the targets
        if len(columns):
            b, P = self._fit(S, columns)
            shared = S[np.ix_(columns, more)]
            B = P @ shared
            residual = residual - np.einsum("sc,sc->c", shared, B)
            cross = cross - B.T @ S[np.ix_(columns, targets)]
        # a candidate that the columns explain up to rounding adds nothing
        usable = residual > UNEXPLAINED * np.maximum(S[more, more], 0.0)
        zeros = np.zeros_like(cross)
        t = np.divide(cross, residual[:, None], out=zeros, where=usable[:, None])
        return b, B, t

    def _errors_without(self, fold: _Fold, columns: np.ndarray) -> np.ndarray:
        S = fold.train
        M = fold.test
        b, P = self._fit(S, columns)
        z = self._z(len(S), columns, b)
        Mz = M @ z
        # as in `_errors_with` along the column P_j of the inverse: z + t_j P_j has a zero at j, and
        # is the least-squares fit of the other columns
        t = b / np.diag(P)[:, None]
        along = P.T @ Mz[columns]
        inner = np.einsum("sc,st,tc->c", P, M[np.ix_(columns, columns)], P)
        return _moved_squares(z, Mz, t, along, inner)


def _moved_squares(
    z: np.ndarray,
    Mz: np.ndarray,
    t: np.ndarray,
    along: np.ndarray,
    inner: np.ndarray,
) -> np.ndarray:
    """zᵀMz + 2 t_j d_jᵀMz + t_j² d_jᵀMd_j summed over the targets, for every j; along is d_jᵀMz,
    inner d_jᵀMd_j."""
    start = float(np.einsum("pq,pq->", z, Mz))
    linear = (t * along).sum(axis=1)
    square = (t**2).sum(axis=1)
    return start + 2.0 * linear + square * inner


@dataclass(eq=False)
class LearnerLosses:
    """The cross-validated loss of a learner on sets of columns, every set once, several at a time.

    A scorer, with the metadata that goes to those inside, is asked as scikit-learn asks it, in its
    folds; the loss is minus the mean score. With a `path` every result is written to a file as it
    comes, and read from it by a later search with the same `key`.
    """

    learner: Any
    X: Any
    y: Any
    w: Any
    cv: Any
    loss: Any
    seed: int
    n_jobs: int | None
    path: Path | None
    key: str
    scorer: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    known: dict[Subset, float] = field(default_factory=dict)
    n_evaluated: int = 0

    def __post_init__(self) -> None:
        if self.path is not None and self.path.exists():
            # lines of other keys belong to other searches that share the file
            text = self.path.read_text(encoding="utf-8")
            for number, line in enumerate(text.splitlines(keepends=True), 1):
                if not line.endswith("\n"):  # the process ended while it was written
                    self.path.write_text(text[: -len(line)], encoding="utf-8")
                    break
                try:
                    entry = json.loads(line)
                    key = entry["key"]
                    columns = tuple(entry["columns"])
                    loss = float(entry["loss"])
                except (ValueError, KeyError, TypeError) as error:
                    raise DataError(
                        f"line {number} of cache={str(self.path)!r} is no result of"
                        " SequentialFeatureSelector: give the path of another file, or of none"
                        " that exists"
                    ) from error
                if key == self.key:
                    self.known[columns] = loss

    def of(self, subset: Subset) -> float:
        return float(self._all([subset])[0])

    def losses_with(self, subset: Subset, candidates: list[int]) -> np.ndarray:
        return self._all(_with_each(subset, candidates))

    def losses_without(self, subset: Subset) -> np.ndarray:
        return self._all(_without_each(subset))

    def _all(self, subsets: list[Subset]) -> np.ndarray:
        new = [subset for subset in subsets if subset not in self.known]
        jobs = (delayed(self._measure)(subset) for subset in new)
        run = Parallel(n_jobs=self.n_jobs, return_as="generator")
        for subset, loss in zip(new, run(jobs)):
            self._remember(subset, float(loss))
        return np.array([self.known[subset] for subset in subsets])

    def _remember(self, subset: Subset, loss: float) -> None:
        self.known[subset] = loss
        self.n_evaluated += 1
        if self.path is not None:
            # one line per result, as soon as it is there: a search that is stopped goes on later
            entry = {"key": self.key, "columns": list(subset), "loss": loss}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(entry)}\n")

    def _measure(self, subset: Subset) -> float:
        if not subset:
            return np.inf
        X = _select_columns(self.X, subset)
        if self.scorer is not None:
            from sklearn.model_selection import cross_val_score  # takes long to import

            scores = cross_val_score(
                clone(self.learner),
                X,
                self.y,
                cv=self.cv,
                scoring=self.scorer,
                params=self.metadata,
            )
            return -float(scores.mean())
        validation = cross_validate(
            clone(self.learner),
            X,
            self.y,
            cv=self.cv,
            loss=self.loss,
            sample_weight=self.w,
            random_state=self.seed,
        )
        return float(np.average(validation.losses, weights=validation.n_test))


def _with_each(subset: Subset, candidates: list[int]) -> list[Subset]:
    """The subset and one candidate, for every candidate."""
    return [tuple(sorted((*subset, j))) for j in candidates]


def _without_each(subset: Subset) -> list[Subset]:
    """The subset without its first column, without its second, and so on."""
    return [subset[:k] + subset[k + 1 :] for k in range(len(subset))]


def _select_columns(X: Any, subset: Subset) -> Any:
    """The columns of a subset, of rows, an array or a frame, as the same kind of table."""
    if isinstance(X, Rows):
        return X.then(KeepColumns(np.array(subset)))
    if hasattr(X, "select") and hasattr(X, "schema"):  # pyarrow and Polars
        if hasattr(X, "column_names"):
            names = X.column_names
        else:
            names = X.columns
        return X.select([names[j] for j in subset])
    return _safe_indexing(X, list(subset), axis=1)


def digest_of_rows(rows: Rows) -> str:
    """A digest of cells, targets, weights and categories: other rows have another one."""
    digest = hashlib.sha256()
    columns = list(rows.schema.columns)
    if rows.schema.target is not None:
        columns.append(rows.schema.target)
    for column in columns:
        categories = column.categories
        if categories is not None:
            categories = np.asarray(categories).tolist()
        digest.update(repr((column.name, column.kind, categories)).encode())
    for block in rows.blocks():
        X = block.X
        cells = [X]
        if sparse.issparse(X):
            cells = [X.data, X.indices, np.diff(X.indptr)]
        for part in (*cells, block.y, block.w):
            if part is None:
                bytes_of = b"-"
            else:
                bytes_of = np.ascontiguousarray(part).tobytes()
            digest.update(bytes_of)
    return digest.hexdigest()
