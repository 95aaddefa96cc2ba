"""Importance and effects of the columns for the chosen model, computed on rows that it has not
seen."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.data import ArraySource, Column, Rows
from lyceum.studies.compare.committees import committee_model
from lyceum.studies.compare.comparison import RankedLearner
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.report.model_effects import (
    ColumnEffect,
    ColumnImportance,
    ModelEffects,
    PairEffect,
)
from lyceum.studies.run.fold_calibration import calibrated_model
from lyceum.studies.run.pipelines import build_pipeline, row_predictions, seed_of
from lyceum.studies.run.store import Store

_ROWS = 300  # unseen rows that are enough: no more folds are fitted
_SHUFFLES = 5
_PREDICTIONS = 150_000  # of rows, for all importances together
_BATCH = 20_000  # rows predicted at once
_SHOWN = 4  # columns whose effect is computed
_POINTS = 16
_PAIR_POINTS = 8
_CATEGORIES = 10
_EFFECT_ROWS = 200
_PAIR_ROWS = 100
_ROUNDING = 1e-9  # of the variation, or of the loss: what is left of a 0
_CURVES = 4  # classes whose posterior is followed


# -- models and their unseen rows ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Unseen:
    """A fitted model, and rows that it has not seen."""

    model: Any
    rows: Rows
    X: np.ndarray
    y: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Posteriors or numbers of rows with these cells, some at a time."""
        schema = self.rows.schema
        parts = []
        for start in range(0, len(X), _BATCH):
            cells = np.ascontiguousarray(X[start : start + _BATCH])
            rows = Rows(ArraySource(cells, None, None, schema, True))
            parts.append(row_predictions(self.model, rows))
        return np.concatenate(parts)


def _fit_models(
    plan: Plan, data: StudyData, choice: RankedLearner, store: Store
) -> list[_Unseen]:
    """The choice with the settings chosen most often: on the rows held out, or fold by fold until
    enough."""
    # one model and the rows held out where these are enough, else a model per fold
    if len(plan.held_out) >= _ROWS // 3:
        splits = [(plan.compared, plan.held_out)]
    else:
        folds = plan.splits(data.y).items()
        splits = [(fold.train, fold.test) for (repeat, _), fold in folds if repeat == 0]
    unseen: list[_Unseen] = []
    for train, test in splits:
        test = test[: 3 * _ROWS]
        rows = data.rows.take(test)
        model: Any
        if plan[choice.name].members:
            model = committee_model(plan, choice.name, store)
        else:
            seed = seed_of(plan.seed, choice.name, "effects")
            model = build_pipeline(plan[choice.name], choice.params, seed)
            model = calibrated_model(model, choice.calibration, seed)
        model.fit(data.rows.take(train))
        blocks = [np.asarray(block.X, dtype=np.float64) for block in rows.blocks()]
        unseen.append(_Unseen(model, rows, np.concatenate(blocks), data.y[test]))
        if sum(len(part.y) for part in unseen) >= _ROWS:
            break
    return unseen


def model_effects(
    plan: Plan, data: StudyData, choice: RankedLearner, store: Store
) -> ModelEffects:
    """Importances and effects of a learner's columns."""
    models = _Models(plan, list(data.schema), _fit_models(plan, data, choice, store))
    rng = np.random.default_rng(seed_of(plan.seed, "effects"))
    loss = models.loss([part.predict(part.X) for part in models.parts])
    importance = models.importances(loss, rng)
    names = [column.name for column in models.columns]
    top = [names.index(c.column) for c in importance if c.increase > 0.0][:_SHOWN]
    outputs = _Outputs.of(plan, data)
    effects = [models.effect(j, outputs) for j in top]
    return ModelEffects(
        n_rows=models.n_rows,
        n_models=len(models.parts),
        loss=loss,
        importance=tuple(importance),
        effects=tuple(effect for effect in effects if effect is not None),
        pair=models.strongest_pair(top, outputs),
    )


# -- what is followed, and where -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Which predictions are followed, and their names."""

    indices: tuple[int, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, plan: Plan, data: StudyData) -> _Outputs:
        """The target; of two classes the rarer; of more the most frequent ones."""
        if plan.classes is None:
            return cls((0,), (data.target,))
        counts = np.bincount(data.y, minlength=len(plan.classes))
        if len(counts) == 2:
            indices = [int(counts.argmin())]
        else:
            indices = np.argsort(-counts)[:_CURVES].tolist()
        return cls(tuple(indices), tuple(str(plan.classes[k]) for k in indices))

    def select(self, predicted: np.ndarray) -> np.ndarray:
        """The columns of the predictions that are followed."""
        if predicted.ndim == 1:
            return predicted[:, None]
        return predicted[:, list(self.indices)]


