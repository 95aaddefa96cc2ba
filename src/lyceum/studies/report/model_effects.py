"""Importance and effects of the columns for the chosen model, as a study keeps them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lyceum._core.report import Shown
from lyceum._core.text import plain


@dataclass(frozen=True, slots=True)
class ColumnImportance(Shown):
    """How much larger the loss on unseen rows is when a column is shuffled, with its standard
    error.

    Attributes
    ----------
    column : str
        The column.
    increase, standard_error : float
        Of the error rate, mean cost or RMSE, over shuffles.

    See Also
    --------
    ModelEffects : The importances of all columns.
    lyceum.trees.permutation_importance : The same for a fitted learner.

    References
    ----------
    L. Breiman, "Random forests", Machine Learning 45, 2001.

    Examples
    --------
    >>> from lyceum.studies import ColumnImportance
    >>> age = ColumnImportance("age", increase=0.12, standard_error=0.02)
    >>> f"without {age.column} the error rate is larger by {age.increase:.0%}"
    'without age the error rate is larger by 12%'
    """

    column: str
    increase: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class ColumnEffect(Shown):
    """Partial dependence: the mean prediction when all rows have the same value in one column.

    Attributes
    ----------
    column : str
        The column.
    values : tuple
        The values given to it: numbers, or categories.
    outputs : tuple of str
        What is predicted: classes, or the target.
    means : tuple of tuples of float
        For every output the mean posterior or number at every value.

    See Also
    --------
    ModelEffects : The effects of the most important columns.
    PairEffect : The effect of two columns together.

    References
    ----------
    J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29, 2001.

    Examples
    --------
    >>> from lyceum.studies import ColumnEffect
    >>> means = ((0.1, 0.2, 0.5),)
    >>> effect = ColumnEffect("age", values=(20, 40, 60), outputs=("ill",), means=means)
    >>> dict(zip(effect.values, effect.means[0]))
    {20: 0.1, 40: 0.2, 60: 0.5}
    """

    column: str
    values: tuple[Any, ...]
    outputs: tuple[str, ...]
    means: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class PairEffect(Shown):
    """Partial dependence on the two columns that interact most among those with the largest
    importance.

    Attributes
    ----------
    columns : (str, str)
        The columns.
    values : tuple of two tuples
        The values given to each.
    output : str
        What is predicted: a class, or the target.
    means : tuple of tuples of float
        The mean prediction; rows are values of the first column.
    strength : float
        Friedman and Popescu's H²: the share of the variance that no sum of two single effects has.
    outputs, strengths : tuple
        Everything that is followed, and the H² of each; `output` is where the two act on each other
        most.

    See Also
    --------
    ModelEffects.pair : That of a study.
    ColumnEffect : The effect of one column.

    References
    ----------
    J. H. Friedman and B. E. Popescu, "Predictive learning via rule ensembles", Annals of Applied
    Statistics 2, 2008.

    Examples
    --------
    Exclusive or: all of the variance is left when both single effects are subtracted.

    >>> import numpy as np
    >>> from lyceum.studies import PairEffect
    >>> switches, labels = ("left", "right"), ((0, 1), (0, 1))
    >>> pair = PairEffect(switches, labels, "on", means=((0.0, 1.0), (1.0, 0.0)), strength=1.0)
    >>> joint = np.array(pair.means) - np.mean(pair.means)
    >>> rest = joint - joint.mean(axis=0) - joint.mean(axis=1)[:, None]
    >>> bool((rest**2).mean() / (joint**2).mean() == pair.strength)
    True
    """

    columns: tuple[str, str]
    values: tuple[tuple[Any, ...], tuple[Any, ...]]
    output: str
    means: tuple[tuple[float, ...], ...]
    strength: float
    outputs: tuple[str, ...] = ()
    strengths: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelEffects(Shown):
    """Importance and effects of the columns for the choice, fitted on some folds and shown on the
    others.

    Attributes
    ----------
    n_rows, n_models : int
        Unseen rows, and the fitted models that they come from.
    loss : float
        The error rate, mean cost or RMSE of these models on these rows.
    importance : tuple of ColumnImportance
        Largest first.
    effects : tuple of ColumnEffect
        Of the most important columns.
    pair : PairEffect or None
        None with fewer than two columns that matter, and where all effects add up exactly, as in
        a linear model.

    See Also
    --------
    Study.effects : Those of a study.
    ColumnImportance, ColumnEffect, PairEffect : Its parts.

    Examples
    --------
    >>> from lyceum.studies import ColumnImportance, ModelEffects
    >>> age = ColumnImportance("age", increase=0.12, standard_error=0.02)
    >>> effects = ModelEffects(n_rows=300, n_models=2, loss=0.2, importance=(age,), effects=(),
    ...     pair=None)
    >>> effects.importance[0].column, effects.as_dict()["n_rows"]
    ('age', 300)
    """

    n_rows: int
    n_models: int
    loss: float
    importance: tuple[ColumnImportance, ...]
    effects: tuple[ColumnEffect, ...]
    pair: PairEffect | None

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))
