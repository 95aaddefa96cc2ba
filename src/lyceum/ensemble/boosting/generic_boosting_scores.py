"""The scores of boosted models on new rows, and what columns add to them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lyceum._core.members import MemberData
from lyceum._core.probability import runner_up
from lyceum._core.threads import ordered_map


def round_scores(model: Any, t: int, data: MemberData) -> np.ndarray:
    """What round t adds to the scores, (n, n_scores)."""
    S = len(model.init_)
    members = model.estimators_[t * S : (t + 1) * S]
    return model.steps_[t] * np.column_stack([data.numbers(member) for member in members])


def scores_of(model: Any, data: MemberData) -> np.ndarray:
    """F, (n, n_scores), summed in the order of the rounds."""
    work = partial(round_scores, model, data=data)
    total = None
    for added in ordered_map(work, range(len(model.steps_))):
        if total is None:
            total = model.init_ + added
        else:
            total = total + added
    if total is None:
        return np.tile(model.init_, (data.n_rows, 1))
    return total


def value(model: Any, data: MemberData) -> np.ndarray:
    return scores_of(model, data)[:, 0]


def class_scores(model: Any, scores: np.ndarray) -> np.ndarray:
    """One column per class; of two classes, the first has 0."""
    if scores.shape[1] > 1:
        return np.array(scores, order="C")
    both = np.column_stack([np.zeros(len(scores)), scores])
    return np.ascontiguousarray(both[:, : len(model.classes_)])


def predicted_labels(model: Any, data: MemberData) -> np.ndarray:
    return model.classes_[class_scores(model, scores_of(model, data)).argmax(axis=1)]


def posterior(model: Any, normalize: Any, data: MemberData) -> np.ndarray:
    joint = class_scores(model, scores_of(model, data))
    normalize(joint)
    return joint


def decision(model: Any, data: MemberData) -> np.ndarray:
    scores = scores_of(model, data)
    if scores.shape[1] == 1:
        return scores[:, 0]
    return scores


def _parts(model: Any, data: MemberData) -> np.ndarray:
    """The base and what every column adds, of every score, (n_scores, n, 1 + d)."""
    names = model.schema_.names
    S = len(model.init_)
    out = np.zeros((S, data.n_rows, 1 + len(names)))
    out[:, :, 0] = model.init_[:, None]
    for i, member in enumerate(model.estimators_):
        part = member.explain(data.inputs(member))
        step = model.steps_[i // S]
        out[i % S, :, 0] += step * part.base
        for name, added in zip(part.names, part.contributions.T):
            out[i % S, :, 1 + names.index(name)] += step * added
    return out


def parts_of_value(model: Any, data: MemberData) -> np.ndarray:
    parts = _parts(model, data)[0]
    return np.column_stack([parts.sum(axis=1), parts])


def parts_of_odds(model: Any, data: MemberData) -> np.ndarray:
    parts = _parts(model, data)
    if len(parts) == 1:
        parts = np.concatenate([np.zeros_like(parts), parts])[: len(model.classes_)]
    best, second = runner_up(parts.sum(axis=2).T)
    rows = np.arange(parts.shape[1])
    return np.column_stack([best, parts[best, rows] - parts[second, rows]])