def _grid(X: np.ndarray, column: Column, points: int) -> np.ndarray:
    """Values of a column: quantiles of numbers from 2.5 to 97.5 %, or the most frequent
    categories."""
    cells = X[np.isfinite(X)]
    if column.kind == "continuous":
        if len(cells):
            # at the extremes few rows would tell what the model does
            return np.unique(np.quantile(cells, np.linspace(0.025, 0.975, points)))
        return cells
    if not column.numeric:
        cells = cells[cells >= 0]  # codes of categories; unseen ones are negative
    values, counts = np.unique(cells, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[: min(points, _CATEGORIES)]
    return np.sort(values[frequent])


def _labels(column: Column, cells: np.ndarray) -> tuple[Any, ...]:
    """The cells as people read them."""
    if column.categories is not None and not column.numeric:
        return tuple(column.categories[cells.astype(np.intp)].tolist())
    return tuple(cells.tolist())


# -- importance and effects ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Models:
    """The models of the choice, each with the rows that it has not seen."""

    plan: Plan
    columns: list[Column]
    parts: list[_Unseen]

    @property
    def n_rows(self) -> int:
        return sum(len(part.y) for part in self.parts)

    def loss(self, predicted: Sequence[np.ndarray]) -> float:
        """The error rate or mean cost of the decisions, or RMSE; predictions by model."""
        rule = self.plan.rule
        pairs = [(part.y, p) for part, p in zip(self.parts, predicted)]
        if rule.n_classes is None:
            squares = [(y - p) ** 2 for y, p in pairs]
            return float(np.sqrt(np.mean(np.concatenate(squares))))
        costs = [rule.cost(y, rule.decide(p)) for y, p in pairs]
        return float(np.mean(np.concatenate(costs)))

    def importances(
        self, loss: float, rng: np.random.Generator
    ) -> list[ColumnImportance]:
        """The columns, the most important first: how far shuffling one raises the loss."""
        n_cells = max(1, self.n_rows * len(self.columns))
        shuffles = int(np.clip(_PREDICTIONS // n_cells, 2, _SHUFFLES))
        more = np.empty((len(self.columns), shuffles))
        for j in range(len(self.columns)):
            predicted = []
            for part in self.parts:
                # the rows once per shuffle, one below another, so that all are predicted together
                X = np.tile(part.X, (shuffles, 1))
                cells = [rng.permutation(part.X[:, j]) for _ in range(shuffles)]
                X[:, j] = np.concatenate(cells)
                predicted.append(np.split(part.predict(X), shuffles))
            more[j] = [self.loss(of_shuffle) - loss for of_shuffle in zip(*predicted)]
        # what rounding leaves of predictions that did not change
        more[np.abs(more) < _ROUNDING * loss] = 0.0
        error = more.std(axis=1, ddof=1) / np.sqrt(shuffles)
        order = np.argsort(-more.mean(axis=1), kind="stable")
        return [
            ColumnImportance(
                self.columns[j].name, float(more[j].mean()), float(error[j])
            )
            for j in order
        ]

    def effect(self, j: int, outputs: _Outputs) -> ColumnEffect | None:
        """The mean prediction at values of column j; None where it has fewer than two."""
        cells = np.concatenate([part.X[:, j] for part in self.parts])
        column = self.columns[j]
        grid = _grid(cells, column, _POINTS)
        if len(grid) < 2:
            return None
        changes = [{j: value} for value in grid.tolist()]
        means = self._mean_predictions(changes, _EFFECT_ROWS, outputs)
        lines = tuple(map(tuple, means.T.tolist()))
        return ColumnEffect(column.name, _labels(column, grid), outputs.names, lines)

    def strongest_pair(
        self, indices: list[int], outputs: _Outputs
    ) -> PairEffect | None:
        """The pair with the largest part that is no sum of two effects, in any of the outputs; None
        where all pairs add up but for rounding."""
        best: PairEffect | None = None
        largest = 0.0
        cells = np.concatenate([part.X for part in self.parts])
        grids = {j: _grid(cells[:, j], self.columns[j], _PAIR_POINTS) for j in indices}
        for i, j in itertools.combinations(indices, 2):
            if min(len(grids[i]), len(grids[j])) < 2:
                continue
            size, effect = self._pair_effect(i, j, grids, outputs)
            if size > largest and max(effect.strengths) > _ROUNDING:
                largest = size
                best = effect
        return best

    def _pair_effect(
        self, i: int, j: int, grids: Mapping[int, np.ndarray], outputs: _Outputs
    ) -> tuple[float, PairEffect]:
        """The effect of two columns on the output where they act on each other most, and how
        much."""
        changes = [{i: u, j: v} for u in grids[i].tolist() for v in grids[j].tolist()]
        means = self._mean_predictions(changes, _PAIR_ROWS, outputs)
        parts = [column.reshape(len(grids[i]), -1) for column in means.T]
        sizes, shares = zip(*map(_interaction, parts))
        k = int(np.argmax(sizes))
        first = self.columns[i]
        second = self.columns[j]
        effect = PairEffect(
            columns=(first.name, second.name),
            values=(_labels(first, grids[i]), _labels(second, grids[j])),
            output=outputs.names[k],
            means=tuple(map(tuple, parts[k].tolist())),
            strength=shares[k],
            outputs=outputs.names,
            strengths=shares,
        )
        return sizes[k], effect

    def _mean_predictions(
        self, changes: list[dict[int, float]], limit: int, outputs: _Outputs
    ) -> np.ndarray:
        """The mean prediction for every change of cells, over at most `limit` rows: (changes,
        outputs)."""
        sums = 0.0
        n_rows = 0
        step = max(1, -(-self.n_rows // limit))  # every step-th row
        for part in self.parts:
            X = part.X[::step]
            # the rows once per change, as for shuffles
            changed = np.tile(X, (len(changes), 1))
            for i, change in enumerate(changes):
                for j, value in change.items():
                    changed[i * len(X) : (i + 1) * len(X), j] = value
            predicted = outputs.select(part.predict(changed))
            sums = sums + predicted.reshape(len(changes), len(X), -1).sum(axis=1)
            n_rows += len(X)
        return np.asarray(sums / n_rows)


def _interaction(means: np.ndarray) -> tuple[float, float]:
    """The mean square of what is no sum of two effects, and H², its share of all variance."""
    joint = means - means.mean()
    rest = joint - joint.mean(axis=0) - joint.mean(axis=1)[:, None]
    size = float((rest**2).mean())
    if not joint.any():
        return size, 0.0
    return size, size / float((joint**2).mean())
