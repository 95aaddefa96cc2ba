"""Voter: what the classifier and the regressor by nearest neighbors share."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Outputs,
    affine_operation,
    check_one_output,
    targets_to_score,
    undefined,
    validation_parts,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows, dense_cells
from lyceum._core.distances import (
    NeighborIndex,
    pairwise_blocks,
)
from lyceum._core.statistics import held_out_rows, seed_from
from lyceum._core.types import Data, Operation, Target, Weights
from lyceum.errors import SettingError, cannot_export
from lyceum.neighbors.knn.choice_of_k import (
    best_k,
    candidates,
    errors_by_k,
    first_rise,
)
from lyceum.neighbors.knn.explanation import (
    NeighborExplanation,
    column_differences,
    column_shares,
)
from lyceum.neighbors.knn.lists import NeighborLists
from lyceum.neighbors.knn.neighborhoods import (
    Neighborhood,
    nearest_by_weight,
    nearest_with_ties,
    slices,
    within,
)
from lyceum.neighbors.knn.votes import VOTE_CONSTRAINTS, Tally, Votes
from lyceum.neighbors.stored_rows import (
    STORED_CONSTRAINTS,
    as_cells,
    flat_fact,
)
from lyceum.report import Summary

_COUNT = Interval(Integral, 1, None, closed="left")
VOTER_CONSTRAINTS: dict[str, list[Any]] = {
    "n_neighbors": [_COUNT, StrOptions({"leave_one_out", "validation", "all"})],
    "radius": [Interval(Real, 0, None, closed="left"), None],
    "ties": [StrOptions({"first", "all"})],
    "max_neighbors": [_COUNT],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "random_state": ["random_state"],
    **VOTE_CONSTRAINTS,
    **STORED_CONSTRAINTS,
    "metric": [*STORED_CONSTRAINTS["metric"], StrOptions({"precomputed"})],
    "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
    "leaf_size": [_COUNT],
    "p": [Interval(Real, 0, None, closed="neither")],
}
_EXPORTED_CELLS = 100_000  # what a person would still send to a page
_TYPICAL_ROWS = 256  # stored rows that tell how far apart rows are in a column


class Voter(NeighborLists):
    """Predictions from the votes of stored rows."""

    _parameter_docs: ClassVar[str] = """
    weights : str or callable
        The vote of a row at distance d. "uniform": 1. "distance": 1/d. "inverse_square": 1/d².
        "shifted_inverse_square": 1/(d_0 + d)². "exponential_square": exp(-(d/σ)²). "gaussian":
        exp(-(d/σ)²/2). A callable takes distances of shape (n, k) and gives votes of this shape.
        With 1/d and 1/d² rows at distance 0 decide alone.
    bandwidth : float or None
        d_0 or σ; None takes the distance of the farthest neighbor of every query.
    radius : float or None
        If given, all rows within this distance vote instead, or the nearest row where there is
        none.
    ties : {"first", "all"}
        Which rows at the distance of the k-th neighbor vote: those stored first, so that k do, or
        all of them; for a given k.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        scikit-learn's choice of a search. It has no effect here: every search is exact, and the
        quickest for the number of columns is taken.
    leaf_size : int
        Of scikit-learn's trees; has no effect here.
    p : float
        The power of metric="minkowski": 1 is Manhattan, 2 Euclidean.
    metric_params : dict or None
        Parameters of a metric that is given by name, e.g. {"covariance": S} of "mahalanobis".
    max_neighbors : int
        The largest k to consider when k is chosen.
    validation_fraction : float
        The share of the rows that "validation" holds out.
    """

    _attribute_docs: ClassVar[str] = """
    n_samples_fit_ : int
        The number of stored rows.
    effective_metric_ : str or callable
        The metric that is computed: Minkowski's distance of p = 2 is the Euclidean one.
    effective_metric_params_ : dict
        Its parameters.
    """

    _needs_scaling = True
    _parameter_constraints: ClassVar[dict[str, Any]] = VOTER_CONSTRAINTS
    history_axes: ClassVar[tuple[str, str]] = ("neighbors", "error")

    n_neighbors: Any
    weights: Any
    bandwidth: Any
    radius: Any
    ties: str
    max_neighbors: int
    algorithm: str
    p: float
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    n_neighbors_: int

    # -- fit ---------------------------------------------------------------------------

    def _tally(self) -> Any:
        raise undefined(self, "_tally")

    def _keep_outputs(self, rows: Rows, outputs: Outputs) -> None:
        """Store rows of several targets."""
        if isinstance(self.n_neighbors, str) and self.n_neighbors != "all":
            raise SettingError(
                f"n_neighbors={self.n_neighbors!r} chooses k for one target: give a number, or fit"
                " one learner per column of y"
            )
        block = rows.in_one_block(type(self).__name__, self._alternative())
        targets = outputs.values
        if outputs.classes is not None:
            targets = targets.astype(np.int64)
        kept = replace(block, y=targets)
        self._keep(kept if self._is_precomputed else kept.without_zero_weights())
        self._choose()

    def _odd_only(self) -> bool:
        return False

    @property
    def _votes(self) -> Votes:
        if self.bandwidth is None:
            return Votes(self.weights)
        return Votes(self.weights, float(self.bandwidth))

    @property
    def _row_weights(self) -> np.ndarray | None:
        """The weights of the stored rows, None where each counts once."""
        if (self.weights_ == 1.0).all():
            return None
        return self.weights_

    def _check_settings(self) -> None:
        if self.radius is not None and isinstance(self.n_neighbors, str):
            raise SettingError(
                f"radius={self.radius} and n_neighbors={self.n_neighbors!r} both say which rows"
                " vote: leave one at its default"
            )
        if self.ties == "all" and self.n_neighbors in ("leave_one_out", "validation"):
            raise SettingError(
                f"ties='all' needs a number of neighbors, but n_neighbors={self.n_neighbors!r}"
                " compares neighborhoods of exactly k rows: give k, or ties='first'"
            )
        if self.metric == "minkowski" and self._power < 1:
            self._check_semimetric()
        if "p" in (self.metric_params or {}):
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__"
                " is ignored.",
                SyntaxWarning,
                stacklevel=4,
            )
        if callable(self.weights) and self.bandwidth is not None:
            raise SettingError(
                "bandwidth belongs to votes that are given by name, not to a callable"
            )

    def _check_semimetric(self) -> None:
        """As in scikit-learn: below p = 1 the triangle inequality does not hold."""
        if self.algorithm in ("kd_tree", "ball_tree"):
            raise SettingError(
                f'algorithm="{self.algorithm}" does not support 0 < p < 1 for the Minkowski metric.'
                ' To resolve this problem either set p >= 1 or algorithm="brute".'
            )
        if self.algorithm == "auto":
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing"
                " the execution with `algorithm='brute'`.",
                stacklevel=5,
            )

    def _choose(self, validation: object = None) -> None:
        """Set n_neighbors_, and errors_ where it is chosen."""
        if validation is not None and self.n_neighbors != "validation":
            raise SettingError(
                "validation rows are what n_neighbors='validation' chooses k by: set it"
            )
        self.__dict__.pop("errors_", None)
        n = len(self.weights_)
        total = max(1, int(np.ceil(self.weights_.sum())))
        if self.n_neighbors == "all":
            self.n_neighbors_ = total
        elif not isinstance(self.n_neighbors, str):
            self.n_neighbors_ = min(int(self.n_neighbors), total)
        elif n > 1:
            self._choose_by_error(validation)
        else:
            self.n_neighbors_ = 1

    def _choose_by_error(self, validation: object) -> None:
        if self.n_neighbors == "leave_one_out":
            errors = self._leave_one_out(self.max_neighbors)
        elif validation is None:
            errors = self._share_held_out()
        else:
            errors = self._errors_on(validation)
        tried = candidates(len(errors), self._odd_only())
        if self.n_neighbors == "leave_one_out":
            self.n_neighbors_ = best_k(errors, tried)
            self.errors_ = errors
            return
        # validation stops at the first rise: errors of larger k count as not tried
        self.n_neighbors_, last = first_rise(errors, tried)
        is_tried = np.isin(np.arange(1, len(errors) + 1), tried[tried <= last])
        self.errors_ = np.where(is_tried, errors, np.nan)

    def _share_held_out(self) -> np.ndarray:
        seed = seed_from(self.random_state)
        held = held_out_rows(0, len(self.weights_), self.validation_fraction, seed)
        # of few rows one at least is held out, and one at least is not
        if not (held.any() and not held.all()):
            held[:2] = (True, False)
        return self._held_out(held, self.max_neighbors)

    def _leave_one_out(self, most: int) -> np.ndarray:
        w = self._row_weights
        most = min(most, len(self.weights_) - 1)
        near = nearest_by_weight(self._neighbor_index, None, most, w)
        return errors_by_k(
            near=near,
            tally=self._tally(),
            votes=self._votes,
            truth=self.targets_,
            w=self.weights_,
            weights=w,
            most=most,
        )

    def _held_out(self, held: np.ndarray, most: int) -> np.ndarray:
        # metric and scales are those of all rows: only the search leaves rows out
        points = self._points(self.rows_)
        weights = None
        if self._row_weights is not None:
            weights = self._row_weights[~held]
        index = NeighborIndex(points[~held], metric=self.metric_)
        most = min(most, len(index))
        near = nearest_by_weight(index, points[held], most, weights)
        return errors_by_k(
            near=near,
            tally=Tally(self.targets_[~held], self._tally().n_classes),
            votes=self._votes,
            truth=self.targets_[held],
            w=self.weights_[held],
            weights=weights,
            most=most,
        )

    def errors_by_k(
        self, X: Data, y: Target = None, sample_weight: Weights = None
    ) -> np.ndarray:
        """The error on validation data for k = 1 ... `max_neighbors`, from one search.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        array of shape (max_neighbors,), or fewer where fewer rows are stored
            The share of rows that are misclassified, or the mean squared error.
        """
        check_is_fitted(self)
        if self.ties == "all":
            raise SettingError(
                "errors_by_k compares neighborhoods of exactly k rows: set ties='first'"
            )
        return self._errors_on((X, *targets_to_score(self, X, y, sample_weight)))

    def _errors_on(self, validation: object) -> np.ndarray:
        X, y, sample_weight = validation_parts(validation)
        block = self.rows_to_predict(X).in_one_block(type(self).__name__)
        weights = self._row_weights
        most = min(int(self.max_neighbors), len(self.weights_))
        points = self._points(as_cells(block))
        near = nearest_by_weight(self._neighbor_index, points, most, weights)
        return errors_by_k(
            near=near,
            tally=self._tally(),
            votes=self._votes,
            truth=self._codes(np.asarray(y)),
            w=sample_weight,
            weights=weights,
            most=most,
        )

    def _codes(self, y: np.ndarray) -> np.ndarray:
        return y

    # -- votes -------------------------------------------------------------------------

    def _near(self, points: Any) -> tuple[Neighborhood, np.ndarray]:
        """The rows that vote on some points, and their votes."""
        w = self._row_weights
        if self.radius is not None:
            near = within(self._neighbor_index, points, float(self.radius), w)
        elif self.ties == "all":
            near = nearest_with_ties(self._neighbor_index, points, self.n_neighbors_, w)
        else:
            near = nearest_by_weight(self._neighbor_index, points, self.n_neighbors_, w)
        if near.counts is None:
            return near, self._votes(near.distances)
        distances = np.where(near.counts > 0, near.distances, np.inf)
        return near, self._votes(distances) * near.counts

    def _shares(self, block: Block | None) -> np.ndarray:
        """The shares of the vote of every class, or the mean target, of every row of a block; of
        None, of every stored row by the others."""
        if block is None:
            return self._shares_of_others()
        points = self._points(as_cells(block))
        if self.n_neighbors == "all" and self.radius is None:
            return self._shepard(points)
        tally = self._tally()
        n = points.shape[0]
        # within a radius there may be all rows
        n_near = self.n_neighbors_ if self.radius is None else len(self.weights_)
        out = np.empty((n, tally.width))
        for part in slices(n, n_near):
            near, votes = self._near(points[part])
            out[part] = tally.share(near.rows, votes)
        return out

    def _shares_of_others(self) -> np.ndarray:
        if self.radius is None and (self.ties == "all" or self.n_neighbors == "all"):
            raise SettingError(
                "X=None predicts every stored row by its k nearest others: it needs a number as"
                " n_neighbors and ties='first', or a radius"
            )
        near, votes = self._near(None)
        return self._tally().share(near.rows, votes)

    def _vote_operations(self) -> list[Operation]:
        """`_shares` for exported models."""
        check_one_output(self, "an export")
        self._check_exported()
        points = np.asarray(self._points(self.rows_), dtype=np.float64)
        targets = self._tally().indicators()
        operations: list[Operation] = []
        if self.standardize is not False:
            operations.append(affine_operation(self.center_, self.scale_))
        kind = {"rows": points.tolist(), "metric": self._metric_name}
        votes = {
            "k": min(self.n_neighbors_, len(points)),
            "votes": self.weights,
            "bandwidth": self.bandwidth,
            "targets": targets.tolist(),
        }
        return [*operations, ("distances", kind), ("nearest", votes)]

    def _check_exported(self) -> None:
        """Raise unless the votes can be counted in another language."""
        if self.metric_params or self._metric_name not in ("euclidean", "manhattan"):
            raise cannot_export(self, f"its metric is {self._metric_name!r}")
        if self.radius is not None or self.ties == "all" or callable(self.weights):
            raise cannot_export(
                self, "radius, ties='all' and own votes are not written"
            )
        if self._row_weights is not None or sparse.issparse(self.rows_):
            raise cannot_export(self, "its rows have weights, or are sparse")
        if self.rows_.size > _EXPORTED_CELLS:
            raise cannot_export(
                self,
                f"its {self.rows_.size:,} stored cells are more than {_EXPORTED_CELLS:,}: take"
                " prototypes='condensed', or a sample of the rows",
            )

    def _shepard(self, points: Any) -> np.ndarray:
        """The votes of all rows (Shepard's method): Σ v(d_i) y_i / Σ v(d_i)."""
        tally = self._tally()
        targets = tally.indicators()
        stored = self._points(self.rows_)
        out = np.empty((points.shape[0], tally.width))
        # the same blocks for any number of threads
        step = max(1, (1 << 20) // len(self.weights_))
        blocks = pairwise_blocks(points, stored, metric=self.metric_, n_rows=step)
        for part, distances in blocks:
            votes = self._votes(np.asarray(distances, np.float64)) * self.weights_
            sums = np.einsum("ij,jk->ik", votes, targets)
            out[part] = sums / votes.sum(axis=1, keepdims=True)
        return out

    # -- what was learned --------------------------------------------------------------

    def _explain_votes(
        self, X: Data, unit: str, base: np.ndarray
    ) -> NeighborExplanation:
        """Contributions of columns and the rows that voted; `base` is the vote of all rows,
        (K,)."""
        check_is_fitted(self)
        check_one_output(self, "an explanation")
        if self._is_precomputed:
            raise SettingError(
                "given distances say nothing of columns: an explanation needs the rows themselves,"
                " and another metric"
            )
        contributions = partial(self._contributions, base=base)
        explanation, block = self._explain_in_memory(X, contributions, unit)
        near, votes = self._near(self._points(as_cells(block)))
        has_voted = votes > 0
        differences = self._pair_differences(block, near.rows)
        total = differences.sum(axis=2, keepdims=True)
        return explanation.extend(
            NeighborExplanation,
            rows=np.where(has_voted, near.rows, -1),
            distances=np.where(has_voted, near.distances, np.inf),
            votes=votes / votes.sum(axis=1, keepdims=True),
            targets=self._labels(self.targets_[near.rows]),
            differences=differences / np.where(total > 0, total, 1.0),
        )

    def _contributions(self, block: Block, base: np.ndarray) -> np.ndarray:
        """For `Learner._explain`: what is predicted, the base, and what every column of the block
        adds."""
        shares = self._shares(block)
        code = shares.argmax(axis=1)
        score = shares[np.arange(len(shares)), code]
        start = base[code]
        parts = [np.empty((0, len(self.schema_)))]
        for rows in slices(len(block), 1 << 14):
            part = block.take(np.arange(len(block))[rows])
            parts.append(self._shares_of_columns(part))
        column_parts = np.concatenate(parts)
        # the share of a table column is put on the first of its design columns; a table column may
        # have none, and the others then share the whole
        columns, first = np.unique(self._source, return_index=True)
        design_parts = np.zeros((len(block), block.X.shape[1]))
        design_parts[:, first] = column_parts[:, columns]
        total = np.where(design_parts.any(axis=1), design_parts.sum(axis=1), 1.0)
        added = (score - start)[:, None] * (design_parts / total[:, None])
        predicted = score
        if len(base) > 1 or self._tally().n_classes:
            predicted = code
        return np.column_stack([predicted, start, added])

    def _shares_of_columns(self, block: Block) -> np.ndarray:
        """How much nearer the voters are than typical rows, column by column, as shares."""
        near, votes = self._near(self._points(as_cells(block)))
        share = votes / votes.sum(axis=1, keepdims=True)
        differences = self._pair_differences(block, near.rows)
        voters = np.einsum("ij,ijk->ik", share, differences)
        n = len(self.weights_)
        sample = np.linspace(0, n - 1, min(_TYPICAL_ROWS, n)).astype(np.int64)
        sample_of_each = np.tile(sample, (len(block), 1))
        typical = self._pair_differences(block, sample_of_each).mean(axis=1)
        return column_shares(typical, voters)

    def _labels(self, targets: np.ndarray) -> np.ndarray:
        return targets

    def _pair_differences(self, block: Block, rows: np.ndarray) -> np.ndarray:
        """What every table column adds to the raw distances of rows and neighbors, (n, k, d)."""
        n, k = rows.shape
        d = len(self.schema_)
        queries = dense_cells(self._points(as_cells(block)))
        X = np.repeat(queries, k, axis=0)
        Y = dense_cells(self._points(self.rows_)[rows.ravel()])
        differences = column_differences(self.metric_, X, Y, self._source, d)
        return differences.reshape(n, k, d)

    @property
    def _source(self) -> np.ndarray:
        """The table column of every stored column."""
        if self._is_mixed:
            return np.arange(len(self.schema_))
        return self._design.source

    def summary(self) -> Summary:
        """Stored rows, metric, votes, k and how it was chosen; what to know of the columns'
        scales."""
        head = super().summary()
        facts = {
            **head.facts,
            "stored rows": len(self.weights_),
            "metric": repr(self.metric_),
            "standardize": self.standardize or "columns as they are",
            "votes": getattr(self.weights, "__name__", self.weights),
            **flat_fact(getattr(self, "n_undetermined_", 0), self.rows_.shape[1]),
        }
        if self.radius is not None:
            facts["radius"] = float(self.radius)
        elif self.n_neighbors == "all":
            facts["neighbors k"] = "all"
        else:
            facts["neighbors k"] = self.n_neighbors_
        if isinstance(self.n_neighbors, str) and hasattr(self, "errors_"):
            facts["k chosen by"] = self.n_neighbors.replace("_", "-")
            facts["its error"] = float(self.errors_[self.n_neighbors_ - 1])
        warning = self._scale_warning()
        if warning:
            facts["note"] = warning
        return Summary(head.title, facts)
