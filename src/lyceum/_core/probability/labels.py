"""Labels of classes and actions: plain values, matched also when one side was read from a file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lyceum._core.text import show_count
from lyceum._core.types import Target
from lyceum.errors import DataError


def unique_labels(labels: Any, what: str) -> tuple[Any, ...]:
    """Labels as a tuple of plain values; raises when one appears twice."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        is_text = isinstance(labels, str | bytes)
        raise DataError(
            f"{what} is {'the text ' if is_text else ''}{labels!r}: give a list of labels"
        )
    plain = tuple(
        label.item() if isinstance(label, np.generic) else label for label in labels
    )
    seen: set[str] = set()
    for label in plain:
        if label != label:
            raise DataError(
                f"{what} has the label {label!r}, which equals nothing: name it by a text"
            )
        if label_key(label) in seen:
            raise DataError(
                f"{what} has the label {label!r} twice: name every one once"
            )
        seen.add(label_key(label))
    return plain


def label_key(label: object) -> str:
    """The text that equal labels have in common: 1, 1.0 and "1" are equal, and so are True and
    "true".

    Parameters
    ----------
    label : any

    Examples
    --------
    >>> label_key(1.0), label_key("1"), label_key(True)
    ('1', '1', 'true')
    """
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    text = str(label)
    if text in ("True", "False"):
        return text.lower()
    return text


def find_labels(wanted: Sequence[Any], among: Sequence[Any], what: str) -> list[int]:
    """The position of every wanted label among others; raises on the first that is missing.

    Parameters
    ----------
    wanted, among : sequences of labels
    what : str
        The start of the error message: "the action".

    Examples
    --------
    >>> find_labels(["b", "a"], ["a", "b", "c"], "the action")
    [1, 0]
    """
    indices = {label_key(label): i for i, label in enumerate(among)}
    for label in wanted:
        if label_key(label) not in indices:
            similar = difflib.get_close_matches(label_key(label), indices, n=1)
            hint = f"; did you mean {similar[0]!r}?" if similar else ""
            raise DataError(
                f"{what} {label!r} is not among {', '.join(map(repr, among))}{hint}"
            )
    return [indices[label_key(label)] for label in wanted]


def label_array(labels: Sequence[Any], like: np.ndarray | None = None) -> np.ndarray:
    """An array of labels: of numbers or text if all are, else of objects.

    Parameters
    ----------
    labels : sequence of labels
    like : array, optional
        The array takes its type from this one if the labels fit.

    Examples
    --------
    >>> label_array(["a", 1]).dtype, label_array([1, 2]).dtype.kind
    (dtype('O'), 'i')
    """
    # NumPy would turn mixed labels into text
    kinds = {_kind(label) for label in labels}
    uniform = len(kinds) == 1 and kinds <= {"text", "number", "bool"}
    array = np.array(labels, dtype=None if uniform else object)
    if like is None or (array.dtype.kind == "U" and like.dtype.kind == "U"):
        return array
    if like.dtype == object or array.dtype == object:
        return array.astype(object)
    same_kind = array.dtype.kind == like.dtype.kind or (
        array.dtype.kind in "iuf" and like.dtype.kind in "iuf"
    )
    # only if no label changes, as 0.5 would among integers
    if same_kind:
        cast = array.astype(like.dtype)
        if (cast == array).all():
            return cast
    return array


def _kind(label: object) -> str:
    if isinstance(label, bool | np.bool_):
        return "bool"
    if isinstance(label, int | float | np.number):
        return "number"
    if isinstance(label, str):
        return "text"
    return "other"


def class_codes(y: Target, n_classes: int, classes: Sequence[Any] | None) -> np.ndarray:
    """The column of every true label among `n_classes` columns, as intp.

    Parameters
    ----------
    y : array of shape (n,)
        The true labels.
    n_classes : int
    classes : sequence of labels or None
        The classes of the columns. None: the distinct labels of y in sorted order, if there are as
        many; whole numbers from 0 to K - 1 are the columns themselves.

    Examples
    --------
    >>> class_codes(["b", "a", "b"], 2, ["b", "a"]).tolist()
    [0, 1, 0]
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise DataError(f"y has the shape {y.shape}: give one true label per row")
    if classes is not None and len(classes) != n_classes:
        raise DataError(
            f"there are {len(classes)} classes, but the probabilities have"
            f" {show_count(n_classes, 'column')}"
        )
    # the fast way: whole numbers from 0 to K - 1, whose columns have these names or none
    names = [str(k) for k in range(n_classes)]
    if (
        (classes is None or list(map(label_key, classes)) == names)
        and y.dtype.kind in "iub"
        and y.size
        and int(y.min()) >= 0
        and int(y.max()) < n_classes
    ):
        return y.astype(np.intp, copy=False)
    labels, codes = np.unique(y, return_inverse=True)
    if classes is not None:
        what = "y has a label that is no class:"
        indices = find_labels(labels.tolist(), classes, what)
        return np.array(indices, dtype=np.intp)[codes]
    if len(labels) == n_classes:
        return codes
    raise DataError(
        f"y has {len(labels)} distinct labels, but the probabilities have "
        f"{show_count(n_classes, 'column')}: say which column is which class with classes=[...]"
    )
