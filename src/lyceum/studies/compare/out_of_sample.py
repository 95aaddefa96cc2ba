"""The out-of-sample predictions of a learner."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class OutOfSample:
    """Predictions for rows that the learner had not seen, ordered by repeat, then by row.

    Unpacks to truth and predictions: `y, proba = study.out_of_sample(name)`.

    Attributes
    ----------
    rows : array of shape (m,)
        Row numbers in the data; with several repeats a row occurs once per repeat.
    repeats, folds : array of shape (m,)
        The repeat and the fold in which the row was tested, from 0.
    y : array of shape (m,)
        True class codes into `Study.classes`, or true values.
    predicted : array of shape (m, K) or (m,)
        Posteriors, or predicted values.
    weight : array of shape (m,) or None
        The weights of the rows, where there are some.
    groups : array of shape (m,) or None
        Codes of the groups of the recipe's `group`: rows of one group are alike, and count as one.

    See Also
    --------
    Study.out_of_sample : That of one learner.
    lyceum.evaluate : Metrics, curves and tests of such predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.studies import OutOfSample
    >>> sample = OutOfSample(
    ...     rows=np.arange(4), repeats=np.zeros(4, int), folds=np.array([0, 1, 0, 1]),
    ...     y=np.array([1.0, 2.0, 3.0, 4.0]), predicted=np.array([1.0, 3.0, 2.0, 4.0]), weight=None)
    >>> y, predicted = sample
    >>> float(np.mean((y - predicted) ** 2))
    0.5
    """

    rows: np.ndarray
    repeats: np.ndarray
    folds: np.ndarray
    y: np.ndarray
    predicted: np.ndarray
    weight: np.ndarray | None
    groups: np.ndarray | None = None

    def take(self, which: np.ndarray) -> OutOfSample:
        """The predictions at some indices, or where a mask is true.

        Parameters
        ----------
        which : array of int or bool
        """
        columns: dict[str, Any] = {}
        for field in fields(OutOfSample):
            values = getattr(self, field.name)
            columns[field.name] = None if values is None else values[which]
        return OutOfSample(**columns)

    def __iter__(self):
        return iter((self.y, self.predicted))
