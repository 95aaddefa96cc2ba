"""Losses as people type them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from lyceum._core.probability import LossMatrix
from lyceum.errors import DataError


def read_loss(text: str) -> LossMatrix | dict[tuple[Any, Any], float]:
    """A loss matrix from a CSV or TOML file, or costs typed as "true:action=cost,...".

    Parameters
    ----------
    text : str
        The path of a file, or pairs (true class, action) with their costs.

    Returns
    -------
    LossMatrix, or dict of (true class, action) to cost

    See Also
    --------
    complete_loss : The matrix of such pairs, the others as 0 and 1.

    Examples
    --------
    >>> read_loss("bad:good=5,good:bad=1")
    {('bad', 'good'): 5.0, ('good', 'bad'): 1.0}
    """
    if "=" not in text or os.path.exists(text):
        return LossMatrix.read(text)
    costs: dict[tuple[Any, Any], float] = {}
    for part in text.split(","):
        pair, _, cost = part.rpartition("=")
        true, _, action = map(str.strip, pair.partition(":"))
        try:
            if not (true and action):
                raise ValueError
            costs[true, action] = float(cost)
        except ValueError:
            raise DataError(
                f"cannot read the loss {part!r}: write true:action=cost, e.g."
                " bad:good=5,good:bad=1, or give a CSV file with actions in the first row and true"
                " classes in the first column"
            ) from None
    return costs


def complete_loss(
    costs: LossMatrix | Mapping[tuple[Any, Any], float], classes: Iterable[Any]
) -> tuple[LossMatrix, str]:
    """The loss matrix of some costs for these classes, and a sentence on what was filled in.

    Parameters
    ----------
    costs : LossMatrix, or dict of (true class, action) to cost
        As `read_loss` gives them. A matrix is returned as it is.
    classes : labels
        The classes of the target.

    Returns
    -------
    (LossMatrix, str)
        Pairs that are not given cost 0 where the action names the true class, else 1; the sentence
        is empty where all are given.

    Examples
    --------
    >>> loss, note = complete_loss({("bad", "good"): 5.0}, ["bad", "good"])
    >>> loss.values.tolist(), note
    ([[0.0, 5.0], [1.0, 0.0]], 'Not given in the loss, so taken as 1: good:bad.')
    """
    labels = list(classes)
    if isinstance(costs, LossMatrix):
        return costs, ""
    names = [str(label) for label in labels]
    for true, action in costs:
        for label, is_class in ((str(true), True), (str(action), False)):
            if label in names:
                continue
            near = difflib.get_close_matches(label, names, 1)
            if not near and not is_class:
                continue  # an action of its own, such as asking a person
            hint = f"the classes are {', '.join(map(repr, names))}"
            if near:
                hint = f"did you mean {near[0]!r}?"
            raise DataError(
                f"the loss names {label!r}, which is no class of the target: {hint}"
            )
    loss = LossMatrix.from_costs(costs, labels, default=1.0)
    typed = {(str(true), str(action)) for true, action in costs}
    filled = [
        f"{true}:{action}"
        for true in labels
        for action in loss.actions or labels
        if str(true) != str(action) and (str(true), str(action)) not in typed
    ]
    if not filled:
        return loss, ""
    listed = ", ".join(filled[:6])
    if len(filled) > 6:
        listed += f" and {len(filled) - 6} more"
    return loss, f"Not given in the loss, so taken as 1: {listed}."
