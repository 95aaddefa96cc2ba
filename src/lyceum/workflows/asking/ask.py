"""Ask a model for single records: the decision, why, and what would alter it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.base import Decision
from lyceum._core.report import Shown
from lyceum._core.text import plain, show, show_cell
from lyceum.decision import LossMatrix
from lyceum.persist import load
from lyceum.report import Explanation, Table
from lyceum.workflows.asking.askable_model import AskableModel
from lyceum.workflows.asking.smallest_change import (
    ChangeSearch,
    SmallestChange,
    action_of,
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelAnswer(Shown):
    r"""What a model says to one record, and why.

    Attributes
    ----------
    record : dict
        The cells that were asked about.
    decision : Decision
        Prediction, posterior, action and risk.
    warnings : list of dict
        Columns with a missing or unknown cell, or one beyond the training rows.
    explanation : Explanation or None
        What every column adds; None if the learner cannot tell.
    change : SmallestChange or None
        The smallest change that alters the action; None for numbers, and where none is found.
    action : label or number
        What is done: the action under the costs or, without any, the prediction.
    detail : Table or None
        What else decided: the training rows that voted, or the members of a committee.

    See Also
    --------
    ask_model : Gives it.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.workflows import ask_model, fit_file
    >>> model = fit_file(datasets.path("penguins"), "species", "NaiveBayes")
    >>> (answer,) = ask_model(model, [{"flipper_length_mm": 181}])
    >>> print("\n".join(answer.sentences()))
    Adelie (Adelie 98.1%, Chinstrap 1.9%, Gentoo 0.0%)
    It would be Chinstrap with bill_length_mm = 47.54.
    """

    record: dict[str, Any]
    decision: Decision
    warnings: list[dict[str, Any]]
    explanation: Explanation | None = None
    change: SmallestChange | None = None

    @property
    def action(self) -> Any:
        return action_of(self.decision)

    @property
    def detail(self) -> Table | None:
        """What else decided: the training rows that voted, or the members of a committee."""
        detail = None if self.explanation is None else self.explanation.detail(0)
        if detail is None:
            return None
        return replace(detail, title=detail.title.removesuffix(" of row 0"))

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types; what there is not is left out."""
        decision = self.decision.as_dict()
        facts: dict[str, Any] = {
            "record": plain(self.record),
            "predicted": decision["predicted"],
        }
        if decision["probabilities"] is not None:
            facts["probabilities"] = decision["probabilities"]
        if decision["risk"] is not None:
            facts |= {name: decision[name] for name in ("action", "risk", "rejected")}
        facts["warnings"] = self.warnings
        if self.explanation is not None:
            facts["unit"] = self.explanation.unit
            facts["base"] = float(self.explanation.base[0])
            facts["score"] = float(self.explanation.scores[0])
            facts["contributions"] = [
                {"column": name, "value": plain(cell), "adds": adds}
                for name, cell, adds in self._contributions()
            ]
        facts["change"] = None if self.change is None else self.change.as_dict()
        if self.detail is not None:
            facts["detail"] = self.detail.as_dict()
        return facts

    def _contributions(self) -> list[tuple[str, Any, float]]:
        """Columns, their cells and what they add, the largest first."""
        assert self.explanation is not None
        adds = self.explanation.contributions[0]
        parts = []
        for j in np.argsort(-np.abs(adds), kind="stable").tolist():
            name = str(self.explanation.names[j])
            cell = self.explanation.value(0, j)
            # what was asked, not what a preparation made of it
            parts.append((name, self.record.get(name, cell), float(adds[j])))
        return parts

    def tables(self) -> list[Table]:
        """The contributions, and what else decided."""
        if self.explanation is None:
            return []
        rows: list[Any] = [("(base)", "", float(self.explanation.base[0]))]
        rows += [
            (name, show_cell(cell), adds) for name, cell, adds in self._contributions()
        ]
        head = ("column", "value", self.explanation.unit)
        tables = [Table("Why", head, rows)]
        if self.detail is not None:
            tables.append(self.detail)
        return tables

    def sentences(self) -> list[str]:
        """The decision, what is unusual about the record, and what would alter the action."""
        line = show(self.action)
        decision = self.decision
        if decision.probabilities is not None:
            named = decision.probabilities.items()
            shares = ", ".join(f"{label} {share:.1%}" for label, share in named)
            line += f" ({shares})"
        if decision.risk is not None:
            line += f", expected cost {show(decision.risk)}"
        lines = [line]
        lines += [f"{noted['column']}: {noted['warning']}" for noted in self.warnings]
        if self.change is not None:
            lines.append(f"It would be {self.change}.")
        return lines

    def __str__(self) -> str:
        return "\n\n".join(["\n".join(self.sentences()), *map(str, self.tables())])


def ask_model(
    model: Any,
    rows: Sequence[Mapping[str, Any]] = ({},),
    *,
    loss: LossMatrix | None = None,
    doubt: float | None = None,
    change: bool = True,
) -> list[ModelAnswer]:
    """What a model says to some records, why, and the smallest change that alters its action.

    Parameters
    ----------
    model : fitted model, AskableModel, or path of a model file
    rows : list of dict, default=({},)
        The cells of every record; columns that are not given are as in a typical record, the
        medians and most frequent categories of the training rows. A cell of None is missing.
    loss : LossMatrix, optional
        Costs instead of those of the model.
    doubt : float, optional
        The cost of rejecting a record instead of the model's.
    change : bool, default=True
        Whether the smallest change is looked for, which asks the model up to 40,000 times.

    Returns
    -------
    list of ModelAnswer

    See Also
    --------
    explain_rows : Explains rows of a file.
    lyceum.decide : The decision alone, in microseconds.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.workflows import ask_model, fit_file
    >>> model = fit_file(datasets.path("penguins"), "species", "DecisionTreeClassifier")
    >>> typical, heavy = ask_model(model, [{}, {"flipper_length_mm": 220}])
    >>> typical.action, heavy.action
    ('Adelie', 'Gentoo')
    >>> print(typical.change)
    Chinstrap with bill_length_mm = 43.34
    """
    if isinstance(model, str | os.PathLike):
        model = load(model)
    if not isinstance(model, AskableModel):
        model = AskableModel(model)
    answers = []
    for cells in rows:
        record = model.record(cells)
        X, schema = model.records.coder.cells(record)
        decision = model.decide_cells(X, schema, loss, doubt)
        explanation = model.explain_cells(X, schema)
        smallest = None
        if change and model.fitted.classes is not None:
            action = action_of(decision)
            smallest = ChangeSearch(model, X, schema, action, loss, doubt).find()
        warnings = model.warnings(X[0].tolist())
        answers.append(ModelAnswer(record, decision, warnings, explanation, smallest))
    return answers
