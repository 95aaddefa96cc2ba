"""The answers of the members of an ensemble: posteriors, class codes and numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lyceum.ensemble.members.data import MemberData
from lyceum.errors import DataError


def posteriors(member: Any, classes: np.ndarray, ask: Callable[..., np.ndarray]) -> np.ndarray:
    """A member's posteriors, a column for every class of the ensemble; its votes where it has
    none."""
    if not hasattr(member, "predict_proba"):
        return one_hot(vote_codes(member, classes, ask), len(classes))
    given = ask(member.predict_proba)
    if len(member.classes_) == len(classes):
        return given
    proba = np.zeros((len(given), len(classes)))
    proba[:, np.searchsorted(classes, member.classes_)] = given
    return proba


def member_answers(member: Any, data: MemberData) -> np.ndarray:
    """The numbers that a member predicts, (n,)."""
    return np.ravel(data.ask(member.predict)).astype(np.float64)


def vote_codes(member: Any, classes: np.ndarray, ask: Callable[..., np.ndarray]) -> np.ndarray:
    """The class that a member predicts, as its place among the classes of the ensemble."""
    labels = ask(member.predict)
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    if (classes[codes] != labels).any():
        raise DataError(f"{type(member).__name__} predicted a label that is no class of its target")
    return codes


def one_hot(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """One column per class, 1 for the row's own class."""
    votes = np.zeros((len(codes), n_classes))
    votes[np.arange(len(codes)), codes] = 1.0
    return votes
