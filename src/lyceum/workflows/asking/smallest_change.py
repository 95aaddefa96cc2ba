"""The smallest change of a record that alters the action of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.base import Decision
from lyceum._core.data import ArraySource, Rows, Schema, time_text
from lyceum._core.report import Shown
from lyceum._core.text import plain, show
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.workflows.asking.askable_model import AskableModel

_MOST_TRIES = 20_000  # changes of one column, and again of two
_MOST_STEPS = 1_000  # pairs are made of so many smallest steps
_BATCH = 1_000
_HALVINGS = 12  # how closely the number is found at which the action alters


@dataclass(frozen=True, slots=True)
class SmallestChange(Shown):
    """Other cells for one or two columns, with which the model would act otherwise.

    Attributes
    ----------
    columns : dict of column to cell
    action : label
        What the model would do then.

    See Also
    --------
    ask_model : Looks for it.

    Examples
    --------
    >>> print(SmallestChange({"income": 21000, "home": "own"}, "accept"))
    accept with income = 21,000 and home = own
    """

    columns: dict[str, Any]
    action: Any

    def as_dict(self) -> dict[str, Any]:
        """Both in JSON's own types."""
        return plain({"columns": self.columns, "action": self.action})

    def __str__(self) -> str:
        cells = [f"{name} = {show(cell)}" for name, cell in self.columns.items()]
        return f"{self.action} with {' and '.join(cells)}"


def action_of(decision: Decision) -> Any:
    """What is done: the action under the costs or, without any, the prediction."""
    return decision.predicted if decision.risk is None else decision.action


@dataclass(frozen=True, slots=True)
class _Steps:
    """Other cells, each of one column, by the size of the step."""

    columns: np.ndarray
    cells: np.ndarray
    sizes: np.ndarray

    def smallest(self, n: int) -> _Steps:
        order = np.argsort(self.sizes, kind="stable")[:n]
        return _Steps(self.columns[order], self.cells[order], self.sizes[order])

    def pairs(self, n: int) -> np.ndarray:
        """Up to n pairs of steps of two columns, (m, 2), those of the smallest sums first."""
        first, second = np.triu_indices(len(self.sizes), 1)
        differ = self.columns[first] != self.columns[second]
        pairs = np.column_stack([first[differ], second[differ]])
        sums = self.sizes[pairs].sum(axis=1)
        return pairs[np.argsort(sums, kind="stable")[:n]]


