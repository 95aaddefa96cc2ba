"""Importance and effects of the columns for the chosen model, computed on rows that it has not
seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
        parts = [
            self._part(X[start : start + _BATCH]) for start in range(0, len(X), _BATCH)
        ]
        return np.concatenate(parts)

    def _part(self, X: np.ndarray) -> np.ndarray:
        source = ArraySource(
            np.ascontiguousarray(X), None, None, self.rows.schema, True
        )
        return row_predictions(self.model, Rows(source))


def _unseen(
    plan: Plan, data: StudyData, choice: RankedLearner, store: Store
) -> list[_Unseen]:
    """The choice with the settings chosen most often: on the rows held out, or fold by fold until
    enough."""
    fixed = plan[choice.name].settings
    settings = {key: value for key, value in choice.params.items() if key not in fixed}
    unseen: list[_Unseen] = []
    for train, test in _splits(plan, data):
        rows = data.rows.take(test)
        model: Any
        if plan[choice.name].members:
            model = committee_model(plan, choice.name, store)
        else:
            seed = seed_of(plan.seed, choice.name, "effects")
            model = build_pipeline(plan[choice.name], settings, seed)
            model = calibrated_model(model, choice.calibration, seed)
        model.fit(data.rows.take(train))
        X = np.concatenate(
            [np.asarray(block.X, dtype=np.float64) for block in rows.blocks()]
        )
        unseen.append(_Unseen(model, rows, X, data.y[test]))
        if sum(len(one.y) for one in unseen) >= _ROWS:
            break
    return unseen


def _splits(plan: Plan, data: StudyData) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if len(plan.held_out) >= _ROWS // 3:
        yield plan.compared, plan.held_out[: 3 * _ROWS]
        return
    for (repeat, _), split in plan.splits(data.y).items():
        if repeat == 0:
            yield split.train, split.test[: 3 * _ROWS]


def model_effects(
    plan: Plan, data: StudyData, choice: RankedLearner, store: Store
) -> ModelEffects:
    """Importances and effects of a learner's columns."""
    unseen = _unseen(plan, data, choice, store)
    rng = np.random.default_rng(seed_of(plan.seed, "effects"))
    columns = list(data.schema)
    importance = _importances(plan, unseen, columns, rng)
    top = [one.column for one in importance if one.increase > 0.0][:_SHOWN]
    indices = [
        next(j for j, column in enumerate(columns) if column.name == name)
        for name in top
    ]
    outputs = _outputs(plan, data)
    effects = [_effect(unseen, columns, j, outputs) for j in indices]
    return ModelEffects(
        sum(len(one.y) for one in unseen),
        len(unseen),
        _loss(plan, [(one.y, one.predict(one.X)) for one in unseen]),
        tuple(importance),
        tuple(effect for effect in effects if effect is not None),
        _strongest_pair(unseen, columns, indices, outputs),
    )


# -- importance ------------------------------------------------------------------------


