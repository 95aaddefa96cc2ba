"""A learner's state while it learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy

from lyceum._core.types import Estimator


@contextmanager
def unchanged_on_failure(learner: Estimator) -> Iterator[None]:
    """Restore the attributes of the learner if the block raises.

    Lists and dicts are restored with their items; arrays must be replaced, not changed in place.

    Parameters
    ----------
    learner : object
        Any object that keeps its state in attributes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> learner = SimpleNamespace(trees_=[1, 2])
    >>> try:
    ...     with unchanged_on_failure(learner):
    ...         learner.trees_.append(3)
    ...         learner.classes_ = "new"
    ...         raise ValueError("refused")
    ... except ValueError:
    ...     print(learner)
    namespace(trees_=[1, 2])
    """
    # lists and dicts may be changed in place by `fit`, other values are replaced
    state = vars(learner)
    before = {
        name: copy(value) if isinstance(value, list | dict) else value
        for name, value in state.items()
    }
    try:
        yield
    except BaseException:
        state.clear()
        state.update(before)
        raise
