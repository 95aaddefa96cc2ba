"""One learner fitted on a file."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from sklearn.pipeline import make_pipeline

from lyceum import catalog
from lyceum._core.constraints import InvalidParameterError
from lyceum._core.data import FileFormat, scan
from lyceum._core.files import spool
from lyceum._core.types import Data
from lyceum.errors import LyceumError
from lyceum.workflows.profile import keep_profile


def fit_file(
    data: Data,
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
    model = entry.build()
    # checked here for a sentence that names what there is
    parameters = sorted(model.get_params(deep=False))
    for name in settings or {}:
        if name not in parameters:
            hint = f"it has {', '.join(parameters)}"
            if near := difflib.get_close_matches(name, parameters, 1):
                hint = f"did you mean {near[0]!r}?"
            raise LyceumError(f"{learner} has no setting {name!r}: {hint}")
    model.set_params(**(settings or {}))
    options = (file_format or FileFormat()).options()
    with spool(data) as source:
        rows = scan(
            source, target, weight=weight, kinds=kinds, ignore=ignore, **options
        )
        # cells may be missing after the fit, even if none is in it
        sparse_text = entry.takes_sparse_text(rows.schema)
        names = entry.preparations(rows.schema)
        if names:
            steps = [catalog.find(name).build(sparse_text) for name in names]
            model = make_pipeline(*steps, model)
        try:
            model.fit(rows)
        except InvalidParameterError as error:
            raise LyceumError(str(error)) from error
        keep_profile(model, rows)
        return model
