"""Several studies side by side: the same learners on several tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lyceum.errors import SettingError
from lyceum.evaluate import RankComparison, compare_ranks
from lyceum.studies.result import Study


def compare_studies(
    studies: Sequence[Study | str | os.PathLike[str]],
    *,
    learners: Sequence[str] | None = None,
    alpha: float = 0.05,
) -> RankComparison:
    """Rank learners over several studies, by their losses on rows that they had not seen.

    Parameters
    ----------
    studies : sequence of Study or path
        Studies with results, two at least; each has its own table and its own loss.
    learners : sequence of str, optional
        The learners; by default those that all studies compared, without the constant guess.
    alpha : float, default=0.05
        The level of the critical difference.

    Returns
    -------
    RankComparison

    See Also
    --------
    lyceum.evaluate.compare_ranks : The tests.
    Study.comparison : The learners of one study, with tests over its folds.

    Examples
    --------
    >>> import tempfile
    >>> import lyceum
    >>> from lyceum.studies import compare_studies
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = [
    ...         lyceum.study(
    ...             lyceum.datasets.path("weather"), target, folds=2, committees=False,
    ...             learners=["NaiveBayes", "KNeighborsClassifier"], out=f"{folder}/{target}")
    ...         for target in ("play", "windy")
    ...     ]
    >>> comparison = compare_studies(made)
    >>> comparison.tables, comparison.learners
    (('play', 'windy'), ('KNeighborsClassifier', 'NaiveBayes'))
    """
    opened = [each if isinstance(each, Study) else Study.open(each) for each in studies]
    if len(opened) < 2:
        raise SettingError(
            "one study ranks its own learners: give two studies at least"
        )
    losses = [
        {ranked.name: ranked.loss for ranked in study.comparison.learners}
        for study in opened
    ]
    guesses = {
        ranked.name
        for study in opened
        for ranked in study.comparison.learners
        if ranked.is_baseline
    }
    common = set.intersection(*(set(each) for each in losses))
    names = sorted(common - guesses) if learners is None else list(learners)
    missing = [name for name in names if name not in common]
    if missing or len(names) < 2:
        shared = ", ".join(sorted(common - guesses)) or "none"
        what = f"{missing[0]!r} is not in all of them" if missing else "two are needed"
        raise SettingError(f"learners that all studies compared: {shared}; {what}")
    values = np.array([[each[name] for name in names] for each in losses])
    tables = [Path(study.folder).name for study in opened]
    return compare_ranks(values, names, tables, alpha=alpha)