class ChangeSearch:
    """Looks for the fewest columns, and of those the smallest step, that alter the action.

    The size of a step is the share of training rows between the old and the new number, and 1 minus
    the share of the new category; so it has no unit.
    """

    def __init__(
        self,
        model: AskableModel,
        X: np.ndarray,
        schema: Schema,
        loss: LossMatrix | None = None,
        doubt: float | None = None,
    ):
        self.model = model
        self.X = X
        self.schema = schema
        self.loss = loss
        self.doubt = doubt
        self.action = self._action(X)

    def find(self) -> SmallestChange | None:
        """The change, or None if none of one or two columns is found."""
        steps = self._steps().smallest(_MOST_TRIES)
        singles = np.arange(len(steps.sizes))[:, None]
        chosen = self._first_that_alters(steps, singles)
        if chosen is None:
            steps = steps.smallest(_MOST_STEPS)
            chosen = self._first_that_alters(steps, steps.pairs(_MOST_TRIES))
        if chosen is None:
            return None
        columns = steps.columns[chosen].tolist()
        cells = self._with(steps, chosen[None])
        for j in columns:
            cells = self._closer(cells, j)
        named = {self.schema[j].name: self._shown(j, cells[0, j]) for j in columns}
        return SmallestChange(named, self._action(cells))

    # -- steps -------------------------------------------------------------------------

    def _steps(self) -> _Steps:
        columns = []
        cells = []
        sizes = []
        for j in range(len(self.schema)):
            for cell, size in self._steps_of(j):
                columns.append(j)
                cells.append(cell)
                sizes.append(size)
        return _Steps(np.array(columns, np.intp), np.array(cells), np.array(sizes))

    def _steps_of(self, j: int) -> Iterator[tuple[float, float]]:
        """Other cells of a column, with the sizes of the steps to them."""
        column = self.schema[j]
        now = self.X[0, j]
        profile = self.model.profile
        if column.is_free_text:
            return
        if column.is_categorical:
            values = self._values(j)
            shares = np.full(len(values), 1.0 / max(1, len(values)))
            if profile is not None and not column.numeric:
                counts = profile.counts.get(column.name, np.ones(len(values)))
                shares = counts / max(1.0, counts.sum())
            sizes = 1.0 - shares
        elif profile is not None and column.name in profile.quantiles:
            values = profile.quantiles[column.name]
            rank = np.searchsorted(values, now) if now == now else len(values) // 2
            sizes = np.abs(np.arange(len(values)) - rank) / len(values) + 1e-9
        else:
            return
        others = zip(values.tolist(), sizes.tolist())
        yield from ((cell, size) for cell, size in others if cell != now)

    def _values(self, j: int) -> np.ndarray:
        """The cells that stand for the categories of a column."""
        column = self.schema[j]
        assert column.categories is not None
        if column.numeric:
            return column.categories.astype(np.float64)
        return np.arange(len(column.categories), dtype=np.float64)

    def _with(self, steps: _Steps, chosen: np.ndarray) -> np.ndarray:
        """The record with the steps of every line of `chosen`, one row per line."""
        X = np.repeat(self.X, len(chosen), axis=0)
        rows = np.arange(len(chosen))[:, None]
        X[rows, steps.columns[chosen]] = steps.cells[chosen]
        return X

    def _first_that_alters(
        self, steps: _Steps, choices: np.ndarray
    ) -> np.ndarray | None:
        """The first line of steps that alters the action; lines are tried many at a time."""
        for start in range(0, len(choices), _BATCH):
            lines = choices[start : start + _BATCH]
            actions = self._actions(self._with(steps, lines))
            for line, action in zip(lines, actions):
                # a single record is decided by another way, which may round otherwise
                if action != self.action and self._alters(
                    self._with(steps, line[None])
                ):
                    return line
        return None

    def _closer(self, cells: np.ndarray, j: int) -> np.ndarray:
        """The cells with a number as near to the record's as still alters the action."""
        near = self.X[0, j]
        if self.schema[j].is_categorical or near != near:
            return cells
        far = cells
        cells = cells.copy()
        for _ in range(_HALVINGS):
            between = cells.copy()
            between[0, j] = 0.5 * (near + cells[0, j])
            if self._alters(between):
                cells = between
            else:
                near = between[0, j]
        cells[0, j] = self._rounded_away(j, cells[0, j])
        return cells if self._alters(cells) else far

    def _rounded_away(self, j: int, cell: float) -> float:
        """A number that people can write: whole where training rows are, or of four digits; on the
        far side, seen from the record."""
        now = self.X[0, j]
        profile = self.model.profile
        assert profile is not None
        numbers = np.append(profile.quantiles[self.schema[j].name], now)
        exponent = 0
        if cell and (numbers % 1.0 != 0.0).any():
            exponent = int(np.floor(np.log10(abs(cell)))) - 3
        unit = 10.0**exponent
        count = np.ceil(cell / unit) if cell > now else np.floor(cell / unit)
        return round(float(count * unit), -exponent)

    def _shown(self, j: int, cell: float) -> Any:
        column = self.schema[j]
        if column.is_categorical:
            values = self._values(j)
            return plain(column.categories[values.tolist().index(cell)])  # type: ignore[index]
        if column.is_time:
            return time_text(cell)
        return int(cell) if float(cell).is_integer() else float(cell)

    # -- actions -----------------------------------------------------------------------

    def _action(self, cells: np.ndarray) -> Any:
        decision = self.model.decide_cells(cells, self.schema, self.loss, self.doubt)
        return action_of(decision)

    def _alters(self, cells: np.ndarray) -> bool:
        return self._action(cells) != self.action

    def _actions(self, X: np.ndarray) -> list[Any]:
        """The actions for many rows at once."""
        if self.loss is None and self.doubt is None:
            predicted = self.model.records.predict_rows(X, self.schema)
            if predicted is not None:
                return predicted.tolist()
        rows = Rows(ArraySource(X, None, None, self.schema, coded=True))
        fitted = self.model.fitted
        if self.loss is None and self.doubt is None:
            return np.asarray(fitted.given.predict(rows)).tolist()
        posterior = fitted.model.predict_proba(rows)
        labels = fitted.classes.tolist()  # type: ignore[union-attr]
        decided = minimum_risk(posterior, self.loss, self.doubt, classes=labels)
        return decided.actions.tolist()
