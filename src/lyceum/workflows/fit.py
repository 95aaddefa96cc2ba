"""One learner fitted on a file."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from sklearn.pipeline import make_pipeline

from lyceum import catalog
from lyceum._core.constraints import InvalidParameterError
from lyceum._core.data import FileFormat, Schema, scan
from lyceum.errors import LyceumError
from lyceum.workflows.batches import spool

_SPARSE_WORDS = 5_000  # of a column of text, for learners that take sparse rows


def fit_file(
    data: Any,
    target: str | None,
    learner: str,
    settings: Mapping[str, Any] | None = None,
    *,
    weight: str | None = None,
    kinds: Mapping[str, Any] | None = None,
    ignore: Collection[str] = (),
    file_format: FileFormat | None = None,
) -> Any:
    """Fit a cataloged learner on a file, with what it needs in front of it.

    Dates are taken apart, missing cells are filled if it refuses them, and numbers are standardized
    if a penalty or a distance makes units count. A column of dates that is declared continuous
    stays a number.

    Parameters
    ----------
    data : path, glob, frame, or "-" for CSV from standard input
    target : str or None
        The column to predict; None for learners that predict nothing.
    learner : str
        A name in `lyceum.catalog`.
    settings : dict, optional
        Parameters of the learner.
    weight, kinds, ignore
        As for `lyceum.scan`.
    file_format : FileFormat, optional
        How the file is written; by default that is found out.

    Returns
    -------
    learner or pipeline
        What `lyceum.save` keeps.

    Examples
    --------
    >>> from lyceum import datasets
    >>> model = fit_file(datasets.path("penguins"), "species", "LogisticRegression", {"C": 0.1})
    >>> [type(step).__name__ for _, step in model.steps]
    ['SimpleImputer', 'StandardScaler', 'LogisticRegression']
    """
    entry = catalog.find(learner)
    if entry.task in ("classification", "regression") and target is None:
        raise LyceumError(f"{learner} needs a target: say which column to predict")
    made = _with_settings(entry.load()(), settings or {})
    options = (file_format or FileFormat()).options()
    with spool(data) as source:
        rows = scan(source, target, weight=weight, kinds=kinds, ignore=ignore, **options)
        # cells may be missing after the fit, even if none is in it
        names = list(preparations(entry, rows.schema))
        before = build_preparations(names, takes_sparse_text(entry, rows.schema))
        if before:
            model = make_pipeline(*before, made)
        else:
            model = made
        try:
            return model.fit(rows)
        except InvalidParameterError as error:
            raise LyceumError(str(error)) from error


def preparations(entry: catalog.Entry, schema: Schema, *, missing: bool = True) -> dict[str, str]:
    """The steps that the learner needs in front of it, by name, and why; `missing`: cells may be
    missing.

    Words as sparse rows come last, beside the other columns when those are prepared; dense words
    come first and are prepared as other numbers are.
    """
    sparse = takes_sparse_text(entry, schema)
    others = [column for column in schema if not column.is_free_text]
    if len(others) < len(schema) and not sparse:
        words = {"continuous"}
    else:
        words = set()
    kinds = {column.kind for column in others} | words
    before = {}
    if words:
        before["TextVectorizer"] = (
            "free text is counted word by word, 100 words of each column at most"
        )
    if any(column.is_time for column in others):
        before["DatetimeEncoder"] = (
            "dates are taken apart, as seasons and weekdays may tell something"
        )
        kinds |= {"binary", "categorical"}
    if missing and (not entry.missing or sparse) and (others or words):
        before["SimpleImputer"] = "missing cells are filled, because it cannot take them"
    if entry.needs_scaling and "continuous" in kinds:
        before["StandardScaler"] = "numbers are standardized, because their units would count"
    codes = any(not column.numeric for column in others) or "DatetimeEncoder" in before
    if (sparse and codes) or not kinds <= set(entry.kinds):
        before["OneHotEncoder"] = "categories are written as columns of 0 and 1"
    if sparse:
        before["TextVectorizer"] = (
            "free text is counted word by word, as sparse rows of TF-IDF weights"
        )
    return before


def takes_sparse_text(entry: catalog.Entry, schema: Schema) -> bool:
    """Whether the learner gets the words of free text as sparse rows."""
    return entry.sparse and schema.has_free_text


def build_preparations(names: Collection[str], sparse_text: bool = False) -> list[Any]:
    """New preparations of these names; words are sparse and many, or dense and few.

    Parameters
    ----------
    names : collection of str
        As `preparations` gives them.
    sparse_text : bool, default=False
        Whether the words of free text become sparse rows.

    Examples
    --------
    >>> build_preparations(["TextVectorizer"], True)
    [TextVectorizer(max_features=5000, sparse_output=True)]
    """
    if sparse_text:
        words = {"max_features": _SPARSE_WORDS, "sparse_output": True}
    else:
        words = {}
    return [
        catalog.find(name).load()(**(words if name == "TextVectorizer" else {})) for name in names
    ]


def _with_settings(learner: Any, settings: Mapping[str, Any]) -> Any:
    known = sorted(learner.get_params(deep=False))
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            if near:
                hint = f"did you mean {near[0]!r}?"
            else:
                hint = f"it has {', '.join(known)}"
            raise LyceumError(f"{type(learner).__name__} has no setting {name!r}: {hint}")
    return learner.set_params(**settings)
