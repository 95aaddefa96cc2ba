"""Write a fitted model as a file of another language, checked before it is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyceum._core.base import decide
from lyceum._core.files import write_file
from lyceum._core.packages import EXTRAS, check_installed
from lyceum._core.report import Shown
from lyceum._core.types import Estimator
from lyceum.errors import ExportError
from lyceum.export.c_code import write_c
from lyceum.export.program import (
    Program,
    answers_to,
    hangs_on_rounding,
    largest_difference,
    sample_records,
)
from lyceum.export.sql_code import sql_answers, write_sql
from lyceum.export.writers import (
    write_javascript,
    write_javascript_types,
    write_python,
)
from lyceum.workflows import TrainingProfile

# of probabilities, and of values over their size: sums in another order
LARGEST_DIFFERENCE = 1e-9

_WRITERS: dict[str, Callable[[Program], str]] = {
    ".js": write_javascript,
    ".mjs": write_javascript,
    ".py": write_python,
    ".c": write_c,
    ".sql": write_sql,
}
ENDINGS = (*_WRITERS, ".onnx")


@dataclass(frozen=True, slots=True)
class Exported(Shown):
    """What was written, and how far it is from the model.

    Attributes
    ----------
    paths : tuple of Path
        The file, and the file of its types beside it if there is one.
    program : Program
        What it computes.
    n_records : int
        How many drawn records both answered.
    difference : float
        The largest difference of a probability, or of a value over its size.

    See Also
    --------
    export_model : Makes it.

    Examples
    --------
    >>> import tempfile
    >>> from lyceum import datasets
    >>> from lyceum.export import export_model
    >>> from lyceum.trees import C45
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = export_model(C45().fit(datasets.load("weather")), f"{folder}/play.js")
    >>> [path.name for path in done.paths], done.difference < 1e-12
    (['play.js', 'play.d.ts'], True)
    """

    paths: tuple[Path, ...]
    program: Program
    n_records: int
    difference: float

    def as_dict(self) -> dict[str, Any]:
        """Everything but the program, in JSON's own types."""
        return {
            "paths": [str(path) for path in self.paths],
            "learner": self.program.name,
            "target": self.program.target,
            "records": self.n_records,
            "difference": self.difference,
        }


def export_model(
    model: Estimator, path: str | os.PathLike[str], *, force: bool = False
) -> Exported:
    """Write a fitted model as a program of another language that needs no package.

    The model and the program first answer some drawn records, with missing and unknown cells among
    them; nothing is written if they differ. ONNX files are asked in onnxruntime, queries in SQLite.

    Parameters
    ----------
    model : learner, pipeline or MinimumRiskClassifier
        Fitted on a table or a scan; the answer of k-means and mixtures is the number of a cluster.
    path : path
        Its ending says the language: `.js` or `.mjs` (a module for browsers and Node, with a
        `.d.ts` beside it), `.py`, `.c`, `.sql`, or `.onnx` (a graph in doubles; needs the extra
        `onnx`).
    force : bool, default=False
        Whether existing files are replaced.

    Returns
    -------
    Exported

    Raises
    ------
    ExportError
        If a part of the model cannot be exported, or the answers differ.

    See Also
    --------
    lyceum.save : The model itself, for Python.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.export import export_model
    >>> model = NaiveBayes().fit(datasets.load("weather"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = export_model(model, f"{folder}/play.py")
    ...     program = {}
    ...     exec(Path(folder, "play.py").read_text(), program)
    >>> record = {"outlook": "sunny", "temperature": "hot", "humidity": "high", "windy": True}
    >>> program["decide"](record)["predicted"]
    'no'
    """
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise ExportError(
            f"{path} ends in {path.suffix or 'nothing'}: give one of {', '.join(ENDINGS)}"
        )
    if path.suffix == ".onnx":
        check_installed("an ONNX file", *EXTRAS["onnx"])
    program = Program.of(model)
    contents = _contents(program, path)
    for each in contents:
        if each.exists() and not force:
            raise FileExistsError(f"{each} exists: choose another name, or force=True")
    profile = TrainingProfile.of_model(model)
    quantiles = None if profile is None else profile.quantiles
    records = sample_records(program, quantiles)
    difference = _check(model, program, records, contents[path], path.suffix)
    for each, data in contents.items():
        write_file(each, data)
    return Exported(tuple(contents), program, len(records), difference)


def _contents(program: Program, path: Path) -> dict[Path, bytes]:
    """What is written to which file."""
    if path.suffix == ".onnx":
        from lyceum.export.onnx_file import write_onnx  # needs an extra

        return {path: write_onnx(program)}
    writer = _WRITERS[path.suffix]
    contents = {path: writer(program).encode()}
    if writer is write_javascript:
        contents[path.with_suffix(".d.ts")] = write_javascript_types(program).encode()
    return contents


def _check(
    model: Estimator,
    program: Program,
    records: list[dict[str, Any]],
    data: bytes,
    ending: str,
) -> float:
    """The largest difference from the model of the program, and of the ONNX file or the query at
    work."""
    records = [record for record in records if not hangs_on_rounding(program, record)]
    theirs = answers_to(lambda record: _answer(model, record), records)
    difference = largest_difference(answers_to(program.decide, records), theirs)
    if ending == ".onnx":
        from lyceum.export.onnx_file import onnx_answers

        ours = onnx_answers(data, program, records)
        difference = max(difference, largest_difference(ours, theirs))
    if ending == ".sql":
        query = data.decode()
        # SQLite takes seconds for a row of a large forest
        n = 1 if "RECURSIVE" in query else len(records)
        answers = sql_answers(query, program, records[:n])
        if answers is not None:
            difference = max(difference, largest_difference(answers, theirs[:n]))
    if not difference <= LARGEST_DIFFERENCE:
        raise ExportError(
            f"the exported {program.name} would differ from the model by {difference:.3g}: please"
            " report this"
        )
    return difference


def _answer(model: Estimator, record: dict[str, Any]) -> dict[str, Any]:
    """The answer of the model itself, as a program gives it."""
    decision = decide(model, record)
    answer = {"predicted": decision.predicted}
    if decision.probabilities is None:
        return answer
    if any(share != share for share in decision.probabilities.values()):
        raise ExportError("the model has no answer")
    return {**answer, "probabilities": decision.probabilities}
