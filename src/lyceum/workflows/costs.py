"""Other costs for a fitted model: its operating point, without a second fit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from lyceum.decision import (
    LossMatrix,
    MinimumRiskClassifier,
    complete_loss,
    read_loss,
)
from lyceum.errors import SettingError
from lyceum.persist import load, save
from lyceum.workflows.fitted_model import FittedModel

_REJECT = "reject"


def set_costs(
    model: Any,
    loss: LossMatrix | Mapping[tuple[Any, Any], float] | str | None = None,
    doubt: float | None = None,
    *,
    priors: Mapping[str, float] | None = None,
    trained: Mapping[str, float] | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> MinimumRiskClassifier:
    """A fitted classifier that decides by other costs, another doubt and other class shares.

    Where the classes have the shares π' instead of the π of training, posteriors are proportional
    to P(k|x) π'_k / π_k. The action of least risk under them is that under P and the costs
    λ[k, a] π'_k / π_k, with doubt as one more action that costs θ π'_k / π_k.

    Parameters
    ----------
    model : fitted classifier, or path of its model file
        Costs that it has already are replaced.
    loss : LossMatrix, dict of (true class, action) to cost, or text as for `--loss`, optional
        Pairs that are not given cost 1; None is the 0/1 loss.
    doubt : float, optional
        The cost of rejecting a row; None never rejects.
    priors : dict of class to share, optional
        The shares of the classes where the model is used.
    trained : dict of class to share, optional
        Those of the rows that it learned from; needed with `priors`.
    out : path, optional
        The model file to write.
    force : bool, default=False
        Whether a file of that name is replaced.

    Returns
    -------
    MinimumRiskClassifier

    See Also
    --------
    lyceum.decision.minimum_risk : The rule.
    lyceum.transfer.PriorShift : Finds the new shares from unlabeled rows.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> model = NaiveBayes().fit(datasets.load("weather"))
    >>> careful = set_costs(model, {("no", "yes"): 9.0}, doubt=0.5)
    >>> careful.decide(("overcast", "mild", "high", True)).action
    'reject'
    """
    given = model
    if isinstance(model, str | os.PathLike):
        given = load(model)
    if isinstance(given, MinimumRiskClassifier):
        given = given.estimator_
    classes = FittedModel(given).classes
    if classes is None:
        raise SettingError(
            "only a classifier decides by costs: this model has no classes"
        )
    labels = classes.tolist()
    matrix = LossMatrix.zero_one(labels)
    if loss is not None:
        costs = read_loss(loss) if isinstance(loss, str) else loss
        matrix = complete_loss(costs, labels)[0]
    if priors is not None:
        matrix = _shifted(
            matrix, doubt, _shares(priors, labels), _shares(trained, labels)
        )
        doubt = None
    made = MinimumRiskClassifier.of_fitted(given, matrix, doubt)
    if out is not None:
        save(made, out, force=force)
    return made


def _shares(shares: Mapping[str, float] | None, labels: list[Any]) -> np.ndarray:
    """The shares in the order of the classes, as parts of 1."""
    if shares is None or {*shares} != {str(label) for label in labels}:
        listed = ", ".join(str(label) for label in labels)
        raise SettingError(
            f"give the share of every class ({listed}), where it is used and in training"
        )
    values = np.array([shares[str(label)] for label in labels], dtype=np.float64)
    if not (values > 0).all():
        raise SettingError("the share of a class is above 0")
    return values / values.sum()


def _shifted(
    loss: LossMatrix, doubt: float | None, new: np.ndarray, old: np.ndarray
) -> LossMatrix:
    ratio = new / old
    values = loss.values * ratio[:, None]
    actions = list(loss.actions or loss.classes or ())
    if doubt is not None:
        values = np.column_stack([values, doubt * ratio])
        actions.append(_REJECT)
    return LossMatrix(values, classes=list(loss.classes or ()), actions=actions)
