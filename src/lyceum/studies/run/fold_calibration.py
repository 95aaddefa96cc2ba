"""Posteriors calibrated inside the folds: by which map is chosen on inner folds only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.types import Estimator
from lyceum.decision import CalibratedClassifierCV, PosteriorMap
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.run.settings_search import SettingsSearch
from lyceum.studies.run.store import TaskResult


def choose_map(search: SettingsSearch, rule: LossRule) -> PosteriorMap | None:
    """The map with the lowest loss on the inner folds, each mapped by what the others teach.

    The loss is that by which settings are chosen: the costs, or without costs the log loss. None
    where no map is better than none by a standard error of the difference, and where there are
    fewer than two inner folds.
    """
    y = search.y
    predicted = search.predicted
    folds = search.folds
    if (
        y is None
        or predicted is None
        or folds is None
        or predicted.ndim != 2
        or folds.max(initial=0) < 1
    ):
        return None
    w = row_weights(search.w, len(y))
    before = rule.inner_losses(y, predicted)
    best = None
    most = 0.0
    for method in PosteriorMap.OF_POSTERIORS:
        mapped = np.zeros_like(predicted)
        for fold in np.unique(folds):
            tested = folds == fold
            others = ~tested
            learned = PosteriorMap.fit(method, y[others], predicted[others], w[others])
            mapped[tested] = learned(predicted[tested])
        gain = before - rule.inner_losses(y, mapped)
        # the standard error of the weighted mean gain is √(Σ w² (gain − mean)²) / Σ w
        mean = float(np.average(gain, weights=w))
        error = float(np.sqrt((w**2) @ (gain - mean) ** 2) / w.sum())
        if mean > max(error, most):
            best = method
            most = mean
    if best is None:
        return None
    return PosteriorMap.fit(best, y, predicted, w)


def usual_calibration(results: Iterable[TaskResult]) -> str:
    """The map chosen in most of the folds; empty for none, also where it is as frequent."""
    counts = Counter(result.calibration for result in results if not result.failed)
    most = max(counts.values(), default=0)
    if counts.get("", 0) == most:
        return ""
    return next(name for name in PosteriorMap.OF_POSTERIORS if counts[name] == most)


def calibrated_model(
    model: Estimator, method: str | PosteriorMap | None, seed: int
) -> Any:
    """The model with its posteriors calibrated, itself without a method."""
    if method:
        # one model to explain, save and export
        return CalibratedClassifierCV(
            model, method, cv=3, ensemble=False, random_state=seed
        )
    return model
