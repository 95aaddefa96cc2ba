"""The log-likelihood of rows under a fitted density, or of rows and classes under a generative
classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.base import target_of
from lyceum._core.data import Rows, other_target, refuse_beside_rows
from lyceum._core.text import show_count
from lyceum._core.types import Data, Estimator, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.label_codes import column_of, known_codes, weights_of


def joint_log_likelihood(
    model: Estimator,
    X: Data,
    y: Target = None,
    *,
    sample_weight: Weights = None,
) -> float:
    """ln L of rows and their classes, Σ_i w_i ln p(x_i, y_i), or of rows alone, Σ_i w_i ln p(x_i).

    Parameters
    ----------
    model : fitted model
        A classifier with `predict_joint_log_proba` (discriminants and naive Bayes, also those of
        scikit-learn), or a density or mixture with `score_samples`.
    X : array-like or frame of n rows, or scanned rows
        The rows.
    y : array-like of shape (n,), optional
        The classes of the rows, for a classifier; scanned rows carry their own.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        -inf if some row has density 0 under the model.

    See Also
    --------
    degrees_of_freedom : The number of parameters that goes with it.
    information_criteria : AIC and BIC from both.

    Examples
    --------
    >>> from lyceum.bayes import LinearDiscriminantAnalysis
    >>> X, y = np.array([[0.0], [2.0], [4.0], [6.0]]), [0, 0, 1, 1]
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> round(joint_log_likelihood(model, X, y), 4)
    -8.4483
    """
    if hasattr(model, "predict_joint_log_proba"):
        terms = _class_terms(model, X, y)
    elif hasattr(model, "score_samples"):
        if y is not None:
            raise SettingError(
                f"{type(model).__name__} is a density of X alone: leave y out"
            )
        terms = np.asarray(model.score_samples(X), dtype=np.float64)
    else:
        raise SettingError(
            f"{type(model).__name__} has no density of X: give a classifier with"
            " predict_joint_log_proba or a density; log_loss measures posteriors"
        )
    w = weights_of(sample_weight, len(terms))
    if w is None:
        return float(terms.sum())
    # rows of weight 0 are left out: 0 times an infinite term would be NaN
    return float((w * terms)[w > 0.0].sum())


def _class_terms(
    model: Estimator,
    X: Any,
    y: Any,
) -> np.ndarray:
    """ln p(x_i, y_i) of every row."""
    if y is None and not isinstance(X, Rows):
        raise DataError("give y, the classes of the rows")
    if isinstance(X, Rows):
        refuse_beside_rows(other_target(X, y))
    # scanned rows carry their classes
    labels = column_of(target_of(X) if y is None else y, "y")
    joint = np.asarray(model.predict_joint_log_proba(X), dtype=np.float64)
    if len(labels) != len(joint):
        raise DataError(f"X has {show_count(len(joint), 'row')}, y has {len(labels)}")
    # the column of `joint` that belongs to every row's class
    present, codes = np.unique(labels, return_inverse=True)
    classes = np.asarray(model.classes_).tolist()
    columns = known_codes(present.tolist(), codes, classes)
    if (columns < 0).any():
        raise DataError(
            f"y has the class {labels[columns < 0][0]!r}, which the model does not know"
        )
    return joint[np.arange(len(joint)), columns]
