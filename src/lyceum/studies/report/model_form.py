"""The model in the report: a form of one row, and the decision as it changes."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lyceum._core.base import complexity
from lyceum._core.text import plain, show_count
from lyceum.errors import ExportError
from lyceum.export import Program, write_javascript
from lyceum.studies.report.format import capitalize

if TYPE_CHECKING:
    from lyceum.studies.result import Study

# a page of more than a megabyte is slow to send and to open
_MOST_NUMBERS = 50_000
_MOST_BYTES = 1_500_000


@dataclass(frozen=True, slots=True)
class ModelForm:
    """A script with the model, or why there is none.

    Attributes
    ----------
    script : Markup or ""
    begins : str
        Which row the form shows first.
    why_not : str
        A sentence where the model cannot be in the page.
    """

    script: Any = ""
    begins: str = ""
    why_not: str = ""

    @classmethod
    def of(cls, study: Study) -> ModelForm:
        from markupsafe import Markup

        n_numbers = complexity(study.loaded_model)
        if n_numbers > _MOST_NUMBERS:
            numbers = show_count(n_numbers, "number")
            return cls(why_not=f"The model has {numbers}, too many for a page.")
        try:
            program = Program.of(study.loaded_model)
        except ExportError as error:
            return cls(why_not=f"{capitalize(str(error))}.")
        module = write_javascript(program)
        if len(module) > _MOST_BYTES:
            return cls(why_not="The model is too large for a page.")
        begins, start = _first_row(study, program)
        data = _for_script(f"\nconst start = {json.dumps(start)};\n")
        form = files("lyceum.studies").joinpath("templates/try.js")
        script = _for_script(module) + data + form.read_text(encoding="utf-8")
        return cls(Markup(script), begins)


def _for_script(code: str) -> str:
    """Code whose texts cannot end the script, nor hide its end: in a text of JavaScript, \\x3c
    is < (HTML Standard, restrictions for contents of script elements)."""
    return re.sub("<(?=!--|/?script)", r"\\x3c", code, flags=re.IGNORECASE)


def _first_row(study: Study, program: Program) -> tuple[str, dict[str, Any]]:
    """The first example of the report, or a row without cells."""
    begins = "an empty row"
    cells: dict[str, Any] = {}
    if study.examples:
        example = study.examples[0]
        begins = f"row {example.row:,} of the table"
        cells = example.frame().to_pylist()[0]
    start: dict[str, Any] = {}
    for column in program.columns:
        value = plain(cells.get(column["name"]))
        if isinstance(value, float) and not math.isfinite(value):
            value = None
        if column["codes"] is not None and value is not None:
            key = str(value).lower() if isinstance(value, bool) else str(value)
            value = key if key in column["codes"] else key.removesuffix(".0")
        start[column["name"]] = value
    return begins, start
