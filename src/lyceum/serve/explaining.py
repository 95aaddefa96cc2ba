"""Why a decision was taken, and the smallest change of the record that would alter it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from lyceum._core.data import ArraySource, Rows, Schema
from lyceum._core.text import plain
from lyceum.serve.answering import answer_cells
from lyceum.serve.bodies import Question
from lyceum.serve.shelf import ServedModel
from lyceum.web import Refused

_MOST_TRIES = 4_000  # decisions per explanation: some 100 ms
_HALVINGS = 12  # how closely the place is found where a number alters the action


def explain_record(
    served: ServedModel, X: np.ndarray, schema: Schema, question: Question
) -> dict[str, Any]:
    """The decision, what every column adds to it, and the smallest change that alters it."""
    fitted = served.fitted
    answer = answer_cells(served, X, schema, question)
    if hasattr(fitted.learner, "explain"):
        rows = Rows(ArraySource(X, None, None, schema, coded=True))
        explained = fitted.explain(rows)
        order = np.argsort(-np.abs(explained.contributions[0]), kind="stable")
        answer["unit"] = explained.unit
        answer["base"] = plain(explained.base[0])
        answer["contributions"] = [
            {
                "column": str(explained.names[j]),
                "value": plain(np.asarray(explained.values)[0][j]),
                "adds": float(explained.contributions[0][j]),
            }
            for j in order.tolist()
        ]
    if fitted.classes is not None:
        answer["change"] = _ChangeSearch(served, X, schema, question).find(answer)
    elif "contributions" not in answer:
        raise Refused(422, f"{fitted.name} cannot explain a single prediction")
    return answer


class _ChangeSearch:
    """Looks for the fewest columns, and of those the smallest step, that alter the action.

    The size of a step is the share of training rows between the old and the new number, and 1 minus
    the share of the new category; so it has no unit.
    """

    def __init__(
        self, served: ServedModel, X: np.ndarray, schema: Schema, question: Question
    ):
        self.served = served
        self.X = X
        self.schema = schema
        self.question = question
        self.tries = 0

    def find(self, answer: dict[str, Any]) -> dict[str, Any] | None:
        """The change, or None if none of one or two columns is found."""
        self.action = _action_of(answer)
        steps = [self._steps(j) for j in range(len(self.schema))]
        singles = [
            [(j, cell, size)] for j, some in enumerate(steps) for cell, size in some
        ]
        best = self._smallest(singles)
        if best is None:
            pairs = [
                [(i, a, s), (j, b, t)]
                for i, j in combinations(range(len(steps)), 2)
                for a, s in steps[i]
                for b, t in steps[j]
            ]
            best = self._smallest(pairs)
        if best is None:
            return None
        cells = self._closer(best)
        changed = answer_cells(self.served, cells, self.schema, self.question)
        columns = {self.schema[j].name: self._shown(j, cells[0, j]) for j, *_ in best}
        return {"columns": columns, "action": _action_of(changed)}

    def _steps(self, j: int) -> list[tuple[float, float]]:
        """Other cells of a column, with the sizes of the steps to them."""
        column = self.schema[j]
        now = self.X[0, j]
        profile = self.served.profile
        if column.is_free_text:
            return []
        if column.is_categorical:
            values = range(len(column.categories))  # type: ignore[arg-type]
            cells = [float(code) for code in values]
            if column.numeric:
                cells = column.categories.astype(np.float64).tolist()  # type: ignore[union-attr]
            shares = np.full(len(cells), 1.0 / len(cells))
            if profile is not None and not column.numeric:
                counts = profile.counts.get(column.name, np.ones(len(cells)))
                shares = counts / max(1.0, counts.sum())
            others = zip(cells, shares.tolist())
            return [(cell, 1.0 - share) for cell, share in others if cell != now]
        if profile is None or column.name not in profile.quantiles:
            return []
        numbers = profile.quantiles[column.name]
        rank = np.searchsorted(numbers, now) if now == now else len(numbers) // 2
        return [
            (float(cell), abs(k - int(rank)) / len(numbers) + 1e-9)
            for k, cell in enumerate(numbers)
            if cell != now
        ]

    def _smallest(self, changes: list[Any]) -> Any:
        changes.sort(key=lambda change: sum(size for *_, size in change))
        for change in changes:
            if self.tries >= _MOST_TRIES:
                return None
            if self._alters(self._with(change)):
                return change
        return None

    def _with(self, change: Any) -> np.ndarray:
        cells = self.X.copy()
        for j, cell, _ in change:
            cells[0, j] = cell
        return cells

    def _alters(self, cells: np.ndarray) -> bool:
        self.tries += 1
        answer = answer_cells(self.served, cells, self.schema, self.question)
        return _action_of(answer) != self.action

    def _closer(self, change: Any) -> np.ndarray:
        """The change with its last number as near to the record's as still alters the action."""
        cells = self._with(change)
        j = change[-1][0]
        near = self.X[0, j]
        column = self.schema[j]
        if column.is_categorical or near != near:
            return cells
        for _ in range(_HALVINGS):
            between = cells.copy()
            between[0, j] = 0.5 * (near + cells[0, j])
            if self._alters(between):
                cells = between
            else:
                near = between[0, j]
        return cells

    def _shown(self, j: int, cell: float) -> Any:
        column = self.schema[j]
        if column.is_categorical and not column.numeric:
            return plain(column.categories[int(cell)])  # type: ignore[index]
        return float(cell)


def _action_of(answer: dict[str, Any]) -> Any:
    return answer.get("action", answer["predicted"])
