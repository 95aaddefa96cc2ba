"""One row of the data, explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum.report import Explanation, Table


@dataclass(frozen=True, slots=True, eq=False)
class Example(Shown):
    """A row of the data, the prediction of the final model, and its explanation.

    Attributes
    ----------
    row : int
        Its number in the data.
    cells : dict of column to value
        The cells as numbers and texts; None where missing.
    truth : label or float
        The true target.
    decided : label or float
        The decision of the final model: a class, an action of the loss matrix, "reject", or a
        number.
    posterior : tuple of float, or None
        The posteriors, in the order of `Study.classes`.
    explanation : lyceum.report.Explanation or None
        What every column adds to the prediction; None where the learner does not explain.
    picked : str
        Why it is shown: "clearest right decision", "clearest mistake" or "nearest to the decision
        border", by the expected costs (for regression "largest error", ...).

    See Also
    --------
    Study.examples : Those of a study.
    lyceum.workflows.explain_rows : Explains rows of a file.
    lyceum.report.Explanation : What every column adds.

    Examples
    --------
    >>> from lyceum.studies import Example
    >>> example = Example(
    ...     row=3, cells={"hours": 3.0, "town": "Ulm"}, truth=11.0, decided=10.5, posterior=None,
    ...     explanation=None, picked="largest error")
    >>> example.frame().column_names, example.frame().num_rows
    (['hours', 'town'], 1)
    >>> Example.from_dict(example.as_dict()).decided
    10.5
    """

    row: int
    cells: Mapping[str, Any]
    truth: Any
    decided: Any
    posterior: tuple[float, ...] | None
    explanation: Explanation | None
    picked: str

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types; the explanation as unit, base and contributions by
        column."""
        names = ("row", "picked", "cells", "truth", "decided", "posterior")
        fields = {name: getattr(self, name) for name in names}
        why = self.explanation
        if why is not None:
            columns = map(str, why.names)
            fields["explanation"] = {
                "unit": why.unit,
                "base": why.base[0],
                "predicted": why.predicted[0],
                "contributions": dict(zip(columns, why.contributions[0].tolist())),
            }
        return plain(fields)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Example:
        """The example that `as_dict` made."""
        why = stored.get("explanation")
        posterior = stored.get("posterior")
        explanation = None
        if why is not None:
            contributions = why["contributions"]
            explanation = Explanation(
                list(contributions),
                np.array([list(contributions.values())]),
                np.array([why["base"]]),
                np.array([why["predicted"]]),
                why["unit"],
            )
        return cls(
            row=stored["row"],
            cells=stored["cells"],
            truth=stored["truth"],
            decided=stored["decided"],
            posterior=None if posterior is None else tuple(posterior),
            explanation=explanation,
            picked=stored["picked"],
        )

    def table(self) -> Table:
        """The cells of the row, with what each adds to the prediction where that is known."""
        title = f"Row {self.row}: {self.decided}, in truth {self.truth}; {self.picked}"
        if self.explanation is None:
            return Table(title, ("column", "cell"), list(self.cells.items()))
        adds = self.explanation.contributions[0].tolist()
        lines = [
            (name, self.cells.get(str(name)), value)
            for name, value in zip(self.explanation.names, adds)
        ]
        lines.sort(key=lambda line: -abs(line[2]))
        return Table(
            title, ("column", "cell", f"adds ({self.explanation.unit})"), lines
        )

    def frame(self) -> Any:
        """The row as a pyarrow table of one row, ready for `predict` and `explain`."""
        from lyceum._core.lazy_arrow import pa

        return pa.table({name: [value] for name, value in self.cells.items()})