def _loss(plan: Plan, predicted: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """The error rate or mean cost of the decisions, or RMSE."""
    if plan.classes is None:
        return float(
            np.sqrt(np.mean(np.concatenate([(y - p) ** 2 for y, p in predicted])))
        )
    costs = [plan.rule.cost(y, plan.rule.decide(p)) for y, p in predicted]
    return float(np.mean(np.concatenate(costs)))


def _importances(
    plan: Plan, unseen: list[_Unseen], columns: list[Column], rng: np.random.Generator
) -> list[ColumnImportance]:
    n = sum(len(one.y) for one in unseen)
    shuffles = int(np.clip(_PREDICTIONS // max(1, n * len(columns)), 2, _SHUFFLES))
    before = _loss(plan, [(one.y, one.predict(one.X)) for one in unseen])
    losses = np.array(
        [_shuffled_losses(plan, unseen, j, shuffles, rng) for j in range(len(columns))]
    )
    more = losses - before
    error = more.std(axis=1, ddof=1) / np.sqrt(shuffles)
    order = np.argsort(-more.mean(axis=1), kind="stable")
    return [
        ColumnImportance(columns[j].name, float(more[j].mean()), float(error[j]))
        for j in order
    ]


def _shuffled_losses(
    plan: Plan, unseen: list[_Unseen], j: int, shuffles: int, rng: np.random.Generator
) -> list[float]:
    """The loss after every shuffle of one column, each within the rows of a model."""
    parts = []
    for one in unseen:
        X = np.tile(one.X, (shuffles, 1))
        X[:, j] = np.concatenate(
            [rng.permutation(one.X[:, j]) for _ in range(shuffles)]
        )
        parts.append((one.y, np.split(one.predict(X), shuffles)))
    return [
        _loss(plan, [(y, predicted[s]) for y, predicted in parts])
        for s in range(shuffles)
    ]


# -- effects ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Which predictions are followed, and their names; the first is that of pairs."""

    indices: tuple[int, ...]
    names: tuple[str, ...]

    def of(self, predicted: np.ndarray) -> np.ndarray:
        if predicted.ndim == 1:
            return predicted[:, None]
        return predicted[:, list(self.indices)]


def _outputs(plan: Plan, data: StudyData) -> _Outputs:
    """The target; of two classes the rarer; of more the most frequent ones."""
    if plan.classes is None:
        return _Outputs((0,), (data.target,))
    counts = np.bincount(data.y, minlength=len(plan.classes))
    if len(counts) == 2:
        indices = [int(counts.argmin())]
    else:
        indices = np.argsort(-counts)[:_CURVES].tolist()
    return _Outputs(tuple(indices), tuple(str(plan.classes[k]) for k in indices))


def _grid(X: np.ndarray, column: Column, points: int) -> np.ndarray:
    """Values of a column: quantiles of numbers from 2.5 to 97.5 %, or the most frequent
    categories."""
    cells = X[np.isfinite(X)]
    if column.kind == "continuous":
        if len(cells):
            return np.unique(np.quantile(cells, np.linspace(0.025, 0.975, points)))
        return cells
    values, counts = np.unique(
        cells[cells >= 0] if not column.numeric else cells, return_counts=True
    )
    return np.sort(
        values[np.argsort(-counts, kind="stable")[: min(points, _CATEGORIES)]]
    )


def _labels(column: Column, cells: np.ndarray) -> tuple[Any, ...]:
    """The cells as people read them."""
    if column.categories is not None and not column.numeric:
        return tuple(column.categories[cells.astype(np.intp)].tolist())
    return tuple(cells.tolist())


def _mean_predictions(
    unseen: list[_Unseen],
    changes: list[dict[int, float]],
    limit: int,
    outputs: _Outputs,
) -> np.ndarray:
    """The mean prediction for every change of cells, over at most `limit` rows: (changes,
    outputs)."""
    total = 0.0
    weight = 0
    for one in unseen:
        X = one.X[:: max(1, -(-sum(len(u.y) for u in unseen) // limit))]
        stacked = np.tile(X, (len(changes), 1))
        for i, change in enumerate(changes):
            for j, value in change.items():
                stacked[i * len(X) : (i + 1) * len(X), j] = value
        predicted = outputs.of(one.predict(stacked))
        total = total + predicted.reshape(len(changes), len(X), -1).sum(axis=1)
        weight += len(X)
    return np.asarray(total / weight)


def _effect(
    unseen: list[_Unseen], columns: list[Column], j: int, outputs: _Outputs
) -> ColumnEffect | None:
    grid = _grid(np.concatenate([one.X[:, j] for one in unseen]), columns[j], _POINTS)
    if len(grid) < 2:
        return None
    means = _mean_predictions(
        unseen, [{j: value} for value in grid.tolist()], _EFFECT_ROWS, outputs
    )
    return ColumnEffect(
        columns[j].name,
        _labels(columns[j], grid),
        outputs.names,
        tuple(map(tuple, means.T.tolist())),
    )


def _strongest_pair(
    unseen: list[_Unseen],
    columns: list[Column],
    indices: list[int],
    outputs: _Outputs,
) -> PairEffect | None:
    """The pair with the largest part that is no sum of two effects."""
    first = _Outputs(outputs.indices[:1], outputs.names[:1])
    best: PairEffect | None = None
    largest = -1.0
    cells = np.concatenate([one.X for one in unseen])
    grids = {j: _grid(cells[:, j], columns[j], _PAIR_POINTS) for j in indices}
    for a, i in enumerate(indices):
        for j in indices[a + 1 :]:
            if min(len(grids[i]), len(grids[j])) < 2:
                continue
            changes = [
                {i: u, j: v} for u in grids[i].tolist() for v in grids[j].tolist()
            ]
            means = _mean_predictions(unseen, changes, _PAIR_ROWS, first).reshape(
                len(grids[i]), -1
            )
            size, share = _interaction(means)
            if size > largest:
                largest = size
                labels = _labels(columns[i], grids[i]), _labels(columns[j], grids[j])
                best = PairEffect(
                    (columns[i].name, columns[j].name), labels, first.names[0],
                    tuple(map(tuple, means.tolist())), share,
                )  # fmt: skip
    return best


def _interaction(means: np.ndarray) -> tuple[float, float]:
    """The mean square of what is no sum of two effects, and H², its share of all variance."""
    joint = means - means.mean()
    rest = joint - joint.mean(axis=0) - joint.mean(axis=1)[:, None]
    size = float((rest**2).mean())
    if not joint.any():
        return size, 0.0
    return size, size / float((joint**2).mean())
