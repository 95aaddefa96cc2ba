"""A model card: what a model is for, how well it does and where it ends, in Markdown.

The front matter and the headings are those of skops' and Hugging Face's cards.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lyceum._core.base import pipeline_steps
from lyceum._core.files import write_file
from lyceum._core.text import plain, show_count
from lyceum.studies.report.format import loss_text, percent_cell, score_text
from lyceum.workflows import TrainingProfile

if TYPE_CHECKING:
    from lyceum.studies.result import Study

_FRONT = """---
library_name: lyceum
tags:
- lyceum
- tabular-{task}
model_file: model.lyceum
---
"""
_START = """# How to Get Started with the Model

```python
import lyceum

model = lyceum.load("model.lyceum")
lyceum.decide(model, {...})  # a dict of the columns above
```
"""


def write_card(study: Study, path: str | os.PathLike[str], force: bool = False) -> Path:
    """Write the card of a study's model: data, error with its interval, calibration, columns and
    limits.

    Parameters
    ----------
    study : Study
    path : path
        A Markdown file, e.g. README.md.
    force : bool, default=False
        Whether an existing file is replaced.

    Returns
    -------
    Path

    See Also
    --------
    write_report : The whole report.

    Examples
    --------
    >>> import os, tempfile
    >>> from lyceum import datasets
    >>> from lyceum.studies import study, write_card
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = datasets.path("weather")
    ...     result = study(path, "play", learners=["NaiveBayes"], out=os.path.join(folder, "study"))
    ...     card = write_card(result, os.path.join(folder, "README.md")).read_text()
    >>> [line for line in card.splitlines() if line.startswith("## ")][:2]
    ['## Intended uses & limitations', '## Training Procedure']
    """
    path = Path(path)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: choose another name, or force=True")
    write_file(path, card_text(study).encode())
    return path


def card_text(study: Study) -> str:
    """The card as Markdown."""
    lines = [
        _FRONT.format(task=study.task),
        "# Model description",
        "",
        _cell(study.answer),
        "",
        _cell(study.choice_sentence),
        "",
        "## Intended uses & limitations",
        "",
        *_limits(study),
        "",
        "## Training Procedure",
        "",
        *_data(study),
        "",
        "### Hyperparameters",
        "",
        *_table(("Hyperparameter", "Value"), _settings(study)),
        "",
        "## Evaluation Results",
        "",
        *_table(("Metric", "Value", "95 % interval"), _results(study)),
        "",
        *_classes(study),
        "# Columns",
        "",
        *_table(("Column", "Kind", "Values", "Missing"), _columns(study)),
        "",
        _START,
    ]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    """Text that stays in its cell, and is no markup."""
    text = " ".join(str(value).split())
    for mark in "\\|`*_<>[]#":
        text = text.replace(mark, f"\\{mark}")
    return text


def _table(heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    return lines + [f"| {' | '.join(map(_cell, row))} |" for row in rows]


def _limits(study: Study) -> Iterator[str]:
    yield (
        f"It predicts {_cell(study.recipe.target)} of rows like those of the table it was fitted"
        " on; for others its error is unknown. Cells outside the ranges below, and categories that"
        " are not listed, are answered with a warning by `lyceum serve`."
    )
    for sentence in (*study.notes, *study.problems):
        yield ""
        yield f"- {_cell(sentence)}"


def _data(study: Study) -> Iterator[str]:
    names = ", ".join(Path(path).name for path in study.recipe.data)
    rows = show_count(study.n_rows, "row")
    yield f"Data: {_cell(names)}, {rows}, {show_count(len(study.schema), 'column')}."
    folds = show_count(study.comparison.n_folds, "fold")
    tested = f"{study.comparison.n_rows:,}"
    yield f"Errors are of {tested} rows in {folds}, by models that had not seen them."
    yield f"Preparation: {', '.join(type(s).__name__ for s in _steps(study)[:-1]) or 'none'}."
    versions = ", ".join(
        f"{name} {version}" for name, version in study.versions.items()
    )
    yield f"Versions: {_cell(versions)}."


def _steps(study: Study) -> list[Any]:
    model = study.loaded_model
    return pipeline_steps(getattr(model, "estimator_", model))


def _settings(study: Study) -> Iterator[tuple[Any, ...]]:
    learner = _steps(study)[-1]
    yield "learner", type(learner).__name__
    for name, value in sorted(learner.get_params(deep=False).items()):
        yield name, plain(value) if not hasattr(value, "fit") else type(value).__name__


def _results(study: Study) -> Iterator[tuple[str, str, str]]:
    choice = study.choice
    criterion = study.comparison.criterion

    def amount(value: float) -> str:
        return loss_text(criterion, value)

    ends = " to ".join(map(amount, choice.interval))
    yield criterion, amount(choice.loss), ends
    held_out = study.comparison.holdout
    if held_out is not None:
        ends = " to ".join(map(amount, held_out.interval))
        yield f"{criterion}, rows held out", amount(held_out.loss), ends
    baseline = study.comparison.baseline
    if baseline is not None:
        ends = " to ".join(map(amount, baseline.interval))
        yield f"{criterion} of a constant guess", amount(baseline.loss), ends
    if choice.error is not None and choice.error_interval is not None:
        ends = " to ".join(map(percent_cell, choice.error_interval))
        yield "error of the decisions", percent_cell(choice.error), ends
    for name in ("log_loss", "auc", "brier", "r2"):
        value = getattr(choice, name)
        if value is not None:
            yield name, score_text(value), ""
    if choice.calibration_error is not None:
        error = percent_cell(choice.calibration_error)
        yield "expected calibration error", error, ""


def _classes(study: Study) -> list[str]:
    rates = study.class_rates
    if not rates:
        return []
    rows = []
    for rate in rates:
        shares = [
            "–" if share is None else percent_cell(share)
            for share in (rate.precision, rate.recall)
        ]
        rows.append((rate.label, *shares))
    return [*_table(("Class", "Precision", "Recall"), rows), ""]


def _columns(study: Study) -> Iterator[tuple[str, str, str, str]]:
    profile = TrainingProfile.of_model(study.loaded_model)
    for column in study.schema:
        values = ""
        if column.categories is not None and not column.is_free_text:
            labels = list(map(str, column.categories.tolist()))
            values = ", ".join(labels[:12]) + (", ..." if len(labels) > 12 else "")
        elif profile is not None and column.name in profile.quantiles:
            low, high = profile.range(column.name) or (float("nan"), float("nan"))
            values = f"{low:g} to {high:g}"
        missing = ""
        if profile is not None and profile.n_rows:
            missing = percent_cell(
                profile.missing.get(column.name, 0.0) / profile.n_rows
            )
        yield column.name, column.kind, values, missing
