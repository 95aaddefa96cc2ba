"""The smallest change of a record that alters the action of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.base import Decision
from lyceum._core.data import ArraySource, Rows, Schema, time_text
from lyceum._core.report import Shown
from lyceum._core.text import plain, show
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.workflows.asking.askable_model import AskableModel
from lyceum.workflows.asking.cell_steps import PossibleSteps, category_cells

_MOST_TRIES = 20_000  # changes of one column, and again of two
_MOST_STEPS = 1_000  # pairs are made of so many smallest steps
_BATCH = 1_000
# how closely the number is found at which the action alters: the gap is cut into parts, and the
# first part at whose end it alters again
_PARTS = 64
_ROUNDS = 2


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


class ChangeSearch:
    """Looks for the fewest columns, and of those the smallest step, that alter the action."""

    def __init__(
        self,
        model: AskableModel,
        X: np.ndarray,
        schema: Schema,
        action: Any,
        loss: LossMatrix | None = None,
        doubt: float | None = None,
    ):
        self.model = model
        self.X = X
        self.schema = schema
        self.action = action  # of the record as it is
        self.loss = loss
        self.doubt = doubt

    def find(self) -> SmallestChange | None:
        """The change, or None if none of one or two columns is found."""
        steps = self.model.cell_steps.of_record(self.X[0]).first(_MOST_TRIES)
        singles = np.arange(len(steps.sizes))[:, None]
        chosen = self._first_that_alters(steps, singles)
        if chosen is None:
            steps = steps.first(_MOST_STEPS)
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

    def _with(self, steps: PossibleSteps, chosen: np.ndarray) -> np.ndarray:
        """The record with the steps of every line of `chosen`, one row per line."""
        X = np.repeat(self.X, len(chosen), axis=0)
        rows = np.arange(len(chosen))[:, None]
        X[rows, steps.columns[chosen]] = steps.cells[chosen]
        return X

    def _first_that_alters(
        self, steps: PossibleSteps, choices: np.ndarray
    ) -> np.ndarray | None:
        """The first line of steps that alters the action; lines are tried many at a time."""
        for start in range(0, len(choices), _BATCH):
            lines = choices[start : start + _BATCH]
            X = self._with(steps, lines)
            actions = self._actions(X)
            for i, action in enumerate(actions):
                # a single record is decided by another way, which may round otherwise
                if action != self.action and self._alters(X[i : i + 1]):
                    return lines[i]
        return None

    def _closer(self, cells: np.ndarray, j: int) -> np.ndarray:
        """The cells with a number as near to the record's as still alters the action."""
        near = self.X[0, j]
        if self.schema[j].is_categorical or near != near:
            return cells
        end = cells[0, j]
        for _ in range(_ROUNDS):
            between = np.repeat(cells, _PARTS, axis=0)
            between[:, j] = near + (end - near) * np.arange(1, _PARTS + 1) / _PARTS
            actions = self._actions(between)
            alters = [action != self.action for action in actions]
            k = alters.index(True) if True in alters else _PARTS - 1
            end = between[k, j]
            near = between[k - 1, j] if k else near
        closer = cells.copy()
        closer[0, j] = self._rounded_away(j, end)
        return closer if self._alters(closer) else cells

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
        if cell > now:
            count = np.ceil(cell / unit)
        else:
            count = np.floor(cell / unit)
        return round(float(count * unit), -exponent)

    def _shown(self, j: int, cell: float) -> Any:
        column = self.schema[j]
        if column.is_categorical:
            values = category_cells(column)
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
        records = self.model.records
        rows = Rows(ArraySource(X, None, None, self.schema, coded=True))
        fitted = self.model.fitted
        if self.loss is None and self.doubt is None:
            predicted = records.predict_rows(X, self.schema)
            if predicted is None:
                predicted = np.asarray(fitted.given.predict(rows))
            return predicted.tolist()
        posterior = records.posterior_rows(X, self.schema)
        if posterior is None:
            posterior = fitted.model.predict_proba(rows)
        labels = fitted.classes.tolist()  # type: ignore[union-attr]
        decided = minimum_risk(posterior, self.loss, self.doubt, classes=labels)
        return decided.actions.tolist()
